"""The cases of the installed torch, as plain data."""

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from typing import Any

import torch

from export_engine.attempt import Request
from export_engine.diagnose import kinds_explained_by
from export_engine.exportdb.case_source import request_of
from export_engine.exportdb.text_search import find_matching
from export_engine.plain_errors import PlainError
from export_engine.record import CaseInput, ExportCase
from export_engine.torch_internals import LibraryCase, exportdb_library, short_dtype
from export_engine.traced_sizes import leaf_values

_MYPY = re.compile(r"^# mypy: .*\n", re.MULTILINE)
"""Comments for a type checker, which are not part of a case."""
_BLANK_LINES = re.compile(r"\n{3,}")


class NoSuchCase(PlainError, ValueError):
    """There is no case of this name. Its text can be shown unchanged."""


@lru_cache(maxsize=1)
def cases() -> tuple[ExportCase, ...]:
    """All cases, by name; none where this torch has no ExportDB."""
    return tuple(_case(library_case) for library_case in exportdb_library())


def torch_version() -> str:
    """The version of torch that the cases are from."""
    return str(torch.__version__)


def case(name: str) -> ExportCase:
    """The case of a name. Raises NoSuchCase."""
    entries = {entry.name: entry for entry in cases()}
    if name not in entries:
        near = difflib.get_close_matches(name, entries, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else " %exportdb lists them."
        raise NoSuchCase(
            f"torch {torch.__version__} has {len(entries)} "
            "cases in its ExportDB, and none is called "
            f"{name!r}.{hint}"
        )
    return entries[name]


def search(query: str) -> list[ExportCase]:
    """The cases that have every word in their name, tags, description or source.

    A query that is one tag, `torch.cond`, gives the cases of that tag alone.
    """
    tagged = [entry for entry in cases() if query.strip() in entry.tags]
    if tagged:
        return tagged
    return find_matching(
        cases(),
        query,
        lambda each: (
            f"{each.name} {each.name.replace('_', ' ')} {each.title}",
            " ".join([*each.tags, each.level]),
            f"{each.description} {' '.join(each.explains)}",
            each.source,
        ),
    )


def _case(declared: LibraryCase) -> ExportCase:
    request = request_of(declared.name, declared.source)
    shapes = request.shapes
    lines = "\n".join(line.strip() for line in declared.description.strip().splitlines())
    description = _BLANK_LINES.sub("\n\n", lines)
    return ExportCase(
        name=declared.name,
        title=_first_sentence(description),
        description=description,
        tags=list(declared.tags),
        level="supported" if declared.supported else "not supported yet",
        source=_MYPY.sub("", declared.source).strip("\n") + "\n",
        inputs=_inputs(request),
        shapes=str(shapes) if shapes else "",
        explains=[kind.value for kind in kinds_explained_by(declared.name)],
    )


def _first_sentence(text: str) -> str:
    """Up to the first full stop or list."""
    paragraph, dash, _ = text.split("\n\n", maxsplit=1)[0].partition("\n- ")
    sentence = " ".join(paragraph.split()).split(". ")[0].rstrip(".:")
    return f"{sentence} …" if dash else sentence


def _inputs(request: Request) -> list[CaseInput]:
    return [CaseInput(path, _text(value)) for path, value in leaf_values(request).items()]


def _text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{short_dtype(value.dtype)}[{', '.join(map(str, value.shape))}]"
    return repr(value)
