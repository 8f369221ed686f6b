"""How right costs are: FLOPs against torch's own counter, peaks against what a run allocates.

Each model is a small config of transformers, exported once with the sizes that vary, and counted at
other sizes; both dtypes for the peaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

import explorer
from explorer.opening.configs import shrink_config

from .table import Row

_CONFIGS = (
    "Bert Roberta Electra DistilBert Albert GPT2 GPTNeoX OPT Llama Qwen2 Qwen3 Mistral Gemma "
    "Gemma2 Gemma3Text Phi Phi3 Olmo Olmo2 StableLm Starcoder2 Granite Cohere Falcon Bloom Mpt "
    "GPTBigCode Glm Helium SmolLM3"
)
SIZES = ((1, 8), (2, 16), (3, 33), (4, 64), (2, 200))
PEAK_SIZES = SIZES[-3:]
PEAK_MODELS = 20
_CLOSE = 0.1


def run() -> list[Row]:
    """The table's rows."""
    names = [name for name in _CONFIGS.split() if _config(name) is not None]
    equal = list(_same_flops(names))
    close = list(_close_peaks(names[:PEAK_MODELS]))
    wrong = ", ".join(sorted({name for name, same in equal if not same})) or "all equal"
    far = ", ".join(sorted({name for name, near in close if not near})) or "all close"
    return [
        Row(
            f"{len(names)} models at {len(SIZES)} sizes",
            "FLOPs as torch counts them",
            100 * sum(same for _, same in equal) / max(len(equal), 1),
            "%",
            least=100,
            means=f"formulas evaluated, against torch's flop counter: {wrong}",
        ),
        Row(
            f"{min(len(names), PEAK_MODELS)} models at {len(PEAK_SIZES)} sizes, both dtypes",
            "peaks within 10 % of a run's",
            100 * sum(near for _, near in close) / max(len(close), 1),
            "%",
            least=90,
            means=f"live memory, against what the profiler sees allocated: {far}",
        ),
    ]


def _config(name: str) -> Any:
    import transformers

    kind = getattr(transformers, f"{name}Config", None)
    return None if kind is None else shrink_config(kind())


def _exported(name: str, dtype: torch.dtype) -> tuple[explorer.Exploration, Callable[..., Any]]:
    config = _config(name)
    config.dtype = dtype
    ex = explorer.explore_config(config, small=True)
    return ex, ex.program.module() if ex.ok else ex


def _same_flops(names: list[str]) -> Iterator[tuple[str, bool]]:
    for name in names:
        ex, program = _exported(name, torch.float32)
        for batch, seq in SIZES if ex.ok else ():
            ids = torch.zeros(batch, seq, dtype=torch.long)
            counter = FlopCounterMode(display=False)
            with counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
                program(input_ids=ids)
            told = ex.cost().at(batch=batch, seq=seq).torch_flops
            yield name, told == counter.get_total_flops()


def _close_peaks(names: list[str]) -> Iterator[tuple[str, bool]]:
    for name in names:
        for dtype in (torch.float32, torch.bfloat16):
            ex, program = _exported(name, dtype)
            for batch, seq in PEAK_SIZES if ex.ok else ():
                ids = torch.zeros(batch, seq, dtype=torch.long)
                measured = peak_of(lambda ids=ids, call=program: call(input_ids=ids))
                told = ex.cost().at(batch=batch, seq=seq).peak_bytes
                yield f"{name} {dtype}", abs(told - measured) <= _CLOSE * measured


def peak_of(call: Callable[[], Any]) -> int:
    """The most bytes that a call has allocated at once, as torch's profiler sees them."""
    with torch.no_grad():
        call()
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            call()
    held, most = 0, 0
    for each in seen.profiler.kineto_results.events():  # type: ignore[union-attr]
        if each.name() == "[memory]":
            held += each.nbytes()
            most = max(most, held)
    return most
