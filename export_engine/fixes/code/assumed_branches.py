"""Conditions on data that are assumed: the program asserts them, and takes one branch.

An op may also check one: `scaled_dot_product_attention` whether its keys are empty, a convolution
whether its input is. A data-dependent number has no value while tracing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import replace

from torch import nn

from export_engine.attempt import (
    Attempt,
    Diagnosis,
    Edit,
    Exported,
    Failed,
    Fix,
    Kind,
    NoFix,
    Request,
    text_in_effect,
)
from export_engine.capture import quiet
from export_engine.diagnose import DataDependent, diagnose
from export_engine.fixes.assumptions import join_texts
from export_engine.fixes.code.size_branches import find_branch
from export_engine.fixes.code.text_edits import CannotRewrite, Piece, Source, spans, with_way
from export_engine.fixes.code.try_edit import (
    further,
    make_edit,
    offer_edit,
    runs,
    try_and_offer,
    try_edit,
)
from export_engine.fixes.try_fixes import read_failure, tell
from export_engine.process import sandbox
from export_engine.source import original_file
from export_engine.torch_internals import operators_listed_once

_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MOST_ROUNDS = 4
_Checks = list[tuple[str, str]]
"""Conditions, each with the call of torch that checks it."""


def assume_branch_on_data(attempt: Failed) -> Iterator[Fix | NoFix]:
    """The example's way of a branch on tensor values, assumed for every input."""
    yield from _suggest(attempt, {Kind.BRANCH_ON_DATA})


def suggest_decisions(attempt: Failed) -> Iterator[Fix | NoFix]:
    """One way of a branch on a number; where no statement branches, what an op asks."""
    yield from _suggest(attempt, {Kind.BRANCH_ON_UNBACKED, Kind.UNBACKED_SIZE})


def _suggest(attempt: Failed, kinds: set[Kind]) -> Iterator[Fix | NoFix]:
    request, diagnosis = read_failure(attempt)
    if not diagnosis.stack or diagnosis.kind not in kinds:
        return
    try:
        fix = _assume_branch(attempt, request, diagnosis)
        if fix is None and diagnosis.kind is Kind.BRANCH_ON_UNBACKED:
            fix = _assume_of_op(attempt, request, diagnosis)
    except CannotRewrite as reason:
        yield NoFix(f"Cannot assume this branch: {reason}.")
        return
    if fix is not None:
        yield fix


def _assume_branch(attempt: Failed, request: Request, diagnosis: Diagnosis) -> Fix | None:
    """The example's way of the branch at a line; None where no branch is there."""
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    of_data = diagnosis.kind is Kind.BRANCH_ON_DATA
    is_tensor = of_data or not getattr(diagnosis.facts, "condition", "number")
    source = Source(text, line)
    try:
        pair = find_branch(source, line)
    except CannotRewrite:
        return None
    for holds in (True, False):
        checks = list_checks(source.torch, pair[1].test, holds=holds, is_tensor=is_tensor)
        rewritten = source.replace(_take_way(source, *pair, holds, checks))
        edit = make_edit(place.file, text, rewritten)
        if not runs(request.with_edit(edit)):
            continue  # the example takes the other branch
        condition = " and ".join(asked for asked, _ in checks)
        fix = try_and_offer(
            attempt,
            edit,
            f"Assume `{condition}`",
            bounds="never",
            why="The example takes this branch. The program asserts at run time that every input "
            "does.",
            gives_up=f"The program rejects inputs for which `{condition}` does not hold.",
        )
        if fix is None:
            return None
        owner = rewritten.function.rpartition(".")[0]
        return _with_state(fix, _find_state(request, source, pair[1].test, owner, fix.leads_to))
    return None


def _with_state(fix: Fix, state: list[str]) -> Fix:
    """A fix that is lossless where only parameters and buffers decide, which nothing writes.

    That is read of the program in which one way is taken.
    """
    if not state:
        return replace(fix, lossy=True)
    asked = join_texts([f"`{name}`" for name in state])
    why = f"The condition depends only on {asked}, not on inputs. The program asserts it."
    return replace(fix, why=why, gives_up=f"With other values in {asked}, the program may raise.")


def _take_way(
    source: Source, statement: ast.stmt, branch: ast.If | ast.IfExp, holds: bool, checks: _Checks
) -> list[Piece]:
    """Checks, and one way of a branch in its place."""
    indent, start = source.indent(statement), source.line_start(statement)
    lines = "".join(f"{indent}{check}\n" for _, check in checks)
    if isinstance(branch, ast.IfExp):
        way = f"({source.of(branch.body if holds else branch.orelse)})"
        return [Piece(start, start, lines), source.put(branch, way)]
    if any(block and isinstance(block[-1], ast.Raise) for block in (branch.body, branch.orelse)):
        raise CannotRewrite("one of its branches only raises an error")
    piece = with_way(source, branch, branch.body if holds else branch.orelse)
    return [piece._replace(text=lines + piece.text.removeprefix(f"{indent}pass\n"))]


def list_checks(torch: str, test: ast.expr, *, holds: bool, is_tensor: bool) -> _Checks:
    """The conditions that make a test hold, or not hold.

    Raises:
        CannotRewrite: its test is not a value, or compares several.
    """
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            return list_checks(torch, inner, holds=not holds, is_tensor=is_tensor)
        case ast.Call(ast.Name("bool"), [inner], []):
            return list_checks(torch, inner, holds=holds, is_tensor=is_tensor)
        case ast.BoolOp(operator, values) if isinstance(operator, ast.And if holds else ast.Or):
            parts = [list_checks(torch, e, holds=holds, is_tensor=is_tensor) for e in values]
            return [check for part in parts for check in part]
        case ast.BoolOp(operator, values):
            sign = " & " if isinstance(operator, ast.And) else " | "
            text = sign.join(f"({ast.unparse(value)})" for value in values)
        case ast.Compare(left, [operator], [right]) if type(operator) in _SIGNS:
            sign = _SIGNS[type(operator)] if holds else _OPPOSITE[_SIGNS[type(operator)]]
            text, holds = f"{ast.unparse(left)} {sign} {ast.unparse(right)}", True
        case ast.Compare() | ast.NamedExpr():
            raise CannotRewrite("the test is more than one comparison of values")
        case _ if is_tensor:
            text = ast.unparse(test)
        case _:
            text, holds = f"{ast.unparse(test)} {'!=' if holds else '=='} 0", True
    said = text if holds else f"not ({text})" if " " in text else f"not {text}"
    if not is_tensor:
        return [(said, f"{torch}._check({text if holds else f'{torch}.sym_not({text})'})")]
    asked = text if holds else f"{torch}.logical_not({text})"
    return [(said, f'{torch}._assert_async({asked}, "the example takes the other branch")')]


def _find_state(
    request: Request, source: Source, test: ast.expr, owner: str, found: Exported | None
) -> list[str]:
    """The parameters and buffers that a test asks, `self.ready`; none if it asks more."""
    model = getattr(request.target, "__self__", request.target)
    arguments = source.function.args.args
    if found is None or found.verdict != "agrees":
        return []
    if not isinstance(model, nn.Module) or not arguments:
        return []
    own = arguments[0].arg
    chains = {ast.unparse(node) for node in ast.walk(test) if isinstance(node, ast.Attribute)}
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)} - {own}
    if any(not hasattr(builtins, name) and name != source.torch for name in names):
        return []
    owners = [
        {*dict(module.named_parameters()), *dict(module.named_buffers())}
        for module in model.modules()
        if any(base.__qualname__ == owner for base in type(module).__mro__)
    ]
    state = set[str]()
    for chain in chains:
        first, *parts = chain.split(".")
        if first == source.torch or any(other.startswith(f"{chain}.") for other in chains):
            continue
        ends = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        registered = [end for end in ends if owners and all(end in paths for paths in owners)]
        if first != own or not registered:
            return []
        state.add(registered[0])
    if not state:
        return []
    with sandbox(), quiet(), operators_listed_once():
        signature = found.program.run_decompositions({}).graph_signature
    written = {**signature.buffers_to_mutate, **getattr(signature, "parameters_to_mutate", {})}
    if any(f".{path}".endswith(f".{name}") for path in written.values() for name in state):
        return []
    return [f"{own}.{name}" for name in sorted(state)]


def _assume_of_op(attempt: Failed, request: Request, diagnosis: Diagnosis) -> Fix | None:
    """Checks for all that the op at a failing line asks of data-dependent numbers."""
    place = diagnosis.stack[-1]
    before, line = text_in_effect(request.edits, place.file, place.line)
    edit = Edit(original_file(place.file), before, before, ())
    conditions: list[str] = []
    result: Attempt | None = None
    for _ in range(_MOST_ROUNDS):
        edit, condition = _add_check(request, edit, line, diagnosis)
        line += 1
        conditions.append(condition)
        tell(f"checking {condition}")
        result = try_edit(request, edit)
        if not isinstance(result, Failed):
            break
        diagnosis = diagnose(result)
        if not isinstance(diagnosis.facts, DataDependent) or not diagnosis.facts.condition:
            return None
        if not diagnosis.stack or diagnosis.stack[-1].line != line:
            return None
    if not isinstance(result, Exported) or result.verdict in ("differs", "refused"):
        return None
    listed = " and ".join(f"`{text}`" for text in conditions)
    of_empty = all(text.endswith((" != 0", " > 0", " >= 0", " >= 1")) for text in conditions)
    return offer_edit(
        attempt,
        edit,
        result,
        title=f"Check that {listed} before line {place.line}",
        why="The op requires this of a data-dependent number. The program asserts it at run time.",
        narrows=True,
        lossy=not of_empty,
        gives_up=f"The program rejects inputs for which {listed} does not hold.",
    )


def _add_check(request: Request, edit: Edit, line: int, diagnosis: Diagnosis) -> tuple[Edit, str]:
    """An edit with a check more, which holds on the example, and what it checks.

    The opposite of what is asked is tried first: a special case is seldom the example's.
    """
    facts = diagnosis.facts
    asked = facts.condition if isinstance(facts, DataDependent) else ""
    source = Source(edit.after, line)
    kinds = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr
    nodes = [n for n in ast.walk(source.function) if isinstance(n, kinds) and spans(n, line)]
    try:
        test = ast.parse(asked, mode="eval").body
    except SyntaxError as error:
        raise CannotRewrite("the op's condition is not valid Python") from error
    if not nodes or not isinstance(test, ast.Compare):
        raise CannotRewrite("the op's condition cannot be checked before that line")
    statement = max(nodes, key=source.start)
    at, indent = source.start(statement), source.indent(statement)
    for holds in (False, True):
        (condition, check), *_ = list_checks(source.torch, test, holds=holds, is_tensor=False)
        more = further(edit, source.replace([Piece(at, at, f"{check}\n{indent}")]))
        if runs(request.with_edit(more)):
            return more, condition
    raise CannotRewrite("the op's condition cannot be checked before that line")
