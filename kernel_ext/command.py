"""The line of `%export`: options first, then the call. Pure: nothing is evaluated here."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass

from kernel_ext.errors import ExportUsageError, pointing

OPTIONS = {
    "--strict": "trace the bytecode; refuse what cannot be proved",
    "--non-strict": "run the Python with fake tensors (the default)",
    "--both": "try both modes and show them side by side",
    "-d": 'what may vary: -d "x: batch[2..64], _; y: batch, *"',
    "--dynamic": "the same as -d",
    "-D": "what may vary, as a Python expression without spaces or in quotes",
    "--as": "keep the result under this name",
    "--load": "open a .pt2 file instead of exporting a call",
    "--no-display": "export, but show nothing",
}
_VALUED = {
    "-d": "dynamic",
    "--dynamic": "dynamic",
    "-D": "expression",
    "--as": "name",
    "--load": "load",
}
_FLAGS = {"--strict", "--non-strict", "--both", "--no-display"}
_WORD = re.compile(r"""(?:[^\s"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+""")


@dataclass(frozen=True)
class Command:
    """What a line asks for."""

    call: str
    """The call's source text; empty where it is in the cell, or with `load`."""
    mode: str = "non-strict"
    """`strict`, `non-strict` or `both`."""
    dynamic: str | None = None
    """Shapes in the short language."""
    expression: str | None = None
    """Python source of `dynamic_shapes`."""
    name: str | None = None
    load: str | None = None
    display: bool = True


def parse_command(line: str) -> Command:
    """The command of a line.

    Raises:
        ExportUsageError: an unknown option, one without its value, or two that exclude each other.
    """
    given: dict[str, str] = {}
    flags: list[str] = []
    at = 0
    while (match := _WORD.match(line, _skip_space(line, at))) and match.group().startswith("-"):
        option, _, value = match.group().partition("=")
        at = match.end()
        if option in _FLAGS:
            flags.append(option)
        elif option in _VALUED:
            if not value:
                following = _WORD.match(line, _skip_space(line, at))
                if following is None:
                    raise pointing(f"{option} needs a value: {OPTIONS[option]}", line, len(line))
                value, at = following.group(), following.end()
            given[_VALUED[option]] = _unquoted(value, line, at)
        else:
            known = ", ".join(sorted(_FLAGS | set(_VALUED)))
            raise pointing(f"There is no option {option}. Options: {known}", line, match.start())
    return _command(line[_skip_space(line, at) :].rstrip(), given, flags)


def _command(call: str, given: dict[str, str], flags: list[str]) -> Command:
    modes = [flag for flag in flags if flag != "--no-display"]
    if len(set(modes)) > 1:
        raise ExportUsageError(f"{' and '.join(modes)} exclude each other; give one of them.")
    if "dynamic" in given and "expression" in given:
        raise ExportUsageError("-d and -D both say what is dynamic; give one of them.")
    if "name" in given and not given["name"].isidentifier():
        raise ExportUsageError(f"--as {given['name']}: that is no name for a variable.")
    return Command(
        call=call,
        mode=modes[0].removeprefix("--") if modes else "non-strict",
        display="--no-display" not in flags,
        **given,
    )


def split_cell(cell: str) -> tuple[str, str]:
    """The statements of a cell before its last, and the text of the last.

    Raises:
        ExportUsageError: the cell is empty, or does not parse.
    """
    try:
        body = ast.parse(cell).body
    except SyntaxError as error:
        raise _syntax_error(error, cell) from error
    if not body:
        raise ExportUsageError("The cell is empty. End it with a call: model(x)")
    lines = cell.splitlines(keepends=True)
    last = body[-1]
    before = "".join(lines[: last.lineno - 1]) + lines[last.lineno - 1][: last.col_offset]
    return before, ast.get_source_segment(cell, last) or ""


@dataclass(frozen=True)
class Call:
    """A call taken apart; each part is Python source to evaluate in the user's namespace."""

    text: str
    function: str
    args: list[tuple[bool, str]]
    """Positional arguments: whether it is `*starred`, and its source."""
    kwargs: list[tuple[str | None, str]]
    """Keyword arguments; None as the name of a `**mapping`."""
    assigned: str | None = None
    """The variable in `name = model(x)`."""


def parse_call(text: str) -> Call:
    """A call's parts, without evaluating any.

    Raises:
        ExportUsageError: the text is no call.
    """
    if not text:
        raise ExportUsageError(
            "Give the call to export: %export model(x)\n%export? lists the options."
        )
    try:
        statements = ast.parse(text).body
    except SyntaxError as error:
        raise _syntax_error(error, text) from error
    statement = statements[0] if len(statements) == 1 else None
    assigned = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        assigned = statement.targets[0].id
    call = getattr(statement, "value", None)
    if isinstance(call, ast.Await):
        raise ExportUsageError("A call with await cannot be exported; export the model it awaits.")
    if not isinstance(call, ast.Call) or len(statements) != 1:
        raise ExportUsageError(
            f"Not a call: {text}\nWrite the model with its example inputs: model(x)"
        )
    return _taken_apart(text, call, assigned)


def _taken_apart(text: str, call: ast.Call, assigned: str | None) -> Call:
    def source(node: ast.AST) -> str:
        return ast.get_source_segment(text, node) or ast.unparse(node)

    args = [
        (True, source(each.value)) if isinstance(each, ast.Starred) else (False, source(each))
        for each in call.args
    ]
    kwargs = [(each.arg, source(each.value)) for each in call.keywords]
    return Call(source(call), source(call.func), args, kwargs, assigned)


def _syntax_error(error: SyntaxError, text: str) -> ExportUsageError:
    lines = text.splitlines() or [""]
    number = min(max(error.lineno or 1, 1), len(lines))
    return pointing(f"This is no Python: {error.msg}", lines[number - 1], (error.offset or 1) - 1)


def _skip_space(line: str, at: int) -> int:
    while at < len(line) and line[at].isspace():
        at += 1
    return at


def _unquoted(value: str, line: str, end: int) -> str:
    try:
        return "".join(shlex.split(value, posix=True)) if value[:1] in "\"'" else value
    except ValueError as error:
        raise pointing("This quote is not closed", line, end - len(value)) from error
