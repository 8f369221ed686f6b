"""A function's text, rewritten whole: normal form, facts from one run, lowerings, text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import torch

from export_engine.attempt import Edit, EditError, Failed, Kind, Request
from export_engine.capture import capture
from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.emit import emit
from export_engine.fixes.rewrite.expressions import Names
from export_engine.fixes.rewrite.facts import Facts
from export_engine.fixes.rewrite.form import (
    Function,
    NotStaged,
    Site,
    Unequal,
    find_site,
    parse_function,
)
from export_engine.fixes.rewrite.instrument import instrument
from export_engine.fixes.rewrite.listed import (
    append_grown,
    append_in_order,
    cut_pieces,
    list_deques,
)
from export_engine.fixes.rewrite.lower import Lowering
from export_engine.fixes.rewrite.normalize import Normal
from export_engine.fixes.rewrite.parts import name_parts, name_presence
from export_engine.fixes.rewrite.probe import probing
from export_engine.fixes.rewrite.selected import loop_over_all
from export_engine.fixes.rewrite.shrinking import loop_with_mask
from export_engine.fixes.try_fixes import remember
from export_engine.in_eager import RAISES
from export_engine.source import original_file
from export_engine.torch_internals import graphs_left_out

_ASKED = (ast.If, ast.IfExp, ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.BoolOp)
_QUESTIONS = frozenset(
    [
        *("bool", "float", "int", "item", "len", "equal", "allclose"),
        *("min", "max", "any", "all", "sum", "map"),
    ]
)
_ALL = (*_ASKED, ast.NamedExpr, ast.Match, ast.UnaryOp, ast.Compare, ast.Assert, ast.Expr)

_APART = {"none": name_presence, "grown": append_grown}
_MOST_SPLITS = 3
"""Branches whose rest is written twice."""
_ERRORS = frozenset({Kind.OWN_ERROR, Kind.OPERATOR_FAILED})


class Rewritten(NamedTuple):
    """A function whose staged sites are torch's operators."""

    edit: Edit
    done: tuple[tuple[int, str], ...]
    """Each site's line, and what became of it: where, cond, scan, vmap, while_loop, check, mask,
    index, skip or shortcut."""
    needs_strict: bool = False
    """Whether torch exports it in strict mode only."""
    trials: tuple[Edit, ...] = ()
    """Texts that must agree with eager as well: an iteration in them raises an error if it
    needs what a rewritten one does not have."""
    probes: tuple[Edit, ...] = ()
    """For each shortcut that is left out: the text with an error where eager takes it."""


class Staged(NamedTuple):
    """A function, and what a run of its normal form told."""

    file: str
    text: str
    function: Function
    names: Names
    facts: Facts
    request: Request
    trial: str = ""
    """A text that must agree with eager as well."""
    splits: frozenset[Site] = frozenset()
    """The branches of which both ways go on to the end of their block, each by itself."""
    apart: frozenset[tuple[str, ...]] = frozenset()
    """The names whose values are of two parts, each with how, as in `Unequal`."""

    @property
    def where(self) -> tuple[Request, str, str]:
        """What `probe` took first."""
        return self.request, self.file, self.text


def is_asked(text: str, line: int, kind: Kind) -> bool:
    """Whether a line asks Python for a way, as the test of a branch does, or for an element."""
    try:
        function = parse_function(text, line)
    except CannotRewrite:
        return False
    if kind is Kind.OUTPUT_FROM_DATA:
        return True
    for node in ast.walk(function.node):
        part: ast.AST | None = None
        match node:
            case ast.If(test=part) | ast.IfExp(test=part) | ast.Assert(test=part):
                pass
            case ast.For() | ast.While() | ast.ListComp() | ast.GeneratorExp():
                part = node
            case ast.Subscript(slice=ast.JoinedStr() | ast.Call()) if kind in _ERRORS:
                part = node
            case ast.Subscript() if kind is Kind.GRAPH_BREAK:
                part = node
            case ast.Match() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                part = node
            case ast.Call(ast.Name(id=called) | ast.Attribute(attr=called)):
                part = node if called in _QUESTIONS else None
        if part is not None and _start(part) <= line <= (getattr(part, "end_lineno", 0) or 0):
            return True
    return _makes_list(function.node, line)


def _makes_list(function: ast.FunctionDef, line: int) -> bool:
    """Whether a line makes what a loop of the function may go through."""
    nodes = list(ast.walk(function))
    if not any(isinstance(node, ast.For | ast.ListComp | ast.GeneratorExp) for node in nodes):
        return False
    for node in nodes:
        if _start(node) <= line <= (getattr(node, "end_lineno", 0) or 0):
            match node:
                case ast.Call(ast.Attribute(attr="tolist" | "unbind" | "split" | "chunk")):
                    return True
                case ast.BinOp(ast.List(), ast.Mult(), _):
                    return True
    return False


def _start(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def rewrite(request: Request, file: str, text: str, line: int) -> Rewritten:
    """The function around a line, with every site that Python cannot decide as an operator.

    As `probe` and `lower`.
    """
    return lower(probe(request, file, text, line))


def probe(
    request: Request,
    file: str,
    text: str,
    line: int,
    splits: frozenset[Site] = frozenset(),
    apart: frozenset[tuple[str, ...]] = frozenset(),
) -> Staged:
    """The function around a line, and what torch cannot decide in it.

    One export runs its normal form; nothing of that is kept but facts.

    Args:
        request: with the edits in effect so far.
        file: that the line is in.
        text: of the file, as it is in effect.
        line: in the text.
        splits: branches of which both ways go on to the end of their block.
        apart: names whose values are of two parts, as `Unequal` tells.

    Raises:
        CannotRewrite: it cannot be run in another form.
    """
    file = original_file(file)
    function = parse_function(text, line)
    key = (id(request), file, text, function.node.lineno, splits, apart)
    result = remember(key, request, lambda: _probe(request, file, text, function, splits, apart))
    if isinstance(result, CannotRewrite):
        raise result
    return result


def _probe(
    request: Request,
    file: str,
    text: str,
    function: Function,
    splits: frozenset[Site],
    apart: frozenset[tuple[str, ...]],
) -> Staged | CannotRewrite:
    try:
        function, trial = loop_with_mask(function)
        for how, name in sorted(apart):
            function = _APART[how](function, name)
        function = name_parts(list_deques(function))
        function = cut_pieces(append_in_order(loop_over_all(function)))
        names = Names(function.node)
        normal = Normal(function, names, _may_be_staged, is_probed=True, splits=splits)
        message = instrument(function, normal.find_form())
        facts = _run(request, Edit(file, text, message, (function.name,)))
    except CannotRewrite as reason:
        return reason
    return Staged(file, text, function, names, facts, request, trial, splits, apart)


def _may_be_staged(node: ast.AST) -> bool:
    return isinstance(node, _ALL)


def lower(staged: Staged, each: str = "vmap") -> Rewritten:
    """A function with every site that Python cannot decide as an operator.

    Where no op selects between what the ways of a branch give, both go on by themselves.

    Args:
        staged: the function, and what a run of it told.
        each: what iterations that need no other one become: vmap, scan or map.

    Raises:
        CannotRewrite: it cannot be, or no site is staged.
    """
    try:
        return _lower(staged, each)
    except Unequal as reason:
        splits, apart = staged.splits, staged.apart
        line = (staged.function.origin or staged.function.node).body[0].lineno
        if reason.apart and reason.apart not in apart:
            with suppress(CannotRewrite):
                return lower(probe(*staged.where, line, splits, apart | {reason.apart}), each)
        if reason.site is None or reason.site in splits or len(splits) == _MOST_SPLITS:
            raise
        with suppress(CannotRewrite):
            return lower(probe(*staged.where, line, splits | {reason.site}, apart), each)
        raise


def _lower(staged: Staged, each: str) -> Rewritten:
    file, text, function, names, facts, _, trial, splits, _ = staged
    names = names.copy()
    normal = Normal(function, names, facts.is_staged, splits=splits)
    body = normal.find_form()
    for node in (n for statement in normal.holding for n in ast.walk(statement)):
        if isinstance(node, ast.Call) and find_site(node) in facts.own_methods:
            raise CannotRewrite(f"line {node.lineno} may read or write the same attributes")
    lowering = Lowering(function, facts, names, each=each)
    lowering.synthetic |= normal.synthetic
    lowered = lowering.lower(body)
    lowering.done = lowering.done or [(line, "index") for line in lowering.answers.lines]
    if not lowering.done:
        raise NotStaged("nothing in the function depends on data or on a dynamic size")
    after = emit(function, lowered)
    ast.parse(after)
    done = tuple(dict.fromkeys(sorted(lowering.done)))
    edit = Edit(file, text, after, (function.name,))
    probes = [replace(edit, after=_raising(text, shortcut)) for shortcut in lowering.shortcuts]
    trials = (replace(edit, after=trial),) if trial else ()
    return Rewritten(edit, done, lowering.needs_strict, trials, tuple(probes))


def _raising(text: str, value: ast.expr) -> str:
    """A text with an error in the place of a value."""
    lines = text.split("\n")
    line = lines[value.lineno - 1].encode()
    data = line[: value.col_offset] + RAISES.encode() + line[value.end_col_offset :]
    lines[value.lineno - 1] = data.decode()
    return "\n".join(lines)


def _run(request: Request, edit: Edit) -> Facts:
    """Facts from an export of the instrumented function, or from a second one."""
    incomplete: _Incomplete | None = None
    for keeps_symbols in (False, True):
        try:
            facts = _run_once(request, edit, keeps_symbols=keeps_symbols)
            if facts.grown:
                facts = _run_once(request, edit, keeps_symbols=keeps_symbols, tensors=facts.grown)
            if facts.is_mixed:
                raise CannotRewrite("only some calls decide a test in Python")
            return facts
        except _Incomplete as error:
            incomplete = error
            if not error.facts.reads_whole:
                break
    if not str(incomplete):
        raise NotStaged("its simplified form fails while tracing")
    assert incomplete is not None
    raise incomplete


class _Incomplete(CannotRewrite):
    """The function did not run to its end."""

    def __init__(self, reason: str, facts: Facts) -> None:
        super().__init__(reason)
        self.facts = facts


def _run_once(
    request: Request,
    edit: Edit,
    *,
    keeps_symbols: bool,
    tensors: Mapping[str, torch.dtype] | None = None,
) -> Facts:
    try:
        changed = request.with_edit(edit).with_changes(strict=False)
        with probing(keeps_symbols=keeps_symbols, tensors=tensors) as probe, graphs_left_out():
            attempt = capture(changed)
    except EditError as error:
        raise CannotRewrite("the function cannot run in a rewritten form") from error
    facts = probe.facts
    if not facts.was_reached:
        raise NotStaged("the export does not call the function")
    if facts.was_left:
        return facts
    reason: BaseException | None = attempt.error if isinstance(attempt, Failed) else None
    while reason is not None and not isinstance(reason, CannotRewrite):
        reason = reason.__cause__ or reason.__context__
    raise _Incomplete(str(reason or ""), facts)
