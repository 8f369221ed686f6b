"""Finds expressions with values from outside the model, and follows where they go.

Some calls and attributes give such a value: the time, a setting of torch, a tensor's memory layout.
Names assigned from it and results of functions that return it also count. It reads source and runs
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from export_engine.findings.only_in_training import only_in_training
from export_engine.findings.reachable_code import Reached
from export_engine.source import Code, code_of

_ROUNDS = 4
IsSource = Callable[["SourceFile", ast.AST], bool]
"""A test whether an expression of a file has such a value."""


class SourceFile:
    """A file of the user's, with the functions in it that a call may run."""

    def __init__(
        self, path: str, code: Code, reached: Reached, lines: Iterable[int], in_eval: bool
    ) -> None:
        """Make one.

        Args:
            path: of it.
            code: its tree.
            reached: functions that a call may run.
            lines: those that ops of the program come from.
            in_eval: whether all of the model is in eval mode.
        """
        self.path = path
        self._in_eval = in_eval
        self.code = code
        self._imported = code.imported
        self._reached = {line for file, line in reached if file == path}
        self._with_ops = {
            id(self.code.function(statement))
            for line in lines
            if (statement := code.statement(line)) is not None
        }

    @cached_property
    def running(self) -> Mapping[int, ast.AST]:
        """The nodes in functions that a call may run, or nested in one, by `id`.

        Only these functions are walked: the file may be long.
        """
        nodes: dict[int, ast.AST] = {}
        for function in self.code.functions:
            called = id(function) in self._with_ops or _first_line(function) in self._reached
            if called and id(function) not in nodes:
                nodes |= {id(inner): inner for inner in islice(ast.walk(function), 1, None)}
                for node in only_in_training(function) if self._in_eval else ():
                    nodes.pop(id(node), None)
        return nodes

    def runs(self, node: ast.AST) -> bool:
        """Whether a node is in a function that a call may run, or nested in one."""
        return id(node) in self.running

    def qualify(self, function: ast.AST) -> str:
        """`t()` as `time.time`, if it was imported under that name."""
        text = ast.unparse(function) if isinstance(function, ast.Name | ast.Attribute) else ""
        first, dot, rest = text.partition(".")
        return f"{self._imported.get(first, first)}{dot}{rest}"

    def is_import(self, name: str) -> bool:
        """Whether a name was imported."""
        return name in self._imported


class Momentary:
    """Which expressions of some files have such a value, followed through names and functions."""

    def __init__(self, files: Sequence[SourceFile], is_source: IsSource) -> None:
        """Make one.

        Args:
            files: the user's.
            is_source: which expressions give such a value.
        """
        self._is_source = is_source
        self._names: set[tuple[int, str]] = set()
        """Local names, each with its function."""
        self._attributes: set[str] = set()
        self._functions: set[str] = set()
        self.any = any(is_source(file, node) for file in files for node in file.running.values())
        """Whether there is any."""
        for _ in range(_ROUNDS if self.any else 0):
            for file in files:
                self._spread(file)

    def source_in(self, file: SourceFile, node: ast.AST) -> ast.AST | None:
        """The first such expression in a node."""
        return next(self.sources_in(file, node), None)

    def sources_in(self, file: SourceFile, node: ast.AST) -> Iterator[ast.AST]:
        """All such expressions in a node."""
        nodes = (inner for inner in ast.walk(node) if file.runs(inner))
        return (node for node in nodes if self._is_momentary(file, node))

    def branches(self, file: SourceFile) -> Iterator[tuple[ast.stmt | ast.expr, ast.expr]]:
        """The branches that depend on such a value, with their conditions."""
        for node in file.running.values() if self.any else ():
            for asked in _iter_conditions(node):
                if isinstance(node, ast.stmt | ast.expr) and self.source_in(file, asked):
                    yield node, asked

    def _is_momentary(self, file: SourceFile, node: ast.AST) -> bool:
        if self._is_source(file, node):
            return True
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                return (id(file.code.function(node)), name) in self._names
            case ast.Attribute(attr=name, ctx=ast.Load()):
                return name in self._attributes
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                return name in self._functions
        return False

    def _spread(self, file: SourceFile) -> None:
        """Follows such a value through assignments and returns."""
        for node in file.running.values():
            match node:
                case ast.Assign(targets=targets, value=value):
                    self._assign(file, node, targets, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign(file, node, [target], value)
                case ast.AugAssign(target=target, value=value):
                    self._assign(file, node, [target], value)
                case ast.NamedExpr(target=target, value=value):
                    self._assign(file, node, [target], value)
                case ast.Return(value=ast.expr() as value) if self._plain(file, value):
                    function = file.code.function(node)
                    if function is not None and function.name != "forward":
                        self._functions.add(function.name)

    def _assign(
        self, file: SourceFile, node: ast.AST, targets: Iterable[ast.expr], value: ast.expr
    ) -> None:
        if not self._plain(file, value):
            return
        for target in targets:
            if isinstance(target, ast.Name):
                self._names.add((id(file.code.function(node)), target.id))
            elif isinstance(target, ast.Attribute):
                self._attributes.add(target.attr)

    def _plain(self, file: SourceFile, value: ast.expr) -> bool:
        """Whether a value is such and not a tensor; results of tensor ops are tensors."""
        source = self.source_in(file, value)
        if source is None or _is_in_tensor_call(file, value, source):
            return False
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        inside = {node.id for node in ast.walk(source) if isinstance(node, ast.Name)}
        others = {name for name in names - inside - _KNOWN if not file.is_import(name)}
        return not others or isinstance(value, ast.Call)


def _is_in_tensor_call(file: SourceFile, value: ast.expr, source: ast.AST) -> bool:
    """Whether an expression is in the arguments of a call that gives a tensor.

    `torch.ones(n, device=x.device)` is on that device, and is not itself a device.
    """
    for ancestor in file.code.ancestors(source):
        if isinstance(ancestor, ast.keyword) and ancestor.arg in ("device", "dtype", "layout"):
            return True
        if isinstance(ancestor, ast.Call) and source is not ancestor.func:
            method = ancestor.func.attr if isinstance(ancestor.func, ast.Attribute) else ""
            inside = any(source is one for arg in ancestor.args for one in ast.walk(arg))
            if inside and (
                file.qualify(ancestor.func).startswith("torch.") or method in _TENSOR_METHODS
            ):
                return True
        if ancestor is value:
            break
    return False


_TENSOR_METHODS = ("to", "type", "type_as", "copy_", "fill_", "new_tensor", "new_full")
_KNOWN = {"int", "float", "round", "abs", "len", "min", "max", "bool", "str", "self", "sum"}


def source_files(
    lines: dict[str, list[int]],
    reached: Reached,
    is_user_file: Callable[[str], bool],
    in_eval: bool,
) -> list[SourceFile]:
    """The user's files with code that a call may run.

    Args:
        lines: per file, those that ops of the program come from.
        reached: the functions that a call may run.
        is_user_file: whose a file is.
        in_eval: whether all of the model is in eval mode.
    """
    paths = dict.fromkeys([*lines, *(path for path, _ in sorted(reached))])
    return [
        SourceFile(path, code, reached, lines.get(path, ()), in_eval)
        for path in paths
        if is_user_file(path) and (code := code_of(path)) is not None
    ]


def _iter_conditions(node: ast.AST) -> Iterator[ast.expr]:
    """The condition of a statement or an expression."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield test
        case ast.Assert(test=test) | ast.Match(subject=test):
            yield test
        case ast.For(iter=looped):
            yield looped
        case ast.ListComp(generators=generators) | ast.GeneratorExp(generators=generators):
            yield from (
                test for generator in generators for test in (*generator.ifs, generator.iter)
            )


def _first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([function.lineno, *(expression.lineno for expression in function.decorator_list)])
