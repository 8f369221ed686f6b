"""A `.pt2` file → its Record. torch is not imported, and nothing in the file is evaluated.

zip members → JSON within limits → torch's schema → Record. Pickles, weights and compiled code are
not read, and no path that the file names is opened.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.file_source import FileSource
from export_engine.archive.json_text import decode_json
from export_engine.archive.names import cut
from export_engine.archive.parts import Parts, parts_of
from export_engine.archive.saved_record import merge_records, names_of, paths_of, read_saved
from export_engine.archive.signature import user_inputs
from export_engine.archive.strict_decoding import StrictDecoder, noting_unknown
from export_engine.archive.unknown_fields import find_unknown_fields
from export_engine.archive.weights import held_bytes
from export_engine.archive.zip_members import Members, read_members
from export_engine.describe import (
    CallSizes,
    FileNames,
    Graphs,
    Symbols,
    describe_probe,
    describe_signature,
    describe_symbols,
    facts_of_program,
    places_of_symbols,
    with_findings,
)
from export_engine.quantization import with_quantization
from export_engine.record import Record, count_ops, sizes_said, with_groups
from export_engine.sizes import UnreadableError, parse_size

_SHOWN = 5
"""Texts that one note names."""
_LOG = logging.getLogger("export_explorer")
_PROGRAM: StrictDecoder[schema.ExportedProgram] = StrictDecoder(schema.ExportedProgram)


@dataclass(frozen=True)
class ReadArchive:
    """The contents of a `.pt2` file."""

    record: Record
    """The Record of the requested model."""
    model: str
    """Its name."""
    models: tuple[str, ...]
    """Every program in the file, by name."""
    notes: tuple[str, ...]
    """Sentences about other parts, and about what could not be read."""
    kept: bool
    """Whether the Record is one that `save` put into the file."""
    unknown: Mapping[str, str]
    """Per field that the schema does not know its path, `graph_module.graph.nodes[].cost`, and what
    the first one says, as JSON; both are cut."""


def read(path: str | os.PathLike[str], model: str | None = None) -> ReadArchive:
    """Reads a `.pt2` file as data: no torch is imported, and nothing in the file is run.

    Args:
        path: of the file.
        model: which of its programs; the first by default.

    Raises:
        ArchiveError: there is no such file or model, it is damaged, or it exceeds the limits in
        `limits.py`. The message says what, where, and what to do.
    """
    file = Path(path)
    with read_members(file) as members:
        try:
            return _read(members, file.name, model)
        except ArchiveError:
            raise
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ArchiveError(
                f"{file.name} is not in torch's format: {str(error)[:300]}. It is "
                "damaged, or was saved by a torch version with a different format: open it with "
                "that version."
            ) from error
        except Exception as error:  # a file may hold anything; unforeseen errors are logged
            _LOG.exception("reading %s", file.name)
            raise ArchiveError(
                f"{file.name} cannot be read: it is not in torch's format "
                f"({type(error).__name__}). If torch can open it, please report this."
            ) from error


def _read(members: Members, title: str, model: str | None) -> ReadArchive:
    parts = parts_of(members)
    if not parts.programs:
        raise ArchiveError(f"{title} contains no program that can be shown. {parts.instead()}")
    name = next(iter(parts.programs)) if model is None else model
    if name not in parts.programs:
        raise ArchiveError(f"{title} has no program {name!r}. It has {parts.names()}.")
    with noting_unknown() as strange:
        program = _read_program(members, parts, title, name)
    if not strange:
        return program
    unknown = find_unknown_fields(members.read(parts.programs[name], limits.JSON_BYTES))
    note = _note_unknown_fields(unknown, strange[0])
    record = msgspec.structs.replace(program.record, warnings=[*program.record.warnings, note])
    return replace(program, record=record, notes=(*program.notes, note), unknown=unknown)


def _read_program(members: Members, parts: Parts, title: str, name: str) -> ReadArchive:
    member = parts.programs[name]
    data = members.read(member, limits.JSON_BYTES)
    program = decode_json(data, _PROGRAM, f"{title}, {member}")
    del data
    held = held_bytes(members, name, f"{title}, ")
    checked = not members.is_empty(f"data/sample_inputs/{name}.pt")
    kept = read_saved(members, title, name)
    shown = title if len(parts.programs) == 1 else f"{title}: {cut(name)}"
    both = None
    try:
        plain, graphs, notes = _record(program, shown, held, checked, kept.record)
        record, note = with_findings(plain, None, graphs), kept.note
        if kept.record is not None:
            both, note = merge_records(plain, kept.record, record.findings)
            if both is None:
                plain, graphs, notes = _record(program, shown, held, checked, None)
            record = both or with_findings(plain, None, graphs)
    except ArchiveError as error:
        raise ArchiveError(f"{title} is not opened: {error}") from error
    notes = [*parts.notes(name), *notes]
    warnings = dict.fromkeys([*record.warnings, *notes, *([note] if note else [])])
    record = msgspec.structs.replace(
        with_quantization(with_groups(record)), warnings=list(warnings), sources_inside=True
    )
    return ReadArchive(record, name, tuple(parts.programs), tuple(notes), both is not None, {})


def _note_unknown_fields(unknown: Mapping[str, str], first: str) -> str:
    """That there are fields that this version does not know, in a sentence."""
    if not unknown:
        return f"The file has fields that this version does not know: {cut(first)}."
    listed = list(unknown)[:_SHOWN]
    more = len(unknown) - len(listed)
    rest = f" and {'at least ' * (len(unknown) >= limits.UNKNOWN)}{more} more" if more else ""
    return (
        "The file has fields that this version does not know and does not show: "
        f"{', '.join(listed)}{rest}."
    )


def _record(
    program: schema.ExportedProgram,
    title: str,
    held: Mapping[str, int],
    checked: bool,
    kept: Record | None,
) -> tuple[Record, Graphs, list[str]]:
    """The Record of a program, its tables, and notes on what could not be read.

    It has the saved one's names of symbols and paths of inputs.
    """
    source = FileSource(program, held, checked)
    source.input_paths = paths_of(kept, source.input_paths)
    symbols = Symbols({**_user_names(program.graph_module, source.input_paths), **names_of(kept)})
    modules = [cut(call.fqn) for call in program.graph_module.module_call_graph]
    files = FileNames({})
    graphs = Graphs(source.describe_target, symbols, title, modules, files, limits.FRAMES)
    graphs.add(source.graph, "main")
    signature = describe_signature(source, graphs.entries[0], graphs.values)
    sizes = CallSizes(source, source.input_paths, symbols)
    places = places_of_symbols(signature, graphs.values, symbols)
    described = describe_symbols(symbols, facts_of_program(source), places)
    probe, _ = describe_probe(source, sizes, described, symbols)
    ops = sum(count_ops(graph.op) for graph in graphs.entries)
    record = Record(
        title=title,
        outcome="exported",
        mode="loaded",
        verdict=f"loaded, {ops:,} {'op' if ops == 1 else 'ops'}{sizes_said(described)}",
        shapes="",
        torch_version=cut(program.torch_version),
        **graphs.tables(),
        signature=signature,
        symbols=described,
        probe=probe,
    )
    return record, graphs, _notes(program, source)


def _user_names(module: schema.GraphModule, paths: Sequence[str]) -> dict[str, str]:
    """The user's name of each symbol that is a dim of an input: `x.shape[0]`."""
    names: dict[str, str] = {}
    for path, name in zip(paths, user_inputs(module.signature), strict=False):
        meta = module.graph.tensor_values.get(name)
        sizes = list(meta.sizes) if meta else []
        number = module.graph.sym_int_values.get(name)
        places = [(size, f"{path}.shape[{dim}]") for dim, size in enumerate(sizes)]
        places += [(number, path)] if number else []
        for size, place in places:
            symbol = _symbol(size)
            if symbol:
                names.setdefault(symbol, place)
    return names


def _symbol(size: schema.Size) -> str:
    """torch's name of the symbol that a size is; empty for any other."""
    if size.as_expr is None:
        return ""
    try:
        return parse_size(size.as_expr.expr_str).name
    except UnreadableError:
        return ""


def _notes(program: schema.ExportedProgram, source: FileSource) -> list[str]:
    """Sentences about what could not be read."""
    texts = []
    version = program.schema_version.major, program.schema_version.minor
    if version > schema.SCHEMA_VERSION:
        text = ".".join(map(str, schema.SCHEMA_VERSION))
        texts.append(
            f"Saved by torch {cut(program.torch_version)} in its schema "
            f"{version[0]}.{version[1]}. This version of Export Explorer supports schemas up to "
            f"{text}, so "
            "newer fields are not shown."
        )
    for bad_texts, what in (
        (source.names.refused, "are not valid names and are shown as text"),
        (source.sizes.unreadable, "should be sizes and cannot be read"),
        (
            source.shared.arguments.unknown,
            "come from a later torch and are shown as in the file",
        ),
    ):
        if bad_texts:
            listed = list(dict.fromkeys(bad_texts))
            rest = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
            texts.append(f"In the file, these {what}: {', '.join(listed[:_SHOWN])}{rest}.")
    return texts
