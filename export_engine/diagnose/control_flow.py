"""Violated rules of control-flow operators: torch.cond, while_loop, map, scan.

A branch or a body must be functional: mutate nothing and return new tensors of the same kind. Other
failures inside one belong to other families.
"""

from __future__ import annotations

import ast
from typing import Any

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, Link, Related
from export_engine.diagnose.errors import break_type, cause, find, message
from export_engine.diagnose.explanations import exportdb, graph_break_page
from export_engine.diagnose.failing_line import Place, chain, failing_place
from export_engine.diagnose.torch_messages import difference, explanation, plain
from export_engine.source import Code, Location, parse_stack_trace, without_repeats
from export_engine.torch_internals import (
    branch_mismatch,
    control_flow_operator,
    find_returned_views,
    writing_nodes,
)
from export_engine.traced_sizes import symbol_names

_CALL_RULES = ("improper", "unsupported branch return", "unsupported cond_fn", "non torch.Tensor")


def diagnose_control_flow(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a violated rule."""
    error = attempt.error
    operator = control_flow_operator(chain(error))
    if not operator:
        return None
    broken = break_type(error)
    if "input mutation during higher order" in broken:
        return _mutates(attempt, operator)
    if "aliasing during higher order" in broken:
        return _aliases(attempt, operator)
    if "side effect" in broken.lower() or broken == "nn.Module mutation in HigherOrderOp":
        return _side_effect(attempt, operator)
    return _differ(attempt, operator) or _diagnose_wrong_operands(attempt, operator)


def _quote(text: str) -> str:
    return f": `{text}`" if text else ""


def _part(operator: str) -> str:
    """The part of the operator that failed."""
    return f"A branch of `{operator}`" if operator == "torch.cond" else f"The body of `{operator}`"


def _mutates(attempt: Failed, operator: str) -> Diagnosis:
    place = failing_place(attempt.error)
    stacks = [parse_stack_trace(text) for text in writing_nodes(chain(attempt.error))]
    inner = next((stack for stack in stacks if stack), ())
    written = _with_inner(place, inner)
    text = written.text if inner else ""
    return Diagnosis(
        kind=Kind.COND_MUTATES,
        sentence=rules.CondMutates.SENTENCE(part=_part(operator), code=_quote(text)),
        why=rules.CondMutates.WHY(),
        stack=written.stack,
        span=written.span,
        related=_calls(place, operator) if inner else (),
        links=_links(attempt, Kind.COND_MUTATES),
    )


def _with_inner(place: Place, inner: tuple[Location, ...]) -> Place:
    """The place of a line inside the operator's call."""
    if not inner:
        return place
    whole = inner if inner[0] in place.stack else (*place.stack, inner[-1])
    return Place(without_repeats(whole))


def _calls(place: Place, operator: str) -> tuple[Related, ...]:
    return (Related(f"calls {operator}", place.stack),)


def _aliases(attempt: Failed, operator: str) -> Diagnosis:
    place = failing_place(attempt.error)
    said = " ".join(map(message, chain(attempt.error)))
    if "Input-to-input aliasing" in said:
        return Diagnosis(
            kind=Kind.OPERATOR_FAILED,
            sentence=rules.OperatorFailed.SHARED_OPERANDS(operator=operator),
            why=rules.OperatorFailed.SHARED_OPERANDS_WHY(),
            stack=place.stack,
            span=place.span,
        )
    if "Output-to-output aliasing" in said:
        return Diagnosis(
            kind=Kind.COND_ALIASES,
            sentence=rules.CondAliases.SHARED_OUTPUTS(part=_part(operator)),
            why=rules.CondAliases.SHARED_OUTPUTS_WHY(),
            stack=place.stack,
            span=place.span,
            links=_links(attempt, Kind.COND_ALIASES),
        )
    views = [parse_stack_trace(text) for text in find_returned_views(chain(attempt.error))]
    viewed = next((stack for stack in views if stack), ())
    pair = None if viewed else _find_returned_input(place)
    where = _with_inner(place, viewed) if viewed else place
    if pair is not None:
        where = Place((*place.stack, pair[0]))
    text = pair[1] if pair else where.text if viewed else ""
    what = "a view of its input" if viewed else "its input" if pair else "its input, or a view"
    return Diagnosis(
        kind=Kind.COND_ALIASES,
        sentence=rules.CondAliases.RETURNS_INPUT(
            part=_part(operator), what=what, code=_quote(text)
        ),
        why=rules.CondAliases.RETURNS_INPUT_WHY(),
        stack=where.stack,
        span=where.span,
        related=_calls(place, operator) if where is not place else (),
        links=_links(attempt, Kind.COND_ALIASES),
    )


def _find_returned_input(place: Place) -> tuple[Location, str] | None:
    """The `return` of a branch that returns a parameter, if the syntax shows it."""
    code, call = place.code, place.expression
    if code is None or not isinstance(call, ast.Call) or not place.stack:
        return None
    for argument in call.args:
        function = _function_of(code, call, argument)
        if function is None:
            continue
        parameters = {argument.arg for argument in function.args.args}
        for returned, line in _results(function):
            if isinstance(returned, ast.Name) and returned.id in parameters:
                name = getattr(function, "name", "<lambda>")
                return Location(place.stack[-1].file, line, name), returned.id
    return None


def _function_of(
    code: Code, call: ast.Call, argument: ast.expr
) -> ast.FunctionDef | ast.Lambda | None:
    """The function that an argument names: defined around the call, or a method of its class."""
    if isinstance(argument, ast.Lambda):
        return argument
    name = argument.id if isinstance(argument, ast.Name) else getattr(argument, "attr", None)
    for around in code.ancestors(call):
        body = getattr(around, "body", None)
        for node in body if isinstance(body, list) else ():
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node
    return None


def _results(function: ast.FunctionDef | ast.Lambda) -> list[tuple[ast.expr, int]]:
    """The expressions that a function returns, each element of a tuple, with their lines."""
    values = (
        [function.body]
        if isinstance(function, ast.Lambda)
        else [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]
    )
    flat = [item for value in values for item in getattr(value, "elts", [value])]
    return [(value, value.lineno) for value in flat]


def _side_effect(attempt: Failed, operator: str) -> Diagnosis:
    place = failing_place(attempt.error)
    text = _statement(place)
    return Diagnosis(
        kind=Kind.COND_SIDE_EFFECT,
        sentence=rules.CondSideEffect.SENTENCE(part=_part(operator), code=_quote(text)),
        why=rules.CondSideEffect.WHY(),
        stack=place.stack,
        span=place.span,
        links=_links(attempt, Kind.COND_SIDE_EFFECT),
    )


def _statement(place: Place) -> str:
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)
    if place.code is None or statement is None or not simple:
        return place.text
    return place.code.text(statement)


def _differ(attempt: Failed, operator: str) -> Diagnosis | None:
    """Branches that return different things."""
    error = cause(attempt.error)
    text = _difference(error, operator, attempt)
    if not text:
        return None
    place = failing_place(attempt.error)
    kind = Kind.COND_BRANCHES_DIFFER if operator == "torch.cond" else Kind.OPERATOR_FAILED
    return Diagnosis(
        kind=kind,
        sentence=text,
        why=rules.CondBranchesDiffer.WHY(),
        stack=place.stack,
        span=place.span,
        related=_branches(place) if operator == "torch.cond" else (),
        links=_links(attempt, kind),
    )


def _difference(error: BaseException, operator: str, attempt: Failed) -> str:
    mismatch = branch_mismatch(error)
    names = symbol_names(attempt)
    if mismatch is not None:
        what, left, right = mismatch
        called = {"dim": "number of dims", "is_sparse": "sparsity"}.get(what, what)
        left, right = (str(value).removeprefix("torch.") for value in (left, right))
        return rules.CondBranchesDiffer.TENSORS_DIFFER(
            operator=operator, what=called, left=left, right=right
        )
    broken = break_type(error)
    if "differing branch outputs" in broken or "branch return type" in broken:
        return rules.CondBranchesDiffer.BRANCHES_DIFFER(
            operator=operator, reason=plain(explanation(message(error)), names)
        )
    items = difference(message(error))
    if items is not None:
        what, left, right = (plain(text, names) for text in items)
        return rules.CondBranchesDiffer.CARRIED_CHANGES(
            operator=operator, what=what, left=left, right=right
        )
    if "same number of outputs" in message(error):
        return rules.CondBranchesDiffer.CARRIED_COUNT(operator=operator)
    return ""


def _branches(place: Place) -> tuple[Related, ...]:
    """Where the branches return."""
    code, call = place.code, place.expression
    if code is None or not isinstance(call, ast.Call) or not place.stack:
        return ()
    items = []
    for argument in call.args[1:3]:
        function = _function_of(code, call, argument)
        for returned, line in _results(function)[:1] if function is not None else ():
            name = getattr(function, "name", "<lambda>")
            at = Location(place.stack[-1].file, line, name)
            items.append(Related(f"returns `{code.text(returned)}`", (*place.stack, at)))
    return tuple(items)


def _diagnose_wrong_operands(attempt: Failed, operator: str) -> Diagnosis | None:
    """A predicate or operands that the operator cannot take."""
    broken = break_type(attempt.error)
    validated = _is_operand_check(cause(attempt.error))
    if not validated and not any(rule in broken for rule in _CALL_RULES):
        return None
    error = find(attempt.error, "Unsupported") or cause(attempt.error)
    text = plain(explanation(message(error)) or message(error), symbol_names(attempt))
    place = failing_place(attempt.error)
    return Diagnosis(
        kind=Kind.OPERATOR_FAILED,
        sentence=rules.OperatorFailed.CALLED_WRONGLY(operator=operator, said=text),
        why=rules.OperatorFailed.CALLED_WRONGLY_WHY(),
        stack=place.stack,
        span=place.span,
        links=_links(attempt, Kind.OPERATOR_FAILED),
    )


def _is_operand_check(error: Any) -> bool:
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb is not None and tb.tb_frame.f_code.co_name == "_validate_input"


def _links(attempt: Failed, kind: Kind) -> tuple[Link, ...]:
    return exportdb(kind) + graph_break_page(break_type(attempt.error))
