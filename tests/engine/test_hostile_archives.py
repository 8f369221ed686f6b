"""Hostile archives: none runs code, reads another file, hangs, fills memory or ends in a traceback.

Each is opened as data and shown as text, JSON and HTML, in processes without torch where Python's
audit hooks tell what it does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer

from .hostile import worker
from .hostile.corpus import corpus
from .hostile.texts import RAN

LEAST = 180
STEP = 10
"""Archives next to each other are changed at the same place."""
LONGEST = 5.0
"""Seconds of the processor, for one archive."""
PROCESSES = 2


class Everything(torch.nn.Module):
    """A buffer that is written to, a branch, a size that is data, containers."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
        self.register_buffer("n", torch.zeros(1))

    def forward(self, x: torch.Tensor, y: torch.Tensor, k: dict[str, torch.Tensor]) -> Any:
        self.n.add_(1)
        branch = torch.cond(x.shape[0] > 3, lambda z: z + 1, lambda z: z - 1, (x,))
        count = y.max().item()
        torch._check(count >= 0)
        torch._check(count < 10)
        return self.lin(branch) * self.n, torch.zeros(count).sum(), k["a"] * 2


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two harmless archives of one program: torch's, and one of `ex.save`."""
    folder = tmp_path_factory.mktemp("bases")
    args = torch.ones(4, 2), torch.tensor([3, 4]), {"a": torch.ones(2)}
    ex = explorer.explore(Everything(), args, dynamic_shapes="x: batch, _")
    torch.export.save(ex.program, folder / "plain.pt2")
    return folder / "plain.pt2", ex.save(folder / "explored.pt2")


def opened(folder: Path, harmless: tuple[Path, Path], names: list[str]) -> list[dict[str, Any]]:
    """What a process says of some archives."""
    environment = {
        **os.environ,
        "EXPORT_EXPLORER_DATA": str(folder / "data"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "COLUMNS": "80",
    }
    done = subprocess.run(
        [sys.executable, worker.__file__, str(folder), *map(str, harmless)],
        input="\n".join(names),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (rows[-1:], done.stderr[-3000:])
    return rows


@pytest.mark.slow
def test_no_hostile_archive_does_anything(
    bases: tuple[Path, Path], tmp_path: Path, one_of: Callable[[int], int]
) -> None:
    plain, explored = bases
    step = one_of(STEP)
    secret = tmp_path / "secret.py"
    secret.write_text("secret = 1\n")
    titles: dict[str, str] = {}
    for number, (title, made) in enumerate(
        corpus(plain.read_bytes(), explored.read_bytes(), str(secret))
    ):
        if number % step:
            continue
        titles[f"{number:04}.pt2"] = title
        data = made if isinstance(made, bytes) else made()
        (tmp_path / f"{number:04}.pt2").write_bytes(data)
    assert len(titles) >= LEAST
    names = list(titles)
    batches = [names[at::PROCESSES] for at in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        told = list(pool.map(lambda batch: opened(tmp_path, bases, batch), batches))
    rows = [row for batch in told for row in batch]
    assert len(rows) == len(names)
    wrong = [
        f"{titles[row['name']]}: {row['fault'] or row['seen'] or (row['took'], row['grew'])}"
        for row in rows
        if row["fault"] or row["seen"] or row["took"] > LONGEST or row["grew"] > worker.MOST_MEMORY
    ]
    count = Counter("refused" if row["refused"] else "opened" for row in rows)
    slowest = max(rows, key=lambda row: row["took"])
    largest = max(rows, key=lambda row: row["grew"])
    print(
        f"\n{dict(count)}, slowest {slowest['took']:.1f} s: {titles[slowest['name']]}; "
        f"largest {largest['grew'] / 2**20:.0f} MB: {titles[largest['name']]}"
    )
    assert not wrong, f"{len(wrong)} of {len(rows)}:\n" + "\n".join(wrong[:50])
    assert min(count["refused"], count["opened"]) > LEAST // 10  # it is not all refused
    assert not list(tmp_path.rglob(RAN))
    assert not Path(RAN).exists()
