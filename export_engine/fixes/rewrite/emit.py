"""Statements as text: what was left alone as the user wrote it, comments included."""

from __future__ import annotations

import ast
import io
import tokenize

from export_engine.fixes.rewrite.form import Block, Function, Node, find_site

_STEP = "    "
_WIDTH = 100
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Tuple)


def emit(function: Function, body: Block) -> str:
    """The file's text with another body of a function."""
    return _Printer(function).print_file(body)


class _Printer:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.lines = function.text.split("\n")
        self.origin = function.origin or function.node
        self.own = {id(node) for node in ast.walk(self.origin)}
        self.ends = _find_ends(self.origin)
        self.statements = {
            (node.lineno, node.col_offset): node
            for node in ast.walk(self.origin)
            if isinstance(node, ast.stmt)
        }
        self.trailing = _find_trailing(function.text)
        self.noted: set[int] = set()
        """Lines of comments that are printed already."""

    def print_file(self, body: Block) -> str:
        node = self.function.node
        first = self.origin.body[0]
        before = self.ends[first.lineno]
        indent = self.lines[first.lineno - 1][: first.col_offset]
        texts = _tidy_blank_lines(self._block(body, indent))
        return "\n".join([*self.lines[:before], *texts, *self.lines[node.end_lineno or 0 :]])

    def _block(self, statements: Block, indent: str) -> list[str]:
        texts: list[str] = []
        for statement in statements:
            texts += self._statement(statement, indent)
        return texts or [f"{indent}pass"]

    def _statement(self, node: ast.stmt, indent: str) -> list[str]:
        if id(node) in self.own:
            return self._verbatim(node, indent)
        before = self._comments(node, indent)
        match node:
            case ast.If() | ast.For() | ast.While() | ast.FunctionDef():
                texts = self._print_compound(node, indent)
            case _:
                texts = self._text(node, indent)
        return [*before, *texts]

    def _print_compound(self, node: ast.stmt, indent: str) -> list[str]:
        body, other = node.body, getattr(node, "orelse", [])  # type: ignore[attr-defined]
        shell = type(node)(**{**dict(ast.iter_fields(node)), "body": [ast.Pass()]})
        if hasattr(shell, "orelse"):
            shell.orelse = []
        head = self._text(ast.copy_location(shell, node), indent)[:-1]
        result = [*head, *self._block(body, indent + _STEP)]
        if other:
            result += [f"{indent}else:", *self._block(other, indent + _STEP)]
        if isinstance(node, ast.FunctionDef):
            result = ["", *result, ""]
        return result

    def _text(self, node: ast.stmt, indent: str) -> list[str]:
        """A new statement; expressions of the user's in it as they were written."""
        quoting = _Quoting(self.function.text, self.own)
        quoted = ast.fix_missing_locations(quoting.visit(node))
        text = ast.unparse(quoted)
        for name, segment in quoting.segments.items():
            text = text.replace(name, segment)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and node.value.elts:
            text = f"return {text[len('return (') : -1]}"
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and node.value.elts:
            target, _, value = text.partition(" = ")
            text = f"{target} = {value[1:-1]}" if value.startswith("(") else text
        if len(indent) + len(text) > _WIDTH and "\n" not in text:
            text = _wrap_call(text)
        return [f"{indent}{line}" if line else "" for line in text.split("\n")]

    def _verbatim(self, node: ast.stmt, indent: str) -> list[str]:
        before = self._comments(node, indent)
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        if self.lines[node.lineno - 1][: node.col_offset].strip():  # behind another statement
            text = ast.get_source_segment(self.function.text, node) or ast.unparse(node)
            return [*before, *(f"{indent}{line}" for line in text.split("\n"))]
        rest = lines[-1].encode()[node.end_col_offset or 0 :].decode().strip()
        if rest and not rest.startswith("#"):
            lines[-1] = lines[-1].encode()[: node.end_col_offset].decode()
        return [*before, *_reindent(lines, node.col_offset, indent)]

    def _comments(self, node: ast.stmt, indent: str) -> list[str]:
        """The blank lines and comments above the statement that a node is, or was made from."""
        line, column = find_site(node)[:2]
        origin = self.statements.get((line, column))
        if origin is None or line in self.noted:
            return []
        self.noted.add(line)
        above = self.lines[self.ends[line] : line - 1]
        kept = [text for text in above if not text.strip() or text.lstrip().startswith("#")]
        result = _reindent(kept, origin.col_offset, indent)
        if hasattr(origin, "body") and id(node) not in self.own and line in self.trailing:
            result.append(f"{indent}{self.trailing[line]}")  # of a head that is printed again
        return result


class _Quoting(ast.NodeTransformer):
    """Puts names in the places of expressions that the user wrote, in a copy."""

    def __init__(self, text: str, own: set[int]) -> None:
        self.text, self.own = text, own
        self.segments: dict[str, str] = {}
        self.parent: ast.AST | None = None

    def visit(self, node: ast.AST) -> ast.AST:
        """A node, in a copy."""
        if isinstance(node, ast.expr) and id(node) in self.own and not _is_store(node):
            return self._quote(node)
        return self._parts(node)

    def _parts(self, node: Node) -> Node:
        result = type(node)()
        for attribute in node._attributes:
            if hasattr(node, attribute):
                setattr(result, attribute, getattr(node, attribute))
        outer, self.parent = self.parent, node
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                value = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]  # noqa: PLW2901
            elif isinstance(value, ast.AST):
                value = self.visit(value)  # noqa: PLW2901
            setattr(result, field, value)
        self.parent = outer
        return result

    def _quote(self, node: ast.expr) -> ast.expr:
        segment = ast.get_source_segment(self.text, node)
        if segment is None or "\n" in segment or isinstance(node, ast.Slice | ast.Tuple):
            return node
        if not isinstance(node, _ATOMS) and not isinstance(
            self.parent, ast.stmt | ast.Call | ast.keyword | ast.Tuple | ast.List
        ):
            return self._parts(node)
        if isinstance(node, ast.Constant) and isinstance(self.parent, ast.Attribute):
            segment = f"({segment})"
        name = f"_ee_quoted_{len(self.segments)}_"
        self.segments[name] = segment
        return ast.Name(name, ast.Load())


def _is_store(node: ast.expr) -> bool:
    return any(not isinstance(getattr(n, "ctx", ast.Load()), ast.Load) for n in ast.walk(node))


def _find_trailing(text: str) -> dict[int, str]:
    """The comments after code, by line."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {
        token.start[0]: token.string
        for token in tokens
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()
    }


def _find_ends(function: ast.FunctionDef) -> dict[int, int]:
    """The last line before each statement."""
    result: dict[int, int] = {}

    def walk(block: Block, above: int) -> None:
        for statement in block:
            result.setdefault(statement.lineno, above)
            head = statement.lineno
            for part in ("body", "orelse", "finalbody"):
                inner = getattr(statement, part, None)
                if inner and isinstance(inner, list) and isinstance(inner[0], ast.stmt):
                    first = min(n.lineno for n in inner)
                    start = _last_of_head(statement) if part == "body" else head
                    walk(inner, min(start, first - 1))
                    head = max(n.end_lineno or 0 for n in inner)
            for case in getattr(statement, "cases", ()):
                walk(case.body, case.body[0].lineno - 1)
            above = statement.end_lineno or statement.lineno

    node = function
    head = max(
        [node.lineno, *(n.end_lineno or 0 for n in ast.walk(node.args) if hasattr(n, "end_lineno"))]
    )
    if node.returns is not None:
        head = max(head, node.returns.end_lineno or 0)
    walk(node.body, min(head, node.body[0].lineno - 1))
    return result


def _tidy_blank_lines(lines: list[str]) -> list[str]:
    """Lines without repeated blank ones, or blank ones after a header or at the end."""
    result: list[str] = []
    for line in lines:
        if line or (result and result[-1] and not result[-1].endswith(":")):
            result.append(line)
    while result and not result[-1]:
        result.pop()
    if result and not result[0]:
        result.pop(0)
    return result


def _wrap_call(text: str) -> str:
    """A call on several lines, an argument on each."""
    value = getattr(ast.parse(text.removeprefix("return ")).body[0], "value", None)
    if not isinstance(value, ast.Call) or value.keywords:
        return text
    function = ast.unparse(value.func)
    head = text[: text.index(f"{function}(") + len(function) + 1]
    texts = [f"{_STEP}{ast.unparse(argument)}," for argument in value.args]
    return "\n".join([head, *texts, ")"])


def _last_of_head(node: ast.stmt) -> int:
    part = getattr(node, "test", None) or getattr(node, "iter", None)
    return getattr(part, "end_lineno", None) or node.lineno


def _reindent(lines: list[str], column: int, indent: str) -> list[str]:
    """Lines with another indent, where they have the one they had."""
    old = " " * column
    if old == indent:
        return lines
    return [indent + line[column:] if line.startswith(old) else line for line in lines]
