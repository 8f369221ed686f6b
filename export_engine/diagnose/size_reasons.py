"""Reasons why a line fixes or bounds a size: a loop, a plain number, pieces, text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TypeGuard

import torch

from export_engine import rules
from export_engine.source import Code, Span, Stack, code_of
from export_engine.traced_sizes import ShapeViolation, name_of

_PLAIN_NUMBERS = frozenset({"len", "int", "float", "round", "str", "range", "hash"})
_OF_NUMBERS = frozenset({"math", "np", "numpy"})
"""Modules whose functions take numbers; the names that they have in nearly all code."""
_INTS = {
    **dict.fromkeys(("linspace", "logspace"), (2, "steps")),
    **dict.fromkeys(("fftfreq", "rfftfreq"), (0, "n")),
    **dict.fromkeys(("tril_indices", "triu_indices"), (0, "row")),
    "one_hot": (1, "num_classes"),
    **dict.fromkeys(
        (f"{name}_window" for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")),
        (0, "window_length"),
    ),
}
"""torch's functions with an `int` in their schema where others have a `SymInt`: which parameter."""
_INTS_ALONE = frozenset(
    {
        *(f"{kind}_pool{dims}d" for kind in ("max", "avg", "lp") for dims in (1, 2, 3)),
        *("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"),
        *("unfold", "fold", "stft", "istft", "pixel_shuffle", "pixel_unshuffle"),
    }
)
"""torch's functions and methods that take only ints after the tensor."""
_INTS_OF_SHAPES = frozenset(
    {"affine_grid", "kron", "multi_dot", "chain_matmul", "take_along_dim", "gradient"}
)
"""torch's functions that compute with the sizes of their tensors as plain ints."""
_FORWARD_MODE = ("jvp", "jacfwd", "linearize")
_OF_PATTERNS = ("einsum", "rearrange", "reduce", "repeat")
"""Functions of torch and einops that take a pattern of axes, which has no sizes."""
_LOGGERS = ("log", "logger", "logging", "warnings")
_BECOMES_ONE = re.compile(r".*[^\d.].* (?:!= 1|> 1)")
"""Why the number of pieces is fixed."""
_WHY = {
    "fixed": rules.ShapesViolated.FIXED_WHY(),
    "zero-one": "",
    "multiple": rules.ShapesViolated.MULTIPLE_WHY(),
    "range": rules.ShapesViolated.RANGE_WHY(),
    "equal": rules.ShapesViolated.EQUAL_WHY(),
    "derived": rules.ShapesViolated.DERIVED_WHY(),
    "tied": rules.ShapesViolated.TIED_WHY(),
}

FOR_OTHERS = ": for other sizes"
"""Begins what happens at any size but a fixed one; at some only, where the model takes one."""


def reason(problem: ShapeViolation, stack: Stack) -> tuple[str, str, Span | None]:
    """Explains a problem: a clause for the sentence, a reason for newcomers, and the place."""
    why = _WHY[problem.kind]
    if problem.kind in ("equal", "derived", "tied"):
        return "", why, None
    if problem.kind == "range" and _BECOMES_ONE.fullmatch(problem.condition):
        why = rules.ShapesViolated.INNER_ONE_WHY()
        return f"{FOR_OTHERS} a size inside the model becomes 1", why, None
    code = code_of(stack[-1].file) if stack else None
    statement = code.statement(stack[-1].line) if code else None
    if code is not None and problem.kind == "fixed":
        loop = _loop_of(code, statement)
        if loop is not None:
            text = f"for {code.text(loop.target)} in {code.text(loop.iter)}"
            ending = f": the loop `{text}` is unrolled while tracing"
            return ending, rules.ShapesViolated.LOOP_WHY(), code.span(loop.iter)
        if isinstance(statement, ast.While):
            ending = f": the loop `while {code.text(statement.test)}` is unrolled while tracing"
            return ending, rules.ShapesViolated.LOOP_WHY(), code.span(statement.test)
        for find, ending, because in _FIXING:
            node = find(statement) if not (problem.asked_by and find in _OF_TEXT) else None
            if node is not None:
                return f": {ending.format(code.text(node))}", because or why, code.span(node)
        if isinstance(statement, ast.If) and any(isinstance(n, ast.Raise) for n in statement.body):
            ending = f"{FOR_OTHERS} the model raises an error, `if {code.text(statement.test)}`"
            return ending, rules.ShapesViolated.REFUSAL_WHY(), code.span(statement.test)
    span = (
        code.span(statement.test) if code and isinstance(statement, ast.If | ast.Assert) else None
    )
    if problem.condition and not _says_it_again(problem):
        return f": the code relies on {problem.condition}", why, span
    if problem.kind == "fixed" and problem.asked_by.startswith("aten."):
        size = problem.dims[0].example
        return f": this line combines it with a size that is fixed at {size}", why, span
    return "", why, span


def is_unrolled(stack: Stack, target: object = None) -> bool:
    """Whether a line runs a loop, which tracing unrolls in either mode.

    Args:
        stack: whose last line it is.
        target: the exported model, if its recurrent modules of torch count: torch steps through
            them in Python, too.
    """
    code = code_of(stack[-1].file) if stack else None
    if code is None:
        return False
    statement = code.statement(stack[-1].line)
    if _loop_of(code, statement) is not None:
        return True
    recurrent = _names_of_recurrent(target)
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in recurrent
        for node in (_inside(statement) if recurrent else ())
    )


def _names_of_recurrent(target: object) -> set[str]:
    """The last names of the paths of torch's own recurrent modules in a model."""
    modules = getattr(target, "named_modules", dict)
    return {path.rpartition(".")[2] for path, m in modules() if isinstance(m, torch.nn.RNNBase)}


def always_fixes(stack: Stack) -> bool:
    """Whether a line fixes a size whatever the example: a loop over it, a plain number of it."""
    return makes_number(stack) or is_unrolled(stack)


def makes_number(stack: Stack) -> bool:
    """Whether a line makes a plain number of a size."""
    code = code_of(stack[-1].file) if stack else None
    return code is not None and _plain_number(code.statement(stack[-1].line)) is not None


def _inside(statement: ast.stmt | None) -> Iterator[ast.AST]:
    """The parts of a statement that has no others in it; none of one that has."""
    if statement is not None and not hasattr(statement, "body"):
        yield from ast.walk(statement)


def _loop_of(code: Code, statement: ast.stmt | None) -> ast.For | ast.comprehension | None:
    """The loop that a line runs, perhaps all of it in that line."""
    if isinstance(statement, ast.For):
        return statement
    around = next(iter(code.ancestors(statement)), None) if statement is not None else None
    if statement is not None and isinstance(around, ast.For) and around.lineno == statement.lineno:
        return around
    inside = [node for node in _inside(statement) if isinstance(node, ast.comprehension)]
    counts = [node for node in inside if _number_in(node.iter)]
    if counts or _plain_number(statement) is None:
        return next(iter(counts or inside), None)
    return None  # what else the line has makes a number of a size; the loop may be over a list


def _find_f_string(statement: ast.stmt | None) -> ast.JoinedStr | None:
    """The f-string on a line, but for the pattern of an einsum."""
    patterns = {
        pattern
        for node in _inside(statement)
        if isinstance(node, ast.Call) and _last(node.func) in _OF_PATTERNS
        for pattern in node.args
    }
    texts = (node for node in _inside(statement) if isinstance(node, ast.JoinedStr))
    return next((text for text in texts if text not in patterns), None)


def _find_log_call(statement: ast.stmt | None) -> ast.Call | None:
    """The call of a logger that a line is: it formats its arguments by their numbers."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    called = call.func if isinstance(call, ast.Call) else None
    owner = ast.unparse(called.value).lower() if isinstance(called, ast.Attribute) else ""
    return call if isinstance(call, ast.Call) and owner.endswith(_LOGGERS) else None


def _plain_number(statement: ast.stmt | None) -> ast.Call | None:
    """The call on a line that makes a plain number of a size."""
    if statement is None or hasattr(statement, "body"):
        return None
    return _number_in(statement)


def _number_in(code: ast.AST) -> ast.Call | None:
    """The call in some code that makes a plain number."""
    calls = (node for node in ast.walk(code) if isinstance(node, ast.Call))
    return next((call for call in calls if _gives_number(call)), None)


def _takes_int(statement: ast.stmt | None) -> ast.Call | None:
    """The call on a line that gives a size to a function of torch's that takes an int alone."""
    for node in _inside(statement):
        if isinstance(node, ast.Call) and _last(node.func) in _INTS_ALONE:
            behind = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
            if not all(map(_is_given, behind)):
                return node
        if not isinstance(node, ast.Call) or _last(node.func) not in _INTS:
            continue
        position, name = _INTS[_last(node.func)]
        expressions = [keyword.value for keyword in node.keywords if keyword.arg == name]
        expressions += node.args[position : position + 1]
        if expressions and not isinstance(expressions[0], ast.Constant):
            return node
    return None


def _computes_with_ints(statement: ast.stmt | None) -> ast.Call | None:
    """The call on a line of a function of torch's that takes the sizes of its tensors as ints."""
    calls = (node for node in _inside(statement) if isinstance(node, ast.Call))
    own = ("self.", "super()")
    return next(
        (
            call
            for call in calls
            if _last(call.func) in _INTS_OF_SHAPES and not ast.unparse(call.func).startswith(own)
        ),
        None,
    )


def _forward_derivative(statement: ast.stmt | None) -> ast.Call | None:
    """The call on a line of a transform of torch.func's that runs in forward mode."""
    calls = (node for node in _inside(statement) if isinstance(node, ast.Call))
    return next((call for call in calls if _last(call.func) in _FORWARD_MODE), None)


def _is_given(value: ast.expr) -> bool:
    """Whether a value is in the code, or in the module, and is not a size of an input."""
    if isinstance(value, ast.Attribute):
        return isinstance(value.value, ast.Name) and value.value.id == "self"
    return isinstance(value, ast.Constant)


def _gives_number(call: ast.Call) -> bool:
    """Whether a call makes a plain number of what may be a size: `float("inf")` does not."""
    owner, _, name = ast.unparse(call.func).rpartition(".")
    if name == "bit_length":
        return True
    if all(map(_is_given, [*call.args, *(keyword.value for keyword in call.keywords)])):
        return False
    return name in _PLAIN_NUMBERS if not owner else owner in _OF_NUMBERS


def _find_repeated_list(statement: ast.stmt | None) -> ast.BinOp | None:
    """The list on a line that is repeated, `[None] * n`."""
    for node in _inside(statement):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (node.left, node.right)
            other = [side for side in sides if not isinstance(side, ast.List | ast.Tuple)]
            if len(other) == 1 and not _is_given(other[0]):
                return node
    return None


def _pieces(statement: ast.stmt | None) -> ast.Call | None:
    """The call on a line that cuts a tensor into as many pieces as its size gives."""
    return next((node for node in _inside(statement) if gives_pieces(node)), None)


def gives_pieces(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """Whether a call cuts a tensor into as many pieces as its size gives."""
    return isinstance(node, ast.Call) and _last(node.func) in ("chunk", "split", "unbind")


def _last(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _says_it_again(problem: ShapeViolation) -> bool:
    """Whether the condition is only that a size is the example's: `batch == 3`."""
    dim = problem.dims[0]
    return problem.kind == "fixed" and problem.condition == f"{name_of(dim)} == {dim.example}"


_OF_TEXT = (_find_f_string, _find_log_call)
"""Conditions that no op checks."""
_FIXING: tuple[tuple[Callable[[ast.stmt | None], ast.expr | None], str, str], ...] = (
    (_find_f_string, "`{}` formats the size as a string", ""),
    (_find_log_call, "`{}` formats the size as a string", ""),
    (_plain_number, "`{}` needs a concrete number", ""),
    (_find_repeated_list, "`{}` makes a list of that length", ""),
    (_takes_int, "`{}` requires an int and does not accept a SymInt", ""),
    (_computes_with_ints, "`{}` computes with sizes as plain ints", ""),
    (
        _forward_derivative,
        "`{}` takes a derivative in forward mode, which fixes it",
        rules.ShapesViolated.FORWARD_DERIVATIVE_WHY(),
    ),
    (_pieces, "the number of outputs of `{}` depends on it", rules.ShapesViolated.PIECES_WHY()),
)
"""A part of a line that fixes a size: how to find and describe it, and why, if unusual."""
