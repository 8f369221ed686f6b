"""A data-dependent `if` as torch.cond: each branch becomes a function of its own.

Two forms: branches that return, where what follows an early return is the other branch; and
branches that bind names, whose values then come out of torch.cond. torch.cond must not return an
input, so a value that is passed through is cloned.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from export_engine.fixes.code.branches.branch_writes import without_writes
from export_engine.fixes.code.branches.passed_through import certain, fresh, results_of, returned
from export_engine.fixes.code.editing.conditions import Unclear, predicate
from export_engine.fixes.code.editing.new_values import made_in
from export_engine.fixes.code.editing.variables import (
    always_returns,
    bound,
    effect,
    has_return,
    read,
    tree_of,
)
from export_engine.fixes.code.editing.views import root_of

_THEN, _OTHERWISE = "_then", "_otherwise"


@dataclass(frozen=True)
class Surroundings:
    """What a branch stands in."""

    known: frozenset[str]
    """Names that are bound before it in its function."""
    rest: tuple[cst.BaseStatement, ...]
    """The statements after it in its block."""
    used_later: frozenset[str]
    """Names that are read later, also in outer blocks or the next iteration of a loop."""
    ends_function: bool
    """Whether its block is the function's own, so the rest runs to the end of the function."""
    roots: Mapping[str, str]
    """Of names that may be views of another tensor: which."""
    own: tuple[str, ...] = ()
    """Names of tensors that the branches may write to."""
    parts: Mapping[str, str] | None = None
    """Where torch.cond is given clones of what shares memory: of names, what they may be of."""


def as_cond(branch: cst.If, around: Surroundings) -> tuple[list[cst.BaseStatement], bool]:
    """The statements that replace a branch, and whether they replace the rest, too.

    Raises:
        Unclear: it cannot be written with torch.cond with the same meaning.
    """
    test = predicate(branch.test)
    then = _body(branch.body)
    otherwise = _else(branch)
    if has_return(tree_of(then)) or (otherwise and has_return(tree_of(otherwise))):
        return _returning(branch, test, then, otherwise, around)
    moved = without_writes(branch, around.known)
    if moved.names:
        _refuse_shared(moved.written, branch, around.roots)
        around = replace(
            around,
            known=around.known | {*moved.names},
            used_later=around.used_later | {*moved.names},
            own=moved.names,
        )
    then, otherwise = _body(moved.branch.body), _else(moved.branch)
    made = _binding(moved.branch, test, then, otherwise or [], around)
    if moved.names:
        made[0] = made[0].with_changes(leading_lines=())
        made = _led([*moved.before, *made, *moved.after], branch)
    return made, False


def conditional_as_cond(expression: cst.IfExp) -> cst.Call:
    """`a if test else b` as torch.cond. Raises Unclear."""
    then, otherwise = (
        cst.Lambda(params=cst.Parameters(), body=fresh(each))
        for each in (expression.body, expression.orelse)
    )
    return cst.Call(
        func=cst.parse_expression("torch.cond"),
        args=[cst.Arg(predicate(expression.test)), cst.Arg(then), cst.Arg(otherwise)],
    )


def _returning(
    branch: cst.If,
    test: cst.BaseExpression,
    then: list[cst.BaseStatement],
    otherwise: list[cst.BaseStatement] | None,
    around: Surroundings,
) -> tuple[list[cst.BaseStatement], bool]:
    ways = [then, otherwise or []]
    goes_on = [number for number, way in enumerate(ways) if not _always_returns(way)]
    if len(goes_on) == 2:
        raise Unclear("one branch returns and goes on as well")
    for number in goes_on:  # with what follows the `if`, that of an `elif` in it too
        ways[number] = [*ways[number], *around.rest]
        if not around.ends_function or not _always_returns(ways[number]):
            raise Unclear("what follows the branch does not end with a return")
    then, otherwise = ways
    own = [made_in(tree_of(each), around.known) for each in ways]
    if any(effect(tree_of(each), new) for each, new in zip(ways, own, strict=True)):
        return _returned_behind(branch, ways, around), bool(goes_on)
    operands = _operands([then, otherwise], around)
    made: list[cst.BaseStatement] = [
        _function(_THEN, operands, [*then[:-1], returned(then[-1], own[0])], branch),
        _function(_OTHERWISE, operands, [*otherwise[:-1], returned(otherwise[-1], own[1])]),
        cst.SimpleStatementLine([cst.Return(_cond(test, operands))]),
    ]
    return _led(made, branch), bool(goes_on)


def _returned_behind(
    branch: cst.If, ways: list[list[cst.BaseStatement]], around: Surroundings
) -> list[cst.BaseStatement]:
    """Branches that write and return: what they return is bound, and returned behind the writes."""
    name = "_result"
    while name in around.known | read(tree_of([branch])):
        name += "_"
    blocks = [[*each[:-1], _named(name, each[-1])] for each in ways]
    if any(has_return(tree_of(each)) for each in blocks):
        raise Unclear("a branch that writes returns in several places")
    suites = [cst.IndentedBlock(each) for each in blocks]
    whole = branch.with_changes(body=suites[0], orelse=cst.Else(suites[1]))
    around = replace(around, rest=(), used_later=frozenset({name}))
    made, _ = as_cond(whole, around)
    return [*made, _line(f"return {name}")]


def _named(name: str, statement: cst.BaseStatement) -> cst.BaseStatement:
    """`return x` as `name = x`; what is passed through is cloned."""
    last = statement.body[-1] if isinstance(statement, cst.SimpleStatementLine) else None
    if not isinstance(last, cst.Return) or last.value is None:
        raise Unclear("a branch that writes does not end with its return")
    assert isinstance(statement, cst.SimpleStatementLine)
    bound_to = cst.Assign([cst.AssignTarget(cst.Name(name))], fresh(last.value))
    return statement.with_changes(body=[*statement.body[:-1], bound_to])


def _line(text: str) -> cst.BaseStatement:
    made = cst.parse_statement(text)
    assert isinstance(made, cst.SimpleStatementLine)
    return made


def _refuse_shared(written: Sequence[str], branch: cst.If, roots: Mapping[str, str]) -> None:
    """Raises Unclear where a branch reads a tensor by another name than the one it writes to.

    What is written stands behind the branch, so that it would read what was there before.
    """
    tree = tree_of([branch])
    texts = {
        ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)
    }
    for each in written:
        root = root_of(each, roots)
        shared = [text for text in sorted(texts) if text != each and root_of(text, roots) == root]
        if shared:
            raise Unclear(f"`{shared[0]}` may share memory with `{each}`, which a branch writes to")


def _always_returns(body: Sequence[cst.BaseStatement]) -> bool:
    return bool(body) and always_returns(tree_of(body).body)


def _binding(
    branch: cst.If,
    test: cst.BaseExpression,
    then: list[cst.BaseStatement],
    otherwise: list[cst.BaseStatement],
    around: Surroundings,
) -> list[cst.BaseStatement]:
    _refuse_effects(around, then, otherwise)
    both = [*bound(tree_of(then)), *bound(tree_of(otherwise))]
    results = [name for name in dict.fromkeys(both) if name in around.used_later]
    if not results:
        raise Unclear("nothing that the branches compute is used after the `if`")
    for body in (then, otherwise):
        missing = [
            name
            for name in results
            if name not in bound(tree_of(body)) and name not in around.known
        ]
        if missing:
            raise Unclear(f"`{missing[0]}` has no value where a branch does not bind it")
    operands = _operands([then, otherwise], around)
    names = [cst.Name(name) for name in results]
    several = cst.Tuple([cst.Element(name) for name in names], [], [])
    target = cst.AssignTarget(names[0] if len(names) == 1 else several)
    assign = cst.Assign([target], _cond(test, operands))
    made = [
        _function(_THEN, operands, [*then, results_of(results, then)], branch),
        _function(_OTHERWISE, operands, [*otherwise, results_of(results, otherwise)]),
        cst.SimpleStatementLine([assign]),
    ]
    return _led(made, branch)


def _refuse_effects(around: Surroundings, *bodies: Sequence[cst.BaseStatement]) -> None:
    for body in bodies:
        tree = tree_of(body)
        what = effect(tree, {*around.own, *made_in(tree, around.known)})
        if what:
            raise Unclear(f"a branch {what}, which a branch of torch.cond must not")


def _operands(
    bodies: Sequence[Sequence[cst.BaseStatement]], around: Surroundings
) -> dict[str, str]:
    """The arguments of the branches, each with the text of what torch.cond is given for it.

    They are names that a branch rebinds, and reads or keeps in a way of its own; and where clones
    are asked for, those that share memory. Raises Unclear where none do.
    """
    found: dict[str, str] = {}
    for body in bodies:
        tree = tree_of(body)
        needed = read(tree) | (set(bound(tree)) - certain(tree))
        found |= {each: each for each in bound(tree) if each in needed and each in around.known}
    if around.parts is not None:
        found |= {each: f"{each}.clone()" for each in _shared(bodies, around.parts, around.known)}
    return found


def _shared(
    bodies: Sequence[Sequence[cst.BaseStatement]], parts: Mapping[str, str], known: frozenset[str]
) -> list[str]:
    """Names that are read and may share memory with another one that is.

    Raises:
        Unclear: there are none.
    """
    names = {name for body in bodies for name in read(tree_of(body))} & known
    roots = {name: root_of(name, parts) for name in sorted(names)}
    several = {root for root, count in Counter(roots.values()).items() if count > 1}
    found = [name for name, root in roots.items() if root in several and name != root]
    if not found:
        raise Unclear("no two names that the branches read share memory")
    return found


def _function(
    name: str,
    parameters: Iterable[str],
    body: Sequence[cst.BaseStatement],
    branch: cst.If | None = None,
) -> cst.FunctionDef:
    """A branch as a function; the comment behind the branch's test goes along."""
    header = branch.body.header if branch and isinstance(branch.body, cst.IndentedBlock) else None
    block = cst.IndentedBlock([_out_of_place(each) for each in body])
    return cst.FunctionDef(
        name=cst.Name(name),
        params=cst.Parameters([cst.Param(cst.Name(each)) for each in parameters]),
        body=block.with_changes(header=header) if header is not None else block,
    )


def _out_of_place(statement: cst.BaseStatement) -> cst.BaseStatement:
    """`y *= 3` as `y = y * 3`: a branch of torch.cond must not mutate its inputs."""
    changed = statement.visit(_NoAugmented())
    assert isinstance(changed, cst.BaseStatement)
    return changed


class _NoAugmented(cst.CSTTransformer):
    def leave_AugAssign(
        self, original_node: cst.AugAssign, updated_node: cst.AugAssign
    ) -> cst.BaseSmallStatement:
        operator = _OPERATORS.get(type(updated_node.operator).__name__)
        if operator is None or not isinstance(updated_node.target, cst.Name):
            return updated_node
        value = updated_node.value
        if isinstance(value, cst.BinaryOperation | cst.IfExp) and not value.lpar:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        computed = cst.BinaryOperation(updated_node.target, operator(), value)
        return cst.Assign([cst.AssignTarget(updated_node.target)], computed)


_OPERATORS: dict[str, type[cst.BaseBinaryOp]] = {
    "AddAssign": cst.Add,
    "SubtractAssign": cst.Subtract,
    "MultiplyAssign": cst.Multiply,
    "DivideAssign": cst.Divide,
    "MatrixMultiplyAssign": cst.MatrixMultiply,
    "PowerAssign": cst.Power,
}


def _cond(test: cst.BaseExpression, operands: Mapping[str, str]) -> cst.Call:
    texts = ", ".join(operands.values())
    given = cst.parse_expression(f"({texts}{',' if len(operands) == 1 else ''})")
    names = [cst.Name(_THEN), cst.Name(_OTHERWISE), given]
    args = [cst.Arg(test.with_changes(lpar=[], rpar=[])), *map(cst.Arg, names)]
    return cst.Call(func=cst.parse_expression("torch.cond"), args=args)


def _body(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    if isinstance(block, cst.IndentedBlock):
        return list(block.body)
    assert isinstance(block, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine(list(block.body))]


def _else(branch: cst.If) -> list[cst.BaseStatement] | None:
    """The other branch; an `elif` is an `if` in it."""
    if branch.orelse is None:
        return None
    if isinstance(branch.orelse, cst.If):
        return [branch.orelse]
    return _body(branch.orelse.body)


def _led(statements: list[cst.BaseStatement], branch: cst.If) -> list[cst.BaseStatement]:
    """The statements, with the comments that stood before the branch."""
    return [statements[0].with_changes(leading_lines=branch.leading_lines), *statements[1:]]
