"""The contents of an archive, by member names: programs, compiled packages, our Record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from export_engine.archive.names import cut

RECORD = "extra/export_explorer/record.json"
"""Where `save` puts the Record."""
RECORD_OF = "extra/export_explorer/records/{}.json"
"""Where `save_set` puts that of each program."""
SET = "extra/export_explorer/set.json"
"""Where it puts what is known of all of them together."""
GENERATION = "extra/export_explorer/generation.json"
"""Where it puts how they generate."""
_BEFORE_2_8 = "serialized_exported_program.json"
"""Where torch put the one program of an archive."""
_ETRECORD = "ETRECORD_V0"
"""The member that marks an ETRecord: the programs that ExecuTorch lowered, and their maps."""
_EDGE = "edge_dialect_exported_program"
_OPENED = (".pt2", ".pte", ".zip")
"""Names of files that `explorer.view` opens."""
_SHOWN = 20
"""Names in one sentence."""


@dataclass(frozen=True)
class Parts:
    """The parts of an archive."""

    programs: dict[str, str]
    """Per program the member that it is in."""
    compiled: tuple[str, ...]
    """Packages of AOTInductor's."""
    executorch: tuple[str, ...]
    """Members for ExecuTorch."""
    others: tuple[str, ...]
    """Members that identify other kinds of files."""

    def names(self) -> str:
        """The programs, to be listed in a sentence."""
        return _join_names(repr(cut(name)) for name in self.programs)

    def notes(self, shown: str) -> list[str]:
        """Sentences about parts other than the program that is shown."""
        others = [program for program in self.programs if program != shown]
        texts = []
        if others:
            texts.append(
                f"The file holds {len(self.programs)} programs; {shown} is shown. The others: "
                f"{_join_names(others)}; explorer.load(path) shows all of them."
            )
        if self.compiled:
            texts.append(
                f"It holds code compiled by AOTInductor, which is not opened: "
                f"{_join_names(self.compiled)}."
            )
        if self.executorch:
            texts.append(
                "It holds files for ExecuTorch, which are "
                f"not opened: {_join_names(self.executorch)}."
            )
        return texts

    def instead(self) -> str:
        """A sentence on a file without a program: what it is, and what to do with it."""
        if self.compiled:
            return (
                "It holds only code compiled by AOTInductor "
                f"({_join_names(self.compiled)}). If you "
                "trust it, load it with torch._inductor.aoti_load_package."
            )
        if self.executorch:
            return f"It holds only files for ExecuTorch ({_join_names(self.executorch)})."
        if "data.pkl" in self.others:
            return (
                "It was written by torch.save, and holds weights or a pickled model. Export the "
                "model and "
                "write it with torch.export.save(program, path)."
            )
        if "constants.pkl" in self.others:
            return "It is a TorchScript file. Export the model with torch.export instead."
        if self.others:
            return f"It holds {_join_names(self.others)}: unpack it and open the files inside."
        return "Write one with torch.export.save(program, path)."


def parts_of(members: Iterable[str]) -> Parts:
    """The parts, from the names of the members."""
    programs: dict[str, str] = {}
    compiled: dict[str, None] = {}
    executorch: list[str] = []
    others: list[str] = []
    for name in members:
        parts = name.replace("\\", "/").split("/")
        match parts:
            case ["models", *rest] if rest and name.endswith(".json"):
                programs["/".join(rest).removesuffix(".json")] = name
            case [*_, "data", "aotinductor", model, _] | ["data", "aotinductor", model, *_]:
                compiled.setdefault(cut(model))
            case [*_, "data", "executorch", part]:
                executorch.append(cut(part))
            case ["exported_program"] if _ETRECORD in members:
                programs["program"] = name
            case [part, method] if part == _EDGE and _is_edge_program(method):
                programs[f"{method}, before lowering"] = name
            case ["data.pkl" | "constants.pkl" as other]:
                others.append(other)
            case [*_, file] if file.endswith(_OPENED):
                others.append(cut(name))
    if not programs and _BEFORE_2_8 in members:
        programs["model"] = _BEFORE_2_8
    return Parts(programs, tuple(compiled), tuple(executorch), tuple(others))


def edge_member(method: str) -> str:
    """The member of an ETRecord that has a method's program as ExecuTorch lowered it."""
    return f"{_EDGE}/{method}"


def _is_edge_program(member: str) -> bool:
    return not member.endswith(("_state_dict", "_constants", "_example_inputs"))


def _join_names(names: Iterable[str]) -> str:
    texts = list(names)
    rest = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + rest
