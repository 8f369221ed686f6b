"""Python values that change from call to call, baked into the program as constants.

A call such as `time.time()` or `id(x)`, or an attribute that the trace changed, gives a momentary
value. If it becomes an op's argument, that number is baked in; if a branch depends on it, the
branch is. Only functions that the call may run count: what `__init__` reads belongs to the model.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TypeGuard

import torch

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind
from export_engine.findings.kept_state import KeptState
from export_engine.findings.program_ops import Op, ops_of
from export_engine.findings.reachable_code import find_reached_code, in_eval_mode
from export_engine.findings.value_flow import Momentary, SourceFile, source_files
from export_engine.record import Record
from export_engine.source import Location, Stack, is_own
from export_engine.trace import Change

_CALLS = frozenset(
    {"id", "hash", "input", "os.urandom", "os.getpid", "os.getppid", "os.times", "os.getloadavg"}
    | {"datetime.now", "datetime.utcnow", "date.today"}
    | {f"uuid.uuid{number}" for number in (1, 3, 4, 5)}
    | {
        f"datetime.{name}"
        for name in ("datetime.now", "datetime.utcnow", "date.today", "datetime.today")
    }
    | {
        f"time.{name}{unit}"
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
        for unit in ("", "_ns")
    }
    | {f"time.{name}" for name in ("localtime", "gmtime", "ctime", "strftime")}
    | {
        f"random.{name}"
        for name in (
            *("random", "randint", "randrange", "uniform", "gauss", "choice", "getrandbits"),
            *("normalvariate", "triangular", "betavariate", "expovariate", "choices", "sample"),
        )
    }
    | {f"secrets.{name}" for name in ("randbelow", "choice", "randbits", "token_bytes")}
    | {
        f"{np}.random.{name}"
        for np in ("np", "numpy")
        for name in (
            *("rand", "randn", "randint", "uniform", "normal", "random", "random_sample"),
            *("choice", "permutation", "standard_normal", "exponential"),
        )
    }
)
"""Calls that return a new value each time, by module."""
_COMPOUND = (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)

Line = list[tuple[Op, Location]]
"""The ops that come from a line, or through it."""


def check_baked_values(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per source of such a value."""
    agreement = exported.agreement
    tried = agreement is not None and agreement.verdict == "agrees"
    yield from momentary_values(exported, caches=not tried)


def momentary_values(exported: Exported, caches: bool = True) -> list[Finding]:
    """The same, without a Record.

    Args:
        exported: a program that was made here.
        caches: whether attributes count that keep no number, such as a table that grows. They do
            not where eager answers a call the same after other calls.
    """
    return list(_check_state_changes(exported, caches))


def _check_state_changes(exported: Exported, caches: bool) -> Iterator[Finding]:
    kept = [
        (change, effect)
        for change, effect in KeptState(exported).changes
        if change.owner != "closure" and effect != "same" and (caches or change.counts)
    ]
    sure = {_last(change) for change, effect in kept if effect == "other"}
    unsure = {_last(change) for change, effect in kept if effect == "unknown"} - sure
    counted = {_last(change) for change, _ in kept if change.counts}
    lines = lines_of(exported)
    numbered = {path: list(at) for path, at in lines.items()}
    files = source_files(numbered, find_reached_code(exported), is_own, in_eval_mode(exported))
    told: set[tuple[str, int]] = set()
    for names in (sure, unsure) if unsure else (sure,):
        calls = _list_calls(exported) if names is sure else frozenset()
        numbers = Momentary(files, partial(_is_source, names & counted, calls))
        decisions = Momentary(files, partial(_is_source, names, calls))
        for file in files:
            findings = [*_numbers(file, numbers, lines.get(file.path, {}))] if numbers.any else []
            for finding in (*findings, *_branches(file, decisions)):
                if names is sure or finding.stack[-1][:2] not in told:
                    told.add(finding.stack[-1][:2])
                    yield finding if names is sure else _lower_severity(finding)


def _list_calls(exported: Exported) -> frozenset[str]:
    """The calls whose value tracing bakes in; strict mode draws NumPy's numbers with ops."""
    if exported.request is None or not exported.request.strict:
        return _CALLS
    return frozenset(call for call in _CALLS if not call.startswith(("np.", "numpy.")))


def _last(change: Change) -> str:
    return change.name.rpartition(".")[2]


def _lower_severity(finding: Finding) -> Finding:
    """The same of state of which the source does not tell what a later call makes of it."""
    return replace(
        finding, severity="surprising", why=rules.BakedValue.UNDECIDED_WHY(), decided_by="state"
    )


def _is_source(changed: set[str], calls: frozenset[str], file: SourceFile, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=function):
            return bool(calls) and file.qualify(function) in calls
        case ast.Attribute(value=owner, attr=name, ctx=ast.Load()) if name in changed:
            return not hasattr(torch.Tensor, name) or _is_self(owner)
    return False


def _is_self(owner: ast.expr) -> bool:
    """Whether an attribute is the model's, or of what it holds; `x.shape` is a tensor's."""
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id == "self"


def lines_of(exported: Exported) -> dict[str, dict[int, Line]]:
    """The ops of each line, per user file."""
    groups: dict[str, dict[int, Line]] = {}
    for op in ops_of(exported.program):
        for location in op.stack if op.node.stack_trace else ():
            if is_own(location.file):
                groups.setdefault(location.file, {}).setdefault(location.line, []).append(
                    (op, location)
                )
    return groups


def _numbers(file: SourceFile, momentary: Momentary, lines: dict[int, Line]) -> Iterator[Finding]:
    sources: set[ast.AST] = set()
    for line, here in lines.items():
        statement = file.code.statement(line)
        if statement is None or isinstance(statement, _COMPOUND) or not file.runs(statement):
            continue
        source = momentary.source_in(file, statement)
        if source is None or source in sources:
            continue
        constants = constants_of(here, statement, source)
        if constants:
            sources.add(source)
            yield _finding(file.code.text(source), constants, here[0])


def constants_of(here: Line, statement: ast.stmt, source: ast.AST) -> list[tuple[Op, float]]:
    """The numbers in the arguments of a line's ops that are not literals of the line.

    Literals inside the source of the value do not count: `random.choice([1.5, 2.5])`. Those of ops
    inside a function of torch's or a layer, such as a dropout's p, only where the line's own ops
    have none.
    """
    inside = set(ast.walk(source))
    literals = Counter(
        abs(node.value)
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and _is_number(node.value) and node not in inside
    )
    numbers = []
    for op, location in sorted(here, key=lambda each: each[0].stack[-1] != each[1]):
        for number in _numbers_of(op):
            if literals[abs(number)] > 0:
                literals[abs(number)] -= 1
            else:
                numbers.append((op, location, number))
    own = [(op, number) for op, location, number in numbers if op.stack[-1] == location]
    return own or [(op, number) for op, _, number in numbers]


def _numbers_of(op: Op) -> list[float]:
    """The Python numbers among an op's arguments, which may be baked-in values."""
    values = [*op.node.args, *op.node.kwargs.values()]
    tensors = any(hasattr(value, "meta") for value in values)
    is_made = not tensors and any(name in op.name for name in ("full", "scalar_tensor", "arange"))
    if not (tensors or is_made):
        return []
    return [value for value in values if _is_number(value)]


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) in (int, float)


def _finding(text: str, constants: list[tuple[Op, float]], first: tuple[Op, Location]) -> Finding:
    """Names the number and the op if there is a candidate; else only the line."""
    certain = len({(op.position, number) for op, number in constants}) == 1
    op, number = constants[0]
    shown = f", {number}," if certain else ""
    return Finding(
        kind=Kind.BAKED_VALUE,
        severity="wrong",
        sentence=(rules.BakedValue.VALUE(code=text, shown=shown)),
        why=rules.BakedValue.VALUE_WHY(),
        stack=_upto(first[0].stack, first[1]),
        node=op.position if certain else -1,
    )


def _branches(file: SourceFile, momentary: Momentary) -> Iterator[Finding]:
    for branch, asked in momentary.branches(file):
        source = momentary.source_in(file, asked)
        text = file.code.text(source) if source is not None else ""
        yield Finding(
            kind=Kind.BAKED_VALUE,
            severity="wrong",
            sentence=rules.BakedValue.BRANCH(code=file.code.text(asked)),
            why=rules.BakedValue.BRANCH_WHY(code=text),
            stack=place_of(file, branch),
        )


def place_of(file: SourceFile, node: ast.stmt | ast.expr) -> Stack:
    """The line that a node begins at."""
    function = file.code.function(node)
    return (Location(file.path, node.lineno, function.name if function else ""),)


def _upto(stack: Stack, location: Location) -> Stack:
    """A stack down to one of its frames."""
    return stack[: stack.index(location) + 1] if location in stack else stack
