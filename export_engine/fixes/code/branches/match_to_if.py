"""A `match` of plain values as an `if` with its `elif`s, which other rewrites take."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans


def match_as_if(text: str, line: int) -> tuple[Rewritten, int]:
    """The text with the `match` at a line as an `if`, and the line of its first test.

    Raises:
        Unclear: there is none, or a case is more than values, names and guards.
    """
    source = Source(text, line)
    found = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Match) and _asks(node, line)
    ]
    if not found:
        raise Unclear("there is no `match` at that line")
    match = found[-1]
    indent = source.indent(match)
    subject, lines = free_name("_matched", source.names), list[str]()
    for number, case in enumerate(match.cases):
        test = _test(source, case, subject)
        word = "elif" if number else "if"
        if test is None and number < len(match.cases) - 1:
            raise Unclear("a case that always holds is not the last")
        if test is None and not number:
            raise Unclear("the only case always holds")
        lines.append(f"{indent}{f'{word} {test}' if test is not None else 'else'}:")
        body = source.block_at(indent + "    ", case.body)
        lines += body
    first = f"{subject} = {source.of(_read(match.subject))}"
    end = source.line_end(match.cases[-1].body[-1])
    made = "\n".join([first, *lines])
    return source.changed([Piece(source.start(match), end, made)]), match.lineno + 1


def _read(subject: ast.expr) -> ast.expr:
    """What a subject is read of: `x` of `x.item()`, whose comparisons are tensors then."""
    called = subject.func if isinstance(subject, ast.Call) and not subject.args else None
    if isinstance(called, ast.Attribute) and called.attr == "item":
        return called.value
    return subject


def _asks(match: ast.Match, line: int) -> bool:
    """Whether a match compares at a line: at its subject, or at a pattern."""
    patterns = [each.pattern for each in match.cases]
    at_pattern = any(each.lineno <= line <= each.end_lineno for each in patterns)
    return spans(match.subject, line) or at_pattern


def _test(source: Source, case: ast.match_case, subject: str) -> str | None:
    """When a case is taken; None if always."""
    if case.guard is not None:
        raise Unclear("a case has a guard")
    tests = _tests(source, case.pattern, subject)
    return " or ".join(tests) if tests is not None else None


def _tests(source: Source, pattern: ast.pattern, subject: str) -> list[str] | None:
    match pattern:
        case ast.MatchAs(pattern=None, name=None):
            return None
        case ast.MatchValue(value=value):
            return [f"{subject} == {source.of(value)}"]
        case ast.MatchOr(patterns=patterns):
            found = [_tests(source, each, subject) for each in patterns]
            if None in found:
                return None
            return [test for each in found if each is not None for test in each]
    raise Unclear("a case is more than values")
