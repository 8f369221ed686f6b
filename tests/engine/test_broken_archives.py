"""Archives that are broken or hostile: a clear error or a good view, never a crash, a hang or code
that runs."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from export_engine.archive import ArchiveError, load, save
from export_engine.archive.torch_archive import _is_size as is_size
from export_engine.describe import describe
from export_engine.torch_internals import CodeInside, nothing_run
from export_engine.torch_internals.loading import NO_INPUTS, NO_LIBRARIES

from ..models import branching, exported

TRUNCATIONS = 100
FLIPS = 200
LONGEST = 10.0
"""Seconds."""
OUTSIDE = "/tmp/outside_of_ours.txt"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    attempt = exported(branching())
    path = tmp_path_factory.mktemp("good") / "good.pt2"
    return save(attempt, describe(attempt), path).read_bytes()


@pytest.fixture(scope="module")
def table() -> Iterator[dict[str, Counter[str]]]:
    rows: dict[str, Counter[str]] = {}
    yield rows
    print(f"\n{'archive':<34} {'opened':>7} {'refused':>8} {'slowest':>8}")
    for name, counts in rows.items():
        slowest = f"{counts['slowest'] / 1000:.1f} s"
        print(f"{name:<34} {counts['opened']:>7} {counts['refused']:>8} {slowest:>8}")


def tried(data: bytes, path: Path, counts: Counter[str]) -> None:
    """Opens and describes; anything but an ArchiveError is a failure of the test."""
    path.write_bytes(data)
    started = time.process_time()
    try:
        describe(load(path))
        counts["opened"] += 1
    except ArchiveError:
        counts["refused"] += 1
    took = time.process_time() - started
    counts["slowest"] = max(counts["slowest"], int(took * 1000))
    assert took < LONGEST


@pytest.mark.slow
def test_truncated_anywhere(good: bytes, tmp_path: Path, table: dict[str, Counter[str]]) -> None:
    numbers = random.Random(0)
    counts = table["truncated"] = Counter()
    for _ in range(TRUNCATIONS):
        tried(good[: numbers.randrange(len(good))], tmp_path / "cut.pt2", counts)
    assert counts["refused"] == TRUNCATIONS


@pytest.mark.slow
def test_with_bytes_flipped(good: bytes, tmp_path: Path, table: dict[str, Counter[str]]) -> None:
    numbers = random.Random(1)
    counts = table["bytes flipped"] = Counter()
    for _ in range(FLIPS):
        data = bytearray(good)
        for _ in range(numbers.choice((1, 1, 8, 64))):
            data[numbers.randrange(len(data))] ^= 1 << numbers.randrange(8)
        tried(bytes(data), tmp_path / "flipped.pt2", counts)


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def packed(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.slow
def test_with_a_member_missing(good: bytes, tmp_path: Path, table: dict[str, Counter[str]]) -> None:
    counts = table["a member missing"] = Counter()
    parts = members(good)
    for missing in parts:
        rest = {name: content for name, content in parts.items() if name != missing}
        tried(packed(rest), tmp_path / "missing.pt2", counts)


class Runs:
    """Unpickled, it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.folder),)


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """The folder that there is once code of a file has run."""
    return tmp_path / "ran"


@pytest.fixture
def evils(ran: Path) -> list[bytes]:
    """Pickles that run code, if anything unpickles them without restriction."""
    nested = io.BytesIO()
    torch.save((Runs(ran),), nested)
    made = [pickle.dumps(Runs(ran)), nested.getvalue()]
    pickle.loads(made[0])
    ran.rmdir()  # it works
    torch.load(io.BytesIO(made[1]), weights_only=False)
    ran.rmdir()
    return made


@pytest.mark.slow
def test_with_a_pickle_that_would_run_code(
    good: bytes, tmp_path: Path, table: dict[str, Counter[str]], evils: list[bytes], ran: Path
) -> None:
    counts = table["a pickle that would run code"] = Counter()
    parts = members(good)
    for name in parts:
        for evil in evils:
            tried(packed({**parts, name: evil}), tmp_path / "evil.pt2", counts)
            assert not ran.exists(), name


@pytest.mark.parametrize("kind", ["weight_0", "tensor_0", "custom_obj_0", "opaque_obj_0"])
@pytest.mark.slow
def test_with_a_pickle_that_the_file_declares(
    good: bytes,
    tmp_path: Path,
    table: dict[str, Counter[str]],
    evils: list[bytes],
    ran: Path,
    kind: str,
) -> None:
    counts = table[f"a pickle for {kind}"] = Counter()
    parts = members(good)
    folder = "weights" if kind == "weight_0" else "constants"
    config = next(name for name in parts if name.endswith(f"model_{folder}_config.json"))
    declared = {"path_name": kind, "is_param": True, "use_pickle": True, "tensor_meta": None}
    text = json.dumps({"config": {"it": declared}}).encode()
    beside = config.rpartition("/")[0]
    for evil in evils:
        data = packed({**parts, config: text, f"{beside}/{kind}": evil})
        tried(data, tmp_path / "evil.pt2", counts)
        assert not ran.exists()
    assert counts["refused"] == len(evils)


@pytest.mark.slow
def test_with_a_size_that_would_run_code(
    good: bytes, tmp_path: Path, table: dict[str, Counter[str]], ran: Path
) -> None:
    counts = table["a size that would run code"] = Counter()
    parts = members(good)
    model = next(name for name in parts if name.endswith("models/model.json"))
    text = parts[model].decode()
    [first, *_] = re.findall(r'"expr_str": ?"[^"]*"', text)
    for evil in (
        f"__import__('os').mkdir({str(ran)!r})",
        f"().__class__.__mro__[1].__subclasses__()[0].mkdir({str(ran)!r})",
        f"s77 + exec('import os; os.mkdir({str(ran)!r})')",
        "s77 + open('x')",
        "(lambda: 3)()",
        f"Add(\"__import__('os').mkdir({str(ran)!r})\", 1)",
        f"Symbol(\"__import__('os').mkdir({str(ran)!r})\")",
        "factorial(10000000)",
        "1 << 10000000000",
        "9**9**9",
        "Pow(Integer(9), Pow(Integer(9), Integer(9)))",
        "((9**64)**64)**64",
    ):
        changed = text.replace(first, f'"expr_str": {json.dumps(evil)}')
        path = tmp_path / "evil.pt2"
        tried(packed({**parts, model: changed.encode()}), path, counts)
        assert not ran.exists()
        with pytest.raises(ArchiveError, match="is not opened: it has an invalid size"):
            load(path)


@pytest.mark.after_check
@pytest.mark.parametrize("name", ["model/it.so", "a/b/it.so", "model/data/aotinductor/it.so"])
def test_compiled_libraries_are_not_loaded_with_the_program(
    good: bytes, tmp_path: Path, name: str
) -> None:
    parts = members(good)
    root = next(iter(parts)).split("/")[0]
    path = tmp_path / "compiled.pt2"
    path.write_bytes(packed({**parts, f"{root}/data/aotinductor/{name}": b"\x7fELF"}))
    opened = load(path)
    assert NO_LIBRARIES in opened.warnings
    assert opened.program.graph.nodes


@pytest.mark.parametrize(
    "text",
    [
        "s77",
        "2*s77 + 1",
        "Max(1, s77//2)",
        "FloorDiv(s0, 2)*Mod(s1, 3)",
        "(s0 <= 4) & Ne(s1, 0)",
        "s0**2",
        "floor(s0/2)",
        "-int_oo",
        "Symbol('s77', positive=True, integer=True)",
        "Float('1.5', precision=53)",
        "Mul(Integer(-1), Pow(Symbol('s0', integer=True), Integer(2)))",
        "Piecewise((1, s0 > 2), (0, True))",
    ],
)
def test_what_torch_writes_for_a_size_is_one(text: str) -> None:
    assert is_size(text)


def test_no_module_is_imported_because_a_file_says_so() -> None:
    with nothing_run(is_size), pytest.raises(CodeInside, match="imports the module 'antigravity'"):
        pytree.importlib.import_module("antigravity")
    assert "antigravity" not in sys.modules


@pytest.mark.after_check
def test_example_inputs_of_a_class_are_left_out_and_said(
    good: bytes, tmp_path: Path, evils: list[bytes], ran: Path
) -> None:
    parts = members(good)
    inputs = next(name for name in parts if "sample_inputs" in name)
    path = tmp_path / "inputs.pt2"
    path.write_bytes(packed({**parts, inputs: evils[1]}))
    opened = load(path)
    assert NO_INPUTS in opened.warnings
    assert opened.program.example_inputs is None
    assert not ran.exists()


def test_with_names_that_leave_the_folder(
    good: bytes, tmp_path: Path, table: dict[str, Counter[str]]
) -> None:
    counts = table["names that leave the folder"] = Counter()
    parts = members(good)
    before = sorted(path.name for path in tmp_path.parent.iterdir())
    for name in (
        "../outside.txt",
        "/tmp/outside_of_ours.txt",
        "a/../../outside.txt",
        "..\\out.txt",
    ):
        tried(packed({**parts, name: b"x"}), tmp_path / "paths.pt2", counts)
    root = next(iter(parts)).split("/")[0]
    moved = {name.replace(root, f"../{root}", 1): each for name, each in parts.items()}
    tried(packed(moved), tmp_path / "paths.pt2", counts)
    assert sorted(path.name for path in tmp_path.parent.iterdir()) == before
    assert not Path(OUTSIDE).exists()


@pytest.mark.slow
def test_that_unpack_to_far_more(
    good: bytes, tmp_path: Path, table: dict[str, Counter[str]]
) -> None:
    """A member of 400 MB of zeros in 400 kB of file, as weights and as JSON."""
    counts = table["a zip bomb"] = Counter()
    parts = members(good)
    zeros = b"\0" * (1 << 20)
    for name in [name for name in parts if "weight" in name or name.endswith(".json")][:2]:
        path = tmp_path / "bomb.pt2"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for each, content in parts.items():
                if each != name:
                    archive.writestr(each, content)
            with archive.open(name, "w", force_zip64=True) as member:
                for _ in range(400):
                    member.write(zeros)
        tried(path.read_bytes(), path, counts)
    assert counts["refused"] == sum(counts[each] for each in ("refused", "opened"))
