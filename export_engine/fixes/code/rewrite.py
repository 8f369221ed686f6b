"""Rewrites one place of a file's text: finds the code at a line, and changes its function."""

from __future__ import annotations

import ast
from typing import NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from export_engine.fixes.code.conditions import Unclear
from export_engine.fixes.code.if_to_cond import Surroundings, as_cond, conditional_as_cond
from export_engine.fixes.code.liveness import read_again
from export_engine.fixes.code.variables import bound, heads, read, tree_of

Replaced = list[cst.BaseStatement]


class Rewritten(NamedTuple):
    """A text with one function changed."""

    text: str
    function: str
    """Its qualified name; of one inside another, the outermost's."""


def branch_to_cond(text: str, line: int) -> Rewritten:
    """The text with the `if`, or the conditional expression, at a line written with torch.cond.

    Raises:
        Unclear: there is none at that line, or it cannot be rewritten soundly.
    """
    return _rewritten(text, _Branch(line))


def without_bool(text: str, line: int) -> Rewritten:
    """The text without `bool(...)` and `.item()` at a line, so that a flag stays a tensor.

    Raises:
        Unclear: there is neither at that line.
    """
    return _rewritten(text, _Flag(line))


def write_in_the_open(text: str, line: int) -> Rewritten:
    """The text with `.data` at a line as `.detach()`, a write that tracing sees.

    Raises:
        Unclear: there is no `.data` at that line.
    """
    return _rewritten(text, _Data(line))


class _Rewriter(cst.CSTTransformer):
    """Changes the innermost function around a line."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.done = False
        self.lacks_torch = False
        """Whether the text never mentions `torch`, so the name may be undefined."""
        self.path: list[str] = []
        self.changed: str | None = None
        """Qualified name of the function that was changed."""

    def spans(self, node: cst.CSTNode) -> bool:
        """Whether the line is one of a node's."""
        place = self.get_metadata(PositionProvider, node)
        return bool(place.start.line <= self.line <= place.end.line)

    def finish(self) -> None:
        """Records that the change was made in the visited function."""
        self.done = True
        self.changed = ".".join(self.path).removesuffix(".<locals>")

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.path.append(node.name.value)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        self.path.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.path += [node.name.value, "<locals>"]

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        del self.path[-2:]
        if self.done and self.lacks_torch and "<locals>" not in self.path:
            self.lacks_torch = False
            return _with_import(updated_node)
        return updated_node

    def visit_Lambda(self, node: cst.Lambda) -> None:
        self.path += ["<lambda>", "<locals>"]

    def leave_Lambda(self, original_node: cst.Lambda, updated_node: cst.Lambda) -> cst.Lambda:
        del self.path[-2:]
        return updated_node


class _Branch(_Rewriter):
    """`if` and `a if b else c`."""

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if not self.done and self.spans(original_node):
            block = original_node.body
            if isinstance(block, cst.IndentedBlock):
                known = _parameters(original_node)
                body = self._in_block(list(block.body), known, frozenset(), ends_function=True)
                if body is not None:
                    self.finish()
                    updated_node = original_node.with_changes(body=block.with_changes(body=body))
        return super().leave_FunctionDef(original_node, updated_node)

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        if self.done or not self.spans(original_node) or not self.path:
            return updated_node
        self.finish()
        return conditional_as_cond(original_node)

    def _in_block(
        self, body: Replaced, known: frozenset[str], later: frozenset[str], ends_function: bool
    ) -> Replaced | None:
        """A block with the branch in it rewritten; None where it is not in it."""
        for number, statement in enumerate(body):
            before = known | set(bound(tree_of(body[:number])))
            rest = body[number + 1 :]
            used = later | read(tree_of(rest))
            if isinstance(statement, cst.If) and self._is_it(statement):
                around = Surroundings(before, tuple(rest), used, ends_function)
                made, takes_rest = as_cond(statement, around)
                return [*body[:number], *made, *([] if takes_rest else rest)]
            if self.spans(statement):
                inner = self._inside(statement, before, used)
                return None if inner is None else [*body[:number], inner, *rest]
        return None

    def _inside(
        self, statement: cst.BaseStatement, known: frozenset[str], used: frozenset[str]
    ) -> cst.BaseStatement | None:
        """A statement with the branch somewhere in its blocks rewritten."""
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            return None  # a separate function
        if isinstance(statement, cst.For | cst.While):
            (loop,) = tree_of([statement]).body
            assert isinstance(loop, ast.For | ast.While)
            used = used | read_again(loop)  # by the next iteration
        known = known | heads(tree_of([statement]))
        for part in ("body", "orelse"):
            suite = getattr(statement, part, None)
            if isinstance(suite, cst.If):
                changed = self._in_block([suite], known, used, ends_function=False)
                if changed is not None:
                    raise Unclear(
                        "an `elif` that depends on data: rewrite the `if` before it first"
                    )
                continue
            block = suite.body if isinstance(suite, cst.Else) else suite
            if isinstance(block, cst.IndentedBlock):
                body = self._in_block(list(block.body), known, used, ends_function=False)
                if body is not None:
                    inner: cst.CSTNode = block.with_changes(body=body)
                    if isinstance(suite, cst.Else):
                        inner = suite.with_changes(body=inner)
                    return statement.with_changes(**{part: inner})
        return None

    def _is_it(self, statement: cst.If) -> bool:
        test = self.get_metadata(PositionProvider, statement.test)
        return bool(test.start.line <= self.line <= test.end.line)


class _Flag(_Rewriter):
    """`bool(x)` and `x.item()`."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if self.done or not self.path or not self.spans(original_node):
            return updated_node
        function = updated_node.func
        if isinstance(function, cst.Name) and function.value == "bool" and updated_node.args:
            self.finish()
            return updated_node.args[0].value.with_changes(
                lpar=[cst.LeftParen()], rpar=[cst.RightParen()]
            )
        return updated_node


class _Data(_Rewriter):
    """`x.data`."""

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        is_data = updated_node.attr.value == "data"
        if self.done or not self.path or not is_data or not self.spans(original_node):
            return updated_node
        self.finish()
        return cst.Call(updated_node.with_changes(attr=cst.Name("detach")))


def _rewritten(before: str, rewriter: _Rewriter) -> Rewritten:
    if not before:
        raise Unclear("the source text is not available")
    try:
        rewriter.lacks_torch = not _says_torch(ast.parse(before))
        module = MetadataWrapper(cst.parse_module(before), unsafe_skip_copy=True).visit(rewriter)
    except (cst.ParserSyntaxError, SyntaxError) as error:
        raise Unclear("the source text is not valid Python") from error
    if not rewriter.done or rewriter.changed is None:
        raise Unclear("there is no such statement in a function at that line")
    return Rewritten(module.code, _outermost(rewriter.changed))


def _outermost(name: str) -> str:
    """The module-level function: a nested one is created again whenever the outer one runs."""
    return name.split(".<locals>", maxsplit=1)[0]


def _says_torch(tree: ast.Module) -> bool:
    """Whether the name is imported or used; a notebook's cell may use another's import."""
    return any(
        (isinstance(node, ast.Name) and node.id == "torch")
        or (isinstance(node, ast.alias) and node.name == "torch" and node.asname is None)
        for node in ast.walk(tree)
    )


def _with_import(function: cst.FunctionDef) -> cst.FunctionDef:
    """The function with `import torch` before its first statement, behind its docstring."""
    block = function.body
    if not isinstance(block, cst.IndentedBlock):
        raise Unclear("the function is written on one line")
    at = 0 if function.get_docstring() is None else 1
    body = [*block.body[:at], cst.parse_statement("import torch"), *block.body[at:]]
    return function.with_changes(body=block.with_changes(body=body))


def _parameters(function: cst.FunctionDef) -> frozenset[str]:
    tree = ast.parse(cst.Module(body=[function.with_changes(decorators=[])]).code.strip())
    return frozenset(each.arg for each in ast.walk(tree) if isinstance(each, ast.arg))
