"""Tab completion after `%export`: options, and names and keyword arguments for the call.

No user code runs: names are looked up in objects' dictionaries.
"""

from __future__ import annotations

import builtins
import inspect
import re
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.getipython import get_ipython

from kernel_ext.command import DEVICE, FLAGS, OPTIONS, RUN

_LINE = re.compile(r"\s*(?:[^\W\d]\w*\s*=\s*)?%{1,2}export\s(?P<rest>.*)", re.DOTALL)
_OPTION = re.compile(r"""\s*(-[\w-]+)(?:(?:\s+|=)((?:"[^"]*"|'[^']*'|[^\s"'])+))?(?=\s)""")
_NAME = re.compile(r"[^\W\d]\w*$")
_OPEN_CALL = re.compile(r"([^\W\d][\w.]*)\((?:[^()]|\([^()]*\))*$")
_NOISE = {"IPCompleter.magic_matcher", "IPCompleter.file_matcher"}
"""IPython matchers that do not apply inside a call."""


@context_matcher(identifier="kernel_ext.export", priority=200)  # type: ignore[untyped-decorator]
def export_matcher(context: CompletionContext) -> SimpleMatcherResult:
    """Completions on a line of `%export`, besides IPython's own."""
    line = _LINE.fullmatch(context.line_with_cursor[: context.cursor_position])
    shell = get_ipython()
    if line is None or shell is None:
        return _result([])
    rest, option = _without_options(f" {line['rest']}")
    if option and option != "-D":
        return _result([])
    if option or rest.strip()[:1] not in ("", "-"):
        return _names(rest, shell.user_ns)
    word = rest.strip()
    texts = [text for text in OPTIONS if text.startswith(word)]
    return _result(texts if word else [*_callables(shell), *texts], word, suppress=True)


def _callables(shell: Any) -> list[str]:
    """The user's callables: modules and functions."""
    return [
        name
        for name, value in shell.user_ns.items()
        if callable(value) and not name.startswith("_") and name not in shell.user_ns_hidden
    ]


def _names(call: str, namespace: dict[str, Any]) -> SimpleMatcherResult:
    """Names and keyword arguments at the end of an unfinished call; attributes are IPython's."""
    match = _NAME.search(call)
    fragment = match.group() if match else ""
    before = call[: len(call) - len(fragment)].rstrip()
    if before.endswith(".") or not (fragment or before.endswith(("(", ","))):
        return _result([])
    names = [f"{keyword}=" for keyword in _keywords(before, namespace)]
    names += [text for text in namespace if fragment.startswith("_") or not text.startswith("_")]
    names += dir(builtins) if fragment else []
    texts = [name for name in dict.fromkeys(names) if name.startswith(fragment)]
    return _result(texts, fragment, _NOISE)


def _without_options(rest: str) -> tuple[str, str]:
    """The text after the whole options, and the option whose value is being typed."""
    while match := _OPTION.match(rest):
        option, value = match.groups()
        if option not in OPTIONS or (option not in (*FLAGS, RUN) and value is None):
            return rest, option
        takes = option not in FLAGS and (option != RUN or DEVICE.fullmatch(f" {value}"))
        end = match.end() if takes else match.end(1)
        rest = rest[end:]
    return rest, ""


def _keywords(before: str, namespace: dict[str, Any]) -> list[str]:
    """The keyword arguments of the call that is open at the end of a text."""
    match = _OPEN_CALL.search(before)
    if match is None:
        return []
    callee = _held(match.group(1).split("."), namespace)
    forward = inspect.getattr_static(type(callee), "forward", callee)
    try:
        parameters = inspect.signature(forward).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        parameter.name
        for parameter in parameters
        if parameter.kind in kinds and parameter.name != "self"
    ]


def _held(path: list[str], namespace: dict[str, Any]) -> Any:
    """The object of a dotted name, without running a property."""
    value = namespace.get(path[0])
    for name in path[1:]:
        held = getattr(value, "__dict__", {})
        modules = held.get("_modules", {})
        if name in held or name in modules:
            value = held.get(name, modules.get(name))
            continue
        value = inspect.getattr_static(type(value), name, None)
    return value


def _result(
    found: list[str], fragment: str = "", suppress: bool | set[str] = False
) -> SimpleMatcherResult:
    return {
        "completions": [SimpleCompletion(text) for text in found],
        "matched_fragment": fragment,
        "suppress": suppress if found else False,
    }
