"""Rewrites of a line, each a page at most. `line_rewrites` offers them.

Each takes the text of a file and a line in it, and gives the text with that line rewritten; it
raises CannotRewrite where the line, or the function around it, is not of its kind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

import torch.distributions

from export_engine.fixes.code.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    free_name,
    last_name,
    spans,
)
from export_engine.fixes.rewrite.analysis import find_written_in_place
from export_engine.fixes.rewrite.lower import is_message

_QUESTIONS = frozenset(
    {
        *("is_compiling", "is_dynamo_compiling", "is_exporting"),  # of torch.compiler
        *("is_tracing", "is_scripting", "is_in_onnx_export"),  # of torch.jit and torch.onnx
        *("is_torchdynamo_compiling", "is_torchdynamo_exporting", "is_jit_tracing"),
    }
)
"""Functions of torch, and of transformers, that answer False in eager: nothing is traced."""
_CONVERSIONS = frozenset(
    {
        *("to", "type", "float", "double", "half", "bfloat16"),
        *("cpu", "cuda", "xpu", "ipu", "to_empty"),
    }
)
"""Methods of `nn.Module` that replace its parameters, and give the module back."""
_COPIES = {"copy": "{0}.view_as({0})", "deepcopy": "{0}.clone()"}


def _replace(source: Source, pairs: Iterable[tuple[ast.expr, str]], reason: str) -> Rewritten:
    """The text with some nodes as other texts; where there is none, it raises with the reason."""
    pieces = [source.put(node, text) for node, text in pairs]
    if not pieces:
        raise CannotRewrite(reason)
    return source.replace(pieces)


def _calls(source: Source) -> list[ast.Call]:
    return [node for node in ast.walk(source.function) if isinstance(node, ast.Call)]


def answer_as_eager(text: str, line: int) -> Rewritten:
    """The text with eager's answer to every question of a function whether it is traced."""
    source = Source(text, line)
    plain = [call for call in _calls(source) if not call.args and not call.keywords]
    asked = [(call, "False") for call in plain if last_name(call.func) in _QUESTIONS]
    return _replace(source, asked, "that line does not check for tracing")


def write_in_the_open(text: str, line: int) -> Rewritten:
    """The text with `.data` at a line as `.detach()`, a write that tracing sees."""
    source = Source(text, line)
    pairs = [
        (node, f"{source.of(node).removesuffix('data')}detach()")
        for node in ast.walk(source.function)
        if isinstance(node, ast.Attribute) and node.attr == "data" and spans(node, line)
    ]
    return _replace(source, pairs[:1], "there is no `.data` at that line")


def disable_validation(text: str, line: int) -> Rewritten:
    """The text with `validate_args=False` for every distribution that a function makes."""
    source = Source(text, line)
    pieces = []
    for call in _calls(source):
        made = getattr(torch.distributions, last_name(call.func) or "_", None)
        is_made = isinstance(made, type) and issubclass(made, torch.distributions.Distribution)
        if not is_made or any(e.arg in ("validate_args", None) for e in call.keywords):
            continue
        end = source.end(call) - 1
        comma = "" if source.text[:end].rstrip().endswith(("(", ",")) else ", "
        pieces.append(Piece(end, end, f"{comma}validate_args=False"))
    if not pieces:
        raise CannotRewrite("that line creates no distribution that validates its arguments")
    return source.replace(pieces)


def pass_plain_bools(text: str, line: int) -> Rewritten:
    """The text with flags that a call at a line is given as plain bools: `is_causal=seq > 1`."""
    source = Source(text, line)
    flags = [
        (k.value, f"True if {source.of(k.value)} else False")
        for call in _calls(source)
        for k in call.keywords
        if spans(call, line)
        and (
            isinstance(k.value, ast.Compare | ast.BoolOp)
            or ((k.arg or "").startswith("is_") and isinstance(k.value, ast.Name | ast.Attribute))
        )
    ]
    return _replace(source, flags, "that line computes no flag")


def copy_by_torch(text: str, line: int) -> Rewritten:
    """The text with `copy.copy(x)` and `copy.deepcopy(x)` as a view, and as a clone.

    Those at a line; where it copies nothing, those of its function, whose copies it may use.
    """
    source = Source(text, line)
    names = {
        **{f"{module}.{name}": name for module in source.names_of("copy") for name in _COPIES},
        **{
            alias.asname or alias.name: alias.name
            for node in ast.walk(source.tree)
            if isinstance(node, ast.ImportFrom) and node.module == "copy"
            for alias in node.names
        },
    }
    pairs = [
        (call, _COPIES[names[source.of(call.func)]].format(source.of(call.args[0])))
        for call in _calls(source)
        if names.get(source.of(call.func)) in _COPIES and not call.keywords
        if len(call.args) == 1 and isinstance(call.args[0], ast.Name | ast.Attribute)
    ]
    here = [(call, text) for call, text in pairs if spans(call, line)]
    return _replace(source, here or pairs, "that line does not copy a tensor in Python")


def drop_conversion(text: str, line: int, column: int) -> Rewritten:
    """The text with the module itself where it is converted."""
    source = Source(text, line)
    start = source.at_line(line) + column
    chain = [
        call
        for call in _calls(source)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _CONVERSIONS
        if source.start(call) == start
    ]
    if not chain:
        raise CannotRewrite("that line converts nothing")
    outermost = max(chain, key=source.end)
    converted: ast.expr = outermost
    while converted in chain:
        assert isinstance(converted, ast.Call)
        assert isinstance(converted.func, ast.Attribute)
        converted = converted.func.value
    kept = source.of(converted)
    for node in ast.walk(source.function):
        if isinstance(node, ast.Assign | ast.Expr) and node.value is outermost:
            targets = node.targets if isinstance(node, ast.Assign) else []
            if all(source.of(target) == kept for target in targets):
                return source.replace([source.put(node, "pass")])
    return _replace(source, [(outermost, kept)], "that line converts nothing")


def drop_cache(text: str, line: int) -> Rewritten:
    """The text with the dict that is asked at a line taken as empty."""
    source = Source(text, line)
    nodes = [node for node in ast.walk(source.function) if isinstance(node, ast.expr)]
    lookups = [(node, pair) for node in nodes if (pair := _split_lookup(node)) is not None]
    here = [pair for node, pair in lookups if spans(node, line)]
    if not here:
        raise CannotRewrite("that line reads no dict")
    kept, key = map(source.of, here[0])
    asked = [(node, pair[1]) for node, pair in lookups if source.of(pair[0]) == kept]
    stores = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    if any(source.of(other) != key for _, other in asked) or sum(n.id == key for n in stores) > 1:
        raise CannotRewrite(f"`{kept}` is read with a different key")
    if not any(isinstance(getattr(node, "ctx", None), ast.Store) for node, _ in asked):
        raise CannotRewrite(f"the values of `{kept}` are computed elsewhere")
    name = free_name("_made", source.names)
    return _replace(source, ((node, _of_empty(node, name)) for node, _ in asked), "")


def _split_lookup(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The dict and the key of `key in kept`, of `kept.get(key)`, and of `kept[key]`."""
    match node:
        case ast.Compare(key, [ast.In() | ast.NotIn()], [kept]):
            return kept, key
        case ast.Call(ast.Attribute(kept, "get"), [key] | [key, ast.Constant(None)], []):
            return kept, key
        case ast.Subscript(kept, key):
            return kept, key
    return None


def _of_empty(node: ast.expr, name: str) -> str:
    """The expression for a lookup in an empty dict, which stores a name."""
    if isinstance(node, ast.Compare):
        return str(isinstance(node.ops[0], ast.NotIn))
    return name if isinstance(node, ast.Subscript) else "None"


def skip_message(text: str, line: int) -> Rewritten:
    """The text with a statement that only warns, logs or prints skipped while exporting."""
    source = Source(text, line)
    for node in ast.walk(source.function):
        if isinstance(node, ast.Expr) and is_message(node) and spans(node, line):
            start, indent = source.start(node), source.indent(node)
            test = f"if not {source.torch}.compiler.is_exporting():\n{indent}    "
            return source.replace([Piece(start, start, test)])
    raise CannotRewrite("no statement at that line only warns")


# -- copies in branches of torch.cond --------------------------------------------------------------


def clone_branch_results(text: str, line: int) -> Rewritten:
    """The text with what the branch at a line returns, and what it mutates, cloned."""
    source = Source(text, line)
    branch = source.function
    for node in ast.walk(branch):
        if isinstance(node, ast.Lambda) and node.lineno <= line <= (node.end_lineno or 0):
            return source.replace(_clone_returned(source, node.body))
    if not isinstance(branch, ast.FunctionDef) or not branch.body:
        raise CannotRewrite("the branch is not a function")
    pieces = []
    parameters = [argument.arg for argument in branch.args.args if argument.arg != "self"]
    mutated = [name for name in parameters if name in find_written_in_place(branch.body)]
    first = branch.body[0]
    at = source.start(first)
    before = text[source.line_start(first) : at]
    follows = "; " if before.strip() else f"\n{before}"  # the body may be on the line of the `def`
    pieces += [Piece(at, at, f"{name} = {name}.clone(){follows}") for name in mutated]
    for node in ast.walk(branch):
        if isinstance(node, ast.Return) and node.value is not None and not mutated:
            pieces += _clone_returned(source, node.value)
    if not pieces:
        raise CannotRewrite("the branch returns none of its inputs")
    return source.replace(pieces)


def clone_new_operands(text: str, line: int) -> Rewritten:
    """As `clone_branch_results`, where no caller can see what the branch writes to."""
    branch = Source(text, line).function
    if not isinstance(branch, ast.FunctionDef):
        raise CannotRewrite("the branch is not a function")
    names = [argument.arg for argument in branch.args.args]
    calls = _find_calls(text, branch)
    mutated = find_written_in_place(branch.body)
    for at, name in enumerate(names):
        if name in mutated and not all(_is_new(call, at) for call in calls):
            raise CannotRewrite(f"`{name}` may be used outside of the branch")
    if not calls:
        raise CannotRewrite("the call of the branch is not in the file")
    return clone_branch_results(text, line)


def _find_calls(text: str, branch: ast.FunctionDef) -> list[ast.Call]:
    """The calls that name a branch, in the block of code that defines it."""
    owners = [
        owner
        for owner in ast.walk(ast.parse(text))
        for node in ast.iter_child_nodes(owner)
        if isinstance(node, ast.FunctionDef)
        and (node.name, node.lineno) == (branch.name, branch.lineno)
    ]
    return [
        node
        for owner in owners
        for node in ast.walk(owner)
        if isinstance(node, ast.Call)
        and any(isinstance(e, ast.Name) and e.id == branch.name for e in (*node.args, node.func))
    ]


def _is_new(call: ast.Call, at: int) -> bool:
    """Whether an operand of a `torch.cond` is a tensor that this expression makes."""
    operands = call.args[-1] if call.args else None
    if not isinstance(operands, ast.Tuple | ast.List) or at >= len(operands.elts):
        return False
    operand = operands.elts[at]
    if isinstance(operand, ast.Call):
        return isinstance(operand.func, ast.Attribute) and operand.func.attr == "clone"
    return isinstance(operand, ast.BinOp)


def _clone_returned(source: Source, value: ast.expr) -> list[Piece]:
    if isinstance(value, ast.Tuple | ast.List):
        return [piece for expression in value.elts for piece in _clone_returned(source, expression)]
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return [Piece(source.end(value), source.end(value), ".clone()")]
    return []
