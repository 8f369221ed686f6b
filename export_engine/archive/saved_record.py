"""The Record that `save` put into an archive, and what it adds to the graph.

It has what a program does not keep: guards with their lines, source text, findings, checks and
runs. It is used only if it agrees with the graph wherever both say something, and it is data like
the rest: no path in it is ever opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import check
from export_engine.archive.parts import RECORD, RECORD_OF
from export_engine.archive.zip_members import Members
from export_engine.record import FindingRow, Probe, Record, Rule, Target, check_record, from_json

PLAIN = (
    "The file holds only the program: guards have no lines, and there is no source text. "
    "`.save(path)` stores them."
)
_UNREADABLE = "Export Explorer's Record in the file cannot be read"
_OTHER = "Export Explorer's Record in the file belongs to a different program"
_KNOWN_BETTER = {"frozen-tensor": "frozen-parameter"}
"""Kinds of findings, and what they are found to be where the model is at hand."""
_CLAIMED = "Checks, comparisons and runs are as recorded in the file; none was run again."


class Kept(NamedTuple):
    """The saved Record, or why there is none."""

    record: Record | None
    note: str
    """Why there is none, in a sentence."""


def read_saved(members: Members, title: str, model: str) -> Kept:
    """The Record of a program in an archive, if there is a valid one."""
    member = next((text for text in (RECORD_OF.format(model), RECORD) if text in members), "")
    if not member:
        return Kept(None, PLAIN)
    try:
        data = members.read(member, limits.JSON_BYTES)
        check(data, f"{title}, {member}")
        record = from_json(data)
        check_record(record)
        _check_bounds(record)
    except (ValueError, RecursionError) as error:  # an ArchiveError is a ValueError
        return Kept(None, f"{_UNREADABLE} ({str(error)[:300]}). {PLAIN}")
    return Kept(record, "")


def names_of(record: Record | None) -> Mapping[str, str]:
    """The user's names of torch's symbols, if they are valid names."""
    if record is None:
        return {}
    return {
        symbol.torch_name: symbol.name
        for symbol in record.symbols
        if symbol.torch_name.isidentifier() and len(symbol.name) <= limits.TEXT
    }


def paths_of(record: Record | None, read: Sequence[str]) -> Sequence[str]:
    """Where the caller passes each user input, as the saved Record says it; else as the file does.

    Args:
        record: the saved one.
        read: the paths that the file tells, which may have numbers in place of names.
    """
    if record is None:
        return read
    from export_engine.archive.same_program import is_same_path

    inputs = record.signature.inputs
    paths = [entry.path for entry in inputs if entry.kind == "user_input"]
    short = all(len(path) <= limits.TEXT for path in paths)
    fits = short and len(paths) == len(read) and all(map(is_same_path, read, paths))
    return paths if fits else read


def merge_records(
    read: Record, kept: Record, findings: Sequence[FindingRow]
) -> tuple[Record | None, str]:
    """The Record of the graph, completed by the saved one; None, and why, if they disagree.

    Args:
        read: the Record of the graph.
        kept: the one that was kept.
        findings: what was found in `read`. For a kind that the kept one says nothing of, they are
            added.
    """
    from export_engine.archive.same_program import find_difference

    difference = find_difference(read, kept)
    if difference:
        return None, f"{_OTHER}: {difference}. {PLAIN}"
    record = msgspec.structs.replace(
        kept,
        title=read.title,
        mode=read.mode,
        torch_version=read.torch_version,
        targets=_targets(read, kept),
        signature=msgspec.structs.replace(
            kept.signature,
            takes=read.signature.takes or kept.signature.takes,
            returns=read.signature.returns or kept.signature.returns,
        ),
        probe=_probe(read, kept),
        findings=[*kept.findings, *_find_missing_findings(findings, read, kept)],
    )
    record = msgspec.structs.replace(record, verdict=_verdict(read, record))
    claims = (kept.check, kept.verification, kept.profile, *kept.runs)
    return record, _CLAIMED if any(claim is not None for claim in claims) else ""


def _targets(read: Record, kept: Record) -> list[Target]:
    """The saved Record's, with the tags that are known here."""
    targets = {target.name: target for target in read.targets if target.kind != "custom"}
    return [
        msgspec.structs.replace(
            target, tags=targets[target.name].tags, core=targets[target.name].core
        )
        if target.name in targets
        else target
        for target in kept.targets
    ]


def _verdict(read: Record, kept: Record) -> str:
    """`loaded, 1,187 ops, batch in [2, ∞), 2 findings`."""
    count = sum(finding.severity != "note" for finding in kept.findings)
    text = f", {count} {'finding' if count == 1 else 'findings'}" if count else ""
    level = f", decomposed ({kept.level.table})" if kept.level else ""
    return read.verdict.replace("loaded", f"loaded{level}", 1) + text


def _find_missing_findings(
    findings: Sequence[FindingRow], read: Record, kept: Record
) -> Iterator[FindingRow]:
    """Findings of kinds that the kept Record has none of, with its own numbers."""
    texts = {finding.kind for finding in kept.findings}
    texts |= {less for less, more in _KNOWN_BETTER.items() if more in texts}
    mine = [row for row in findings if row.kind not in texts]
    graph = kept.graphs[0]
    positions = {kept.strings[name]: at for at, name in enumerate(graph.name)} if mine else {}
    for row in mine:
        name = read.strings[read.graphs[0].name[row.node]] if row.node >= 0 else ""
        node = positions.get(name, -1)
        stack = graph.stack[node] if node >= 0 else -1
        yield msgspec.structs.replace(row, node=node, stack=stack, guard=-1)


def _probe(read: Record, kept: Record) -> Probe:
    """The graph's rules, with the guards that the saved Record traces them to."""
    rules = {(rule.kind, *rule.formula): rule for rule in kept.probe.rules if rule.formula}
    numbers = {symbol.torch_name: number for number, symbol in enumerate(kept.symbols)}

    def origin(rule: Rule) -> Rule:
        same = rules.get((rule.kind, *rule.formula))
        return rule if same is None else msgspec.structs.replace(same, enforced=rule.enforced)

    inputs = [
        msgspec.structs.replace(size, symbol=numbers[read.symbols[size.symbol].torch_name])
        if size.symbol >= 0
        else size
        for size in read.probe.inputs
    ]
    return Probe(inputs, [origin(rule) for rule in read.probe.rules], read.probe.outputs)


def _check_bounds(record: Record) -> None:
    """Raises ArchiveError for a valid Record that is too large to show."""
    if sum(len(graph.name) for graph in record.graphs) > limits.NODES:
        raise ArchiveError(f"It has more than {limits.NODES:,} nodes.")
    if sum(len(file.text) for file in record.files) > limits.SOURCE_CHARACTERS:
        raise ArchiveError(f"It has more than {limits.SOURCE_CHARACTERS:,} characters of source.")
    starts = record.stacks.starts
    if any(end - start > limits.FRAMES for start, end in pairwise(starts)):
        raise ArchiveError(f"It has stacks of more than {limits.FRAMES} lines.")
