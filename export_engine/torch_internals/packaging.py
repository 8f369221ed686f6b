"""Several programs in one archive, as torch packs them, with each shared weight in it once.

torch joins weights of one memory only within a program. Its reader uses each program's list of
weights unchanged, so two lists may name one member.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import torch

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import hook

_Key = tuple[str, str, int, int]
"""A folder of the archive; a device, an address there and bytes."""


def package_programs(
    file: IO[bytes], programs: dict[str, torch.export.ExportedProgram], extra: dict[str, str]
) -> None:
    """Writes programs into an archive.

    Raises:
        MissingCapabilityError: this torch packs one program only.
        Exception: whatever torch raises for a program that it cannot write.
    """
    with hook(torch_has.SAVE_TENSORS, _each_once({})):
        torch_has.PACKAGE_PROGRAMS.value(file, exported_programs=programs, extra_files=extra)


def _each_once(members: dict[_Key, str]) -> Callable[[Any], Any]:
    """Writes a tensor's memory unless an earlier program's tensor had it."""

    def make(original: Any) -> Any:
        def save(
            raw_items: dict[str, Any],
            model_name: str,
            archive_writer: Any,
            config: dict[str, Any],
            directory: str,
            *rest: Any,
            **more: Any,
        ) -> Any:
            keys = {name: _key(directory, tensor) for name, (tensor, _) in raw_items.items()}
            entries = {
                name: raw_item for name, raw_item in raw_items.items() if keys[name] in members
            }
            fresh = {name: raw_item for name, raw_item in raw_items.items() if name not in entries}
            last = original(fresh, model_name, archive_writer, config, directory, *rest, **more)
            members.update({keys[name]: config[name].path_name for name in fresh})
            if entries:
                listed: dict[str, Any] = {}
                original(entries, model_name, _Nowhere(), listed, directory, *rest, **more)
                for name, payload in listed.items():
                    payload.path_name = members[keys[name]]
                    config[name] = payload
            return last

        return save

    return make


def _key(directory: str, tensor: torch.Tensor) -> _Key:
    storage = tensor.untyped_storage()
    start = storage.data_ptr() or -id(tensor)  # memory without an address is nobody else's
    return directory, str(tensor.device), start, storage.nbytes()


class _Nowhere:
    """A writer that keeps nothing."""

    def write_bytes(self, name: str, data: bytes) -> None:
        """Drops it."""
