"""Why a run failed, as a sentence."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from export_engine.defects import message_of
from export_engine.error_text import is_bare
from export_engine.source import user_error

_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory|bad_alloc", re.I)
_DEVICE = re.compile(
    r"(cuda|hip|xpu|mps)\w* error|device-side assert|no (cuda )?devices? (is|are)|device.*\blost\b",
    re.I,
)
_UNBOUNDED = re.compile(r"upper bound|unbounded|int_oo|maximum size", re.I)
_PLACE = re.compile(r"Exception from |Check '|Traceback |File \"")
"""Starts of lines that say where something failed, not what."""
_MOST = 220
_COMPARED_WITH = {"eager": "The model itself", "program": "The exported program"}


def sentence_of(
    error: BaseException, title: str, device: str, stage: str, program: str = "this program"
) -> str:
    """One sentence that says what failed and, if known, what to do.

    Args:
        error: what was raised.
        title: the backend's.
        device: where it ran.
        stage: `inputs`, `compile` or `run`; `eager` or `program` where what it is compared with
            failed.
        program: how to call the program: its name, where there are several.
    """
    text = _chain(error)
    if isinstance(error, MemoryError) or _MEMORY.search(text):
        return _out_of_memory(device)
    if device != "cpu" and _DEVICE.search(text):
        return f"{device} has failed. Restart the kernel to use it again."
    if isinstance(error, ImportError):
        return f"{title} is only partly installed: {_short(message_of(error))}"
    if type(error) is ValueError and stage == "compile" and "eager model" in text:
        return message_of(error)
    if stage == "inputs":
        return user_error(error) or f"The inputs cannot be copied: {_find_telling_line(error, '')}"
    if stage in _COMPARED_WITH:
        return f"{_COMPARED_WITH[stage]} fails with these inputs: {_find_telling_line(error, '')}"
    verb = "compile" if stage == "compile" else "run"
    telling_line = _find_telling_line(error, title if stage == "compile" else "")
    hint = ""
    if _UNBOUNDED.search(text) and stage == "compile":
        hint = " Give every size an upper bound: batch[..64]."
    return f"{title} cannot {verb} {program}: {telling_line}{hint}"


@contextmanager
def memory_told(device: str) -> Iterator[None]:
    """Raise a MemoryError if torch finds no memory on a device inside."""
    try:
        yield
    except RuntimeError as error:
        if not _MEMORY.search(message_of(error)):
            raise
        raise MemoryError(_out_of_memory(device)) from error


def _out_of_memory(device: str) -> str:
    return f"Out of memory on {device}. Try smaller sizes."


def detail_of(error: BaseException) -> str:
    """The error's own text, cut only if extremely long."""
    return f"{type(error).__name__}: {message_of(error)}"[:4000]


def _chain(error: BaseException) -> str:
    """The texts of an error and of those that led to it."""
    texts: list[str] = []
    at: BaseException | None = error
    while at is not None and len(texts) < 8:
        texts.append(message_of(at))
        at = at.__cause__ or at.__context__
    return "\n".join(texts)


def _find_telling_line(error: BaseException, compiler: str) -> str:
    """The most telling line; where that is a name alone, also where that was.

    Of a `compiler`'s error also what to do; that of a run may be the model's own.
    """
    at = _find_root_cause(error)
    line = _last_line(at)
    if line and not is_bare(at, " ".join(message_of(at).split())):
        return _short(line)
    raised = _short(_describe_raise(at, line) if line else _describe_raise(error))
    if not compiler:
        return raised
    return (
        f'{raised} There are no further details. Decompose the program, `.decompose("core")`, or '
        f"report it to {compiler.partition(' (')[0]}."
    )


def _find_root_cause(error: BaseException) -> BaseException:
    """The error that led to another, as far back as one says anything."""
    at: BaseException = error
    while at.__cause__ is not None and message_of(at.__cause__).strip():
        at = at.__cause__
    return at


def _last_line(at: BaseException) -> str:
    """The most telling line: the first of an error's text that is not a location."""
    lines = [line.strip() for line in message_of(at).splitlines()]
    texts = [line for line in lines if re.search(r"\w{3}", line)]
    return next((line for line in texts if not _PLACE.match(line)), texts[0] if texts else "")


def _describe_raise(error: BaseException, text: str = "") -> str:
    """The type and text of an error, where it was raised, and by what line."""
    kind = f"{type(error).__name__}: {text}" if text else type(error).__name__
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None:
        return kind
    file = at.tb_frame.f_code.co_filename
    parts = PurePath(file).parts
    names = parts[parts.index("site-packages") + 1 :] if "site-packages" in parts else parts[-1:]
    line = linecache.getline(file, at.tb_lineno).strip()
    message = f": `{line}`" if line else ""
    return f"{kind} at {'/'.join(names)}:{at.tb_lineno}{message}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    text = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    return text if not text or text[-1] in ".!?…" else f"{text}."
