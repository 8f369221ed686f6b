"""Stages that somebody else's compilation left: an AOTInductor package, a folder of TORCH_TRACE.

Both are data: no code in them is loaded, and no path in them is opened. No torch is needed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from stat import S_ISREG
from typing import Any

from export_engine.archive import ArchiveError, read_members
from export_engine.record import Stages
from export_engine.stages.joining import Provenance, join_stages, read_provenance
from export_engine.trace import STAGE_ARTIFACTS, CompilationTrace, artifact_name

_INFORMATION = "kernel_information.json"
_MOST_INFORMATION = 2**26
"""Bytes of what a package says of its kernels."""
_MOST_CODE = 2**25
"""Bytes of one text, such as generated code."""
_MOST_LOG = 2**30
"""Bytes of a file of a trace, which is read line by line."""
_ENTRY = re.compile(r"[VDIWE]\d{4} [^\]]*\] (?P<metadata>\{.*\})")
_CODES = (
    (".wrapper.cpp", "inductor_aot_wrapper_code"),
    (".kernel.cpp", "inductor_aot_kernel_code"),
)


def holds_stages(path: Path) -> bool:
    """Whether a path is a folder with a trace of torch, or a package that says of its kernels."""
    if path.is_dir():
        return any(path.glob("*torch_trace*.log"))
    if path.suffix != ".pt2" or not path.is_file():
        return False
    try:
        with read_members(path) as members:
            return any(name.endswith(f"/{_INFORMATION}") for name in members)
    except ArchiveError:
        return False


def read_stages(path: Path) -> list[Stages]:
    """The stages in a package, or those of each compilation in a folder; in order.

    Args:
        path: of an AOTInductor package, of a `.pt2` file with one in it, or of a folder that
            TORCH_TRACE named.

    Raises:
        ArchiveError: it cannot be read, or has no stages.
    """
    groups = _of_folder(path) if path.is_dir() else _of_package(path)
    if not groups:
        raise ArchiveError(
            f"{path.name} does not list its kernels. Set INDUCTOR_PROVENANCE=1 to make a package "
            "or a TORCH_TRACE folder that lists them."
        )
    return groups


def _of_package(path: Path) -> list[Stages]:
    with read_members(path) as members:
        names = [name for name in members if name.endswith(f"/{_INFORMATION}")]
        return [
            _stages(
                "aoti",
                f"AOTInductor package {path.name}",
                {
                    artifact: members.read(member, _MOST_CODE).decode(errors="replace")
                    for ending, artifact in _CODES
                    for member in members
                    if member.endswith(ending)
                    and member.rpartition("/")[0] == name.rpartition("/")[0]
                },
                _of_kernels(members.read(name, _MOST_INFORMATION)),
            )
            for name in names
        ]


def _of_kernels(data: bytes) -> Provenance:
    """A package's data on its kernels, without parts that are not in torch's format."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{_INFORMATION} is not JSON: {error}.") from error
    if not isinstance(told, dict):
        raise ArchiveError(f"{_INFORMATION} is not a JSON object of kernels.")
    rows = {str(name): row for name, row in told.items() if isinstance(row, dict)}
    return Provenance(
        {},
        {name: _texts(row.get("post_grad_nodes")) for name, row in rows.items()},
        {name: _texts(row.get("stack_traces")) for name, row in rows.items()},
    )


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _of_folder(path: Path) -> list[Stages]:
    traces: dict[str, CompilationTrace] = {}
    for file in sorted(path.glob("*torch_trace*.log")):
        state = file.lstat()  # a link may lead anywhere, and a device has no end
        if not S_ISREG(state.st_mode):
            continue
        if state.st_size > _MOST_LOG:
            raise ArchiveError(f"{file.name} is larger than {_MOST_LOG >> 20} MB: trace one model.")
        _read_log(file, traces)
    return [
        _stages("trace", f"trace {path.name}, {frame}", trace.texts, read_provenance(trace.texts))
        for frame, trace in traces.items()
        if "inductor_provenance_tracking_node_mappings" in trace.texts
    ]


def _read_log(file: Path, into: dict[str, CompilationTrace]) -> None:
    """The entries of a log: a line of metadata, then its payload, each line after a tab."""
    metadata: dict[str, Any] = {}
    payload: list[str] = []
    room = 0

    def finish() -> None:
        if metadata:
            ids = (metadata.get("frame_id", 0), metadata.get("frame_compile_id", 0))
            frame = f"{file.stem} {ids[0]}/{ids[1]}"
            into.setdefault(frame, CompilationTrace()).add(metadata, "\n".join(payload))

    with file.open(encoding="utf-8", errors="replace", newline="\n") as log:
        while row := log.readline(_MOST_CODE):
            line = row.rstrip("\r\n")
            if line.startswith("\t"):
                room -= len(line)
                if room >= 0:
                    payload.append(line[1:])
                continue
            match = _ENTRY.fullmatch(line)
            finish()
            metadata, payload, room = {}, [], 0
            if match is not None:
                try:
                    metadata = json.loads(match["metadata"])
                except (ValueError, RecursionError):
                    metadata = {}
                room = _MOST_CODE if artifact_name(metadata) in STAGE_ARTIFACTS else 0
        finish()


def _stages(backend: str, title: str, texts: dict[str, str], provenance: Provenance) -> Stages:
    joined = join_stages(None, texts, provenance)
    return Stages(
        backend=backend,
        title=title,
        device="",
        graphs=joined.graphs,
        kernels=joined.kernels,
        lines=joined.lines,
        codes=joined.codes,
        remarks=joined.remarks,
        left_out=["Read as data: nothing was compiled, run or timed."],
    )
