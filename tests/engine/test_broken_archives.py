"""Archives that are broken or hostile: a clear error or a good view, never a crash, a hang or code
that runs."""

from __future__ import annotations

import io
import pickle
import random
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from export_engine import ArchiveError, describe, load, save

from ..models import branching, exported

TRUNCATIONS = 100
FLIPS = 200
LONGEST = 10.0
"""Seconds."""
RAN: list[str] = []
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
    started = time.perf_counter()
    try:
        describe(load(path))
        counts["opened"] += 1
    except ArchiveError:
        counts["refused"] += 1
    took = time.perf_counter() - started
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


def test_with_a_member_missing(good: bytes, tmp_path: Path, table: dict[str, Counter[str]]) -> None:
    counts = table["a member missing"] = Counter()
    parts = members(good)
    for missing in parts:
        rest = {name: content for name, content in parts.items() if name != missing}
        tried(packed(rest), tmp_path / "missing.pt2", counts)


class Runs:
    """Unpickled, it would call something."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return RAN.append, ("it ran",)


@pytest.mark.slow
def test_with_a_pickle_that_would_run_code(
    good: bytes, tmp_path: Path, table: dict[str, Counter[str]]
) -> None:
    counts = table["a pickle that would run code"] = Counter()
    parts = members(good)
    plain = pickle.dumps(Runs())
    nested = io.BytesIO()
    torch.save({"a": Runs()}, nested)
    for name in parts:
        for evil in (plain, nested.getvalue()):
            tried(packed({**parts, name: evil}), tmp_path / "evil.pt2", counts)
    assert RAN == []


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
    """A member of 400 MB of zeros in 400 kB of file, as weights, as the Record and as JSON."""
    counts = table["a zip bomb"] = Counter()
    parts = members(good)
    zeros = b"\0" * (1 << 20)
    for name in [name for name in parts if "weight" in name or name.endswith(".json")][:4]:
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
