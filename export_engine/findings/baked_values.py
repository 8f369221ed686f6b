"""Python values that change from call to call, and that the program has as constants.

Reads the source of the functions that ops come from. A call such as `time.time()` or `id(x)`, or an
attribute that the trace changed, gives a value of the moment; what is assigned from it is one, too,
and so is what a function returns from it. Where an op on such a line has a number in its arguments,
that number is baked in; where a branch asks for one, the branch is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from export_engine.attempt import Exported
from export_engine.findings.finding import Finding, Kind
from export_engine.findings.program_ops import Op, ops_of
from export_engine.record import Record
from export_engine.source import Code, Location, Stack, code_of, is_own

_CALLS = frozenset(
    {"id", "hash", "input", "os.getenv", "os.urandom", "os.getpid", "os.environ.get"}
    | {"uuid.uuid1", "uuid.uuid4", "datetime.now", "datetime.utcnow", "date.today"}
    | {"datetime.datetime.now", "datetime.date.today", "os.times", "secrets.randbelow"}
    | {
        f"time.{name}"
        for name in ("time", "time_ns", "monotonic", "perf_counter", "perf_counter_ns", "monotonic")
    }
    | {
        f"random.{name}"
        for name in ("random", "randint", "randrange", "uniform", "gauss", "choice", "getrandbits")
    }
    | {f"{np}.random.{name}" for np in ("np", "numpy") for name in ("rand", "randn", "randint")}
    | {f"{np}.random.{name}" for np in ("np", "numpy") for name in ("uniform", "normal", "random")}
)
"""Calls that give another value each time, by the names they are imported under as a rule."""
_ROUNDS = 4


def found(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per line."""
    changed = {
        each.name.rpartition(".")[2]
        for each in exported.recording.changes
        if each.owner != "closure"
    }
    ops = [op for op in ops_of(exported.program) if op.node.stack_trace]
    by_file: dict[str, list[tuple[Op, Location]]] = {}
    for op in ops:
        for location in op.stack:
            if is_own(location.file):
                by_file.setdefault(location.file, []).append((op, location))
    for path, here in by_file.items():
        code = code_of(path)
        if code is not None:
            yield from _in_file(code, here, changed)


def _in_file(code: Code, here: list[tuple[Op, Location]], changed: set[str]) -> Iterator[Finding]:
    momentary = _Momentary(code, changed)
    if not momentary.any():
        return
    lines: dict[int, list[tuple[Op, Location]]] = {}
    for op, location in here:
        lines.setdefault(location.line, []).append((op, location))
    said: set[ast.AST] = set()
    for line, at_line in lines.items():
        statement = code.statement(line)
        source = momentary.source_in(statement) if statement is not None else None
        constants = [op for op, _ in at_line if _has_number(op)]
        if source is None or not constants or isinstance(statement, _COMPOUND):
            continue
        if source not in said:
            said.add(source)
            yield _finding(code, source, constants[0], at_line[0][1])
    ran = {id(code.function(code.statement(line) or code.tree)) for line in lines}
    for branch in momentary.branches():
        if id(code.function(branch)) in ran:
            yield _branch(code, branch, momentary, here[0][1].file)


_COMPOUND = (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)


class _Momentary:
    """Which expressions of a file have a value of the moment."""

    def __init__(self, code: Code, changed: set[str]) -> None:
        self._code = code
        self._changed = changed
        self._imported = dict(_imports(code.tree))
        self._names: set[tuple[int, str]] = set()
        """Local names, each with its function."""
        self._attributes: set[str] = set()
        self._functions: set[str] = set()
        self._sources = [node for node in ast.walk(code.tree) if self._is_source(node)]
        for _ in range(_ROUNDS if self._sources else 0):
            self._spread()

    def any(self) -> bool:
        """Whether there is any."""
        return bool(self._sources)

    def source_in(self, node: ast.AST) -> ast.AST | None:
        """The first such expression in a node."""
        for each in ast.walk(node):
            if self._is_momentary(each):
                return each
        return None

    def branches(self) -> Iterator[ast.If | ast.IfExp | ast.While]:
        """Branches that ask for such a value."""
        for node in ast.walk(self._code.tree):
            if isinstance(node, ast.If | ast.IfExp | ast.While) and self.source_in(node.test):
                yield node

    def _is_source(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return self._dotted(node.func) in _CALLS
        read = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        return read and isinstance(node, ast.Attribute) and node.attr in self._changed

    def _is_momentary(self, node: ast.AST) -> bool:
        if self._is_source(node):
            return True
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                return (id(self._code.function(node)), name) in self._names
            case ast.Attribute(attr=name, ctx=ast.Load()):
                return name in self._attributes
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                return name in self._functions
        return False

    def _spread(self) -> None:
        """What is assigned or returned from such a value is one."""
        for node in ast.walk(self._code.tree):
            match node:
                case ast.Assign(targets=targets, value=value):
                    self._assign(node, targets, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign(node, [target], value)
                case ast.AugAssign(target=target, value=value):
                    self._assign(node, [target], value)
                case ast.Return(value=ast.expr() as value) if self._plain(value):
                    function = self._code.function(node)
                    if function is not None and function.name != "forward":
                        self._functions.add(function.name)

    def _assign(self, node: ast.AST, targets: Iterable[ast.expr], value: ast.expr) -> None:
        if not self._plain(value):
            return
        for target in targets:
            if isinstance(target, ast.Name):
                self._names.add((id(self._code.function(node)), target.id))
            elif isinstance(target, ast.Attribute):
                self._attributes.add(target.attr)

    def _plain(self, value: ast.expr) -> bool:
        """Whether a value is of the moment and no tensor: what a tensor op gives from it is one."""
        source = self.source_in(value)
        if source is None:
            return False
        names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
        inside = {each.id for each in ast.walk(source) if isinstance(each, ast.Name)}
        return not (names - inside - _KNOWN - set(self._imported)) or isinstance(value, ast.Call)

    def _dotted(self, function: ast.expr) -> str:
        text = ast.unparse(function) if isinstance(function, ast.Name | ast.Attribute) else ""
        first, dot, rest = text.partition(".")
        return f"{self._imported.get(first, first)}{dot}{rest}"


_KNOWN = {"int", "float", "round", "abs", "len", "min", "max", "bool", "str", "self", "sum"}


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What names stand for: `t` for `time`, `now` for `time.time`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.asname or each.name, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                yield each.asname or each.name, f"{node.module}.{each.name}"


def _has_number(op: Op) -> bool:
    """Whether an op has a Python number among its tensors: what a value baked in looks like."""
    values = [*op.node.args, *op.node.kwargs.values()]
    tensors = any(hasattr(value, "meta") for value in values)
    numbers = any(type(value) in (int, float) for value in values)
    made = not tensors and any(name in op.name for name in ("full", "scalar_tensor", "arange"))
    return numbers and (tensors or made)


def _finding(code: Code, source: ast.AST, op: Op, location: Location) -> Finding:
    stack = op.stack
    text = code.text(source)
    number = next((each for each in op.node.args if type(each) in (int, float)), None)
    shown = f", {number}," if number is not None else ""
    return Finding(
        kind=Kind.BAKED_VALUE,
        severity="wrong",
        sentence=(
            f"The value of `{text}` while tracing{shown} is baked into the program as a constant."
        ),
        why="It changes with each call in eager; in the program it never does. Pass it in as a "
        "tensor.",
        stack=_upto(stack, location),
        node=op.position,
    )


def _branch(
    code: Code, branch: ast.If | ast.IfExp | ast.While, momentary: _Momentary, path: str
) -> Finding:
    function = code.function(branch)
    source = momentary.source_in(branch.test)
    text = code.text(source) if source is not None else ""
    return Finding(
        kind=Kind.BAKED_VALUE,
        severity="wrong",
        sentence=f"The branch on `{code.text(branch.test)}` was specialized while tracing.",
        why=f"`{text}` changes with each call in eager; the program always takes the branch that "
        "was traced.",
        stack=(Location(path, branch.lineno, function.name if function else ""),),
    )


def _upto(stack: Stack, location: Location) -> Stack:
    """A stack down to one of its frames."""
    return stack[: stack.index(location) + 1] if location in stack else stack
