"""Whether an error is that of a CPU's kernels, and not of the program.

oneDNN's kernels are chosen by the CPU's instructions, and some are wrong on some CPUs: a grouped
conv1d in bfloat16 was off by 1.1 of its norm, and by 0.003 with torch's own kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from export_engine.process import undone
from export_engine.progress import Progress
from export_engine.values.comparing import compare_runs
from export_engine.values.error import Noise
from export_engine.values.pair_error import PairError, RunOf

_ONEDNN: Any = torch.backends.mkldnn


def by_kernels(
    one: RunOf,
    other: RunOf,
    noise: Noise,
    wrong: Sequence[PairError],
    progress: Callable[[Progress], None] | None = None,
) -> list[PairError]:
    """The errors that are not there without oneDNN; both programs run once more to tell.

    Args:
        one: the run in question.
        other: the run that is right.
        noise: what an op may be off by.
        wrong: where errors enter.
        progress: called every fifty ops.

    Raises:
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    own_values = other.kind.known is None
    on_cpu = {one.device, other.device} == {"cpu"}
    if not (wrong and own_values and on_cpu and _ONEDNN.is_available() and _ONEDNN.enabled):
        return []
    with _without_onednn():
        rows = compare_runs(one, other, noise, progress).rows
    still = {row.place for row in rows if row.beyond}
    return [row for row in wrong if row.place not in still]


@undone
def _without_onednn() -> Iterator[None]:
    _ONEDNN.enabled = False
    try:
        yield
    finally:
        _ONEDNN.enabled = True
