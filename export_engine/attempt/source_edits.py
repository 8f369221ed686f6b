"""Edits: source text of the user's functions, changed for one capture only.

Nothing is written to a file and no module object changes: while a capture runs, the functions
concerned run code compiled from the changed text, and then their own again.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import gc
import linecache
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import CodeType, FunctionType, ModuleType

from export_engine.process import undone
from export_engine.source import format_diff, make_edited_name, original_file


@dataclass(frozen=True)
class Edit:
    """One file or notebook cell, as it is and as it should be. The whole text of both."""

    file: str
    """As Python knows it: the `co_filename` of the functions in it."""
    before: str
    after: str
    functions: tuple[str, ...]
    """Qualified names of the functions that differ: `Model.forward`."""

    @property
    def edited_file(self) -> str:
        """Python's file name of the changed text, the `co_filename` of what runs instead."""
        return make_edited_name(self.file, self.after)

    def diff(self, name: str) -> str:
        """The change as a unified diff.

        Args:
            name: what to call the file.
        """
        return format_diff(self.before, self.after, name)


class EditError(ValueError):
    """An edit that cannot be run. Its text can be shown unchanged."""


def text_in_effect(edits: Sequence[Edit], file: str, line: int) -> tuple[str, int]:
    """The text that edits have made of a file, and where one of its lines is in it.

    Args:
        edits: those in effect.
        file: a file, or the `edited_file` of one of them.
        line: a line of that file; a function that no edit is about still runs the original.
    """
    for edit in edits:
        if file == edit.edited_file:
            return edit.after, line
        if file == edit.file:
            return edit.after, _line_after(edit, line)
    return "".join(linecache.getlines(file)), line


def _line_after(edit: Edit, line: int) -> int:
    """Where a line of the original is in the changed text."""
    old, new = edit.before.splitlines(), edit.after.splitlines()
    for match in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        if match.a < line <= match.a + match.size:
            return line - match.a + match.b
    return line


def line_before(edit: Edit, line: int) -> int:
    """The line of the original that a line of the changed text was made from.

    Of lines that replace others it is the one at their place, or the last of fewer.
    """
    old, new = edit.before.splitlines(), edit.after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for _, begin, end, begun, ended in matcher.get_opcodes():
        if begun < line <= ended:
            return min(begin + line - begun, max(end, begin + 1))
    return line


def combine_edits(edits: Sequence[Edit], new: Edit) -> tuple[Edit, ...]:
    """The edits with another in effect, made on what they had made of its file."""
    old = next((edit for edit in edits if edit.file == new.file), None)
    others = tuple(edit for edit in edits if edit is not old)
    if old is None:
        return (*others, new)
    functions = tuple(dict.fromkeys([*old.functions, *new.functions]))
    return (*others, Edit(new.file, old.before, new.after, functions))


@undone
def apply_edits(edits: Sequence[Edit]) -> Iterator[None]:
    """Runs the changed text of the functions concerned, wherever they are reached from.

    Raises:
        EditError: the text is not valid Python, or has no such function to run instead.
    """
    living = _living({edit.file for edit in edits})
    swaps = [swap for edit in edits for swap in _swaps(edit, living[edit.file])]
    own = [(function, function.__code__) for function, _ in swaps]
    try:
        for function, code in swaps:
            function.__code__ = code
        yield
    finally:
        for function, code in own:
            function.__code__ = code


@undone
def functions_remembered() -> Iterator[None]:
    """Inside, the functions of a file are looked for once, as a search for fixes edits it often.

    Functions of modules imported meanwhile are still found.
    """
    if _remembered:
        yield
        return
    _remembered.append({})
    try:
        yield
    finally:
        _remembered.clear()


_remembered: list[dict[str, list[FunctionType]]] = []
"""The functions of files, as they were found; empty outside of `functions_remembered`."""


def _living(files: set[str]) -> dict[str, dict[str, list[FunctionType]]]:
    """Every function that exists of these files, by file and qualified name."""
    groups: dict[str, dict[str, list[FunctionType]]] = {file: {} for file in files}
    if not files:
        return groups
    entries = _remembered[0] if _remembered else {}
    entries |= _find_functions(files - entries.keys())
    for function in chain(*(entries[file] for file in files), _of_modules(files)):
        code = function.__code__
        if code.co_filename in files:
            same = groups[code.co_filename].setdefault(code.co_qualname, [])
            if function not in same:
                same.append(function)
    return groups


def _find_functions(files: set[str]) -> dict[str, list[FunctionType]]:
    """The functions of files, among them those that run edited code of theirs."""
    groups: dict[str, list[FunctionType]] = {file: [] for file in files}
    if not files:
        return groups
    # Every function refers to Python's builtins: they are found in half the time of all objects.
    # Not isinstance, which asks a weak reference for what it refers to.
    for referrer in gc.get_referrers(builtins.__dict__):
        if type(referrer) is FunctionType:
            name = referrer.__code__.co_filename
            home = original_file(name) if name.endswith(")") else name
            if home in groups:
                groups[home].append(referrer)
    return groups


_IN_MODULE, _IN_CLASS = (vars(kind)["__dict__"].__get__ for kind in (ModuleType, type))
"""The names in them as they are: to ask for one could load a module, or run code of the user's."""


def _of_modules(files: set[str]) -> Iterator[FunctionType]:
    """The functions that modules of these files define: new ones, and what `gc.freeze()` hides."""
    loaded: dict[str, object] = dict(sys.modules)  # which may hold anything
    modules = {name: _IN_MODULE(e) for name, e in loaded.items() if issubclass(type(e), ModuleType)}
    modules = {name: inside for name, inside in modules.items() if inside.get("__file__") in files}
    waiting, met = list(modules.values()), set[int]()
    for inside in waiting:
        for value in list(inside.values()):
            if type(value) is FunctionType:
                yield value
            elif issubclass(type(value), type) and id(value) not in met:
                met.add(id(value))
                own = _IN_CLASS(value)
                home = own.get("__module__")
                waiting += [own] if type(home) is str and home in modules else []


def _swaps(
    edit: Edit, living: dict[str, list[FunctionType]]
) -> list[tuple[FunctionType, CodeType]]:
    """Every living function that an edit is about, and the code that it is to run."""
    file = edit.edited_file
    linecache.cache[file] = (len(edit.after), None, edit.after.splitlines(True), file)
    try:
        module = compile(edit.after, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise EditError(
            f"The edited source is not valid Python: {error.msg}, line {error.lineno}"
        ) from error
    whole, swaps = _by_name(module), []
    for wanted in edit.functions:
        new, places = whole, _places(edit.before)
        inner = [name for name in new if name.startswith(f"{wanted}.<locals>.")]
        names = [name for name in (wanted, *inner) if name in new and name in living]
        if wanted in new and not names:
            new = _by_name(_compile(edit.after, file, wanted))
            places = _places(edit.before, wanted)
            names = [name for name in new if name in living]
        if not names:
            raise EditError(
                f"{wanted} cannot be found; run the cell or the import that defines it."
            )
        for name in names:
            for function in living[name]:
                code = _counterpart(function.__code__, places.get(name, []), new[name])
                if code is None:
                    continue
                if code.co_freevars != function.__code__.co_freevars:
                    raise EditError(f"{name} now uses different variables of its enclosing scope.")
                swaps.append((function, code))
    return swaps


@lru_cache(maxsize=16)
def _places(text: str, within: str = "") -> dict[str, list[int]]:
    """The first lines of a text's functions, by their qualified names; many edits have one text."""
    groups = _by_name(_compile(text, "<before>", within))
    return {name: [code.co_firstlineno for code in codes] for name, codes in groups.items()}


def _compile(text: str, file: str, within: str = "") -> CodeType | None:
    """A text as code; None for one that is not valid Python, such as a cell with a magic.

    Args:
        text: of a file or a cell.
        file: what Python calls it.
        within: the name of functions, of which only the bodies are compiled: marimo runs the body
            of a cell's function by itself, as a module, so what it defines has its own names.
    """
    try:
        tree = ast.parse(text, file)
        if within:
            functions = (ast.FunctionDef, ast.AsyncFunctionDef)
            cells = [statement for statement in tree.body if isinstance(statement, functions)]
            bodies = [statement for cell in cells if cell.name == within for statement in cell.body]
            tree.body = [_WithoutReturns().visit(statement) for statement in bodies]
        return compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


class _WithoutReturns(ast.NodeTransformer):
    """Leaves out what only a function can have; definitions inside it are unchanged."""

    def visit_Return(self, node: ast.Return) -> ast.Pass:
        return ast.copy_location(ast.Pass(), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node


def _by_name(module: CodeType | None) -> dict[str, list[CodeType]]:
    """The functions of a file by their qualified names, in the order of the text."""
    groups: dict[str, list[CodeType]] = {}
    for code in _codes(module) if module is not None else ():
        groups.setdefault(code.co_qualname, []).append(code)
    return {name: sorted(codes, key=lambda c: c.co_firstlineno) for name, codes in groups.items()}


def _counterpart(code: CodeType, places: list[int], new: list[CodeType]) -> CodeType | None:
    """The edited code of a function; of several with its name, the one at its place in the text.

    None where the edit made another number of them, so that their places say nothing.
    """
    if len(new) == 1 and len(places) < 2:
        return new[0]
    if len(places) != len(new) or code.co_firstlineno not in places:
        return None
    return new[places.index(code.co_firstlineno)]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
