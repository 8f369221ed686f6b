"""How right costs are: FLOPs against torch's own counter, peaks against what a run allocates.

Each model is a small config of transformers, exported once with the sizes that vary, and counted at
other sizes; both dtypes for the peaks. One thread: kernels have a workspace for each.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

import explorer
from explorer.opening.configs import shrink_config
from export_engine.cost import CostAt
from export_engine.cost.amount import SizeReader

from .table import Row

_CONFIGS = (
    "Llama Bert ResNet T5 GPT2 ViT Mixtral Swin Whisper Gemma2 MobileNetV2 Falcon ConvNext Bart "
    "Qwen3 Segformer Albert Olmo2 Dinov2 GPTNeoX Phi3 RegNet Electra Bloom Gemma3Text Mistral OPT "
    "Helium GPTBigCode StableLm"
)
STEPS = 5
"""Sizes that each model is counted at."""
_SIZES = {
    "batch": (2, 3, 4, 1, 2),
    "seq": (200, 33, 64, 8, 16),
    "target": (64, 7, 20, 5, 9),
}
PEAK_STEPS = 3
PEAK_MODELS = 20
_CLOSE = 0.1


def run() -> list[Row]:
    """The table's rows."""
    names = [name for name in _CONFIGS.split() if _config(name) is not None]
    with one_thread():
        counts = [_count(name) for name in names]
        close = [near for name in names[:PEAK_MODELS] for near in _close_peaks(name)]
    equal = [(name, same) for name, flops, _ in counts for same in flops]
    again = [(name, same) for name, _, same in counts]
    return [
        _row(f"{len(names)} models at {STEPS} sizes", "FLOPs as torch counts them", equal, 100),
        _row(f"{len(names)} models", "the same as of an export at one of the sizes", again, 100),
        _row(
            f"{min(len(names), PEAK_MODELS)} models at {PEAK_STEPS} sizes, both dtypes",
            "peaks within 10 % of a run's",
            close,
            100,
        ),
    ]


def _row(subject: str, name: str, results: list[tuple[str, bool]], least: float) -> Row:
    wrong = ", ".join(sorted({model for model, right in results if not right})) or "none"
    share = 100 * sum(right for _, right in results) / max(len(results), 1)
    means = f"formulas evaluated, against torch's counter, export and profiler; wrong: {wrong}"
    return Row(subject, name, share, "%", least=least, means=means)


def _config(name: str) -> Any:
    import transformers

    kind = getattr(transformers, f"{name}Config", None)
    return None if kind is None else shrink_config(kind())


def _exported(name: str, dtype: torch.dtype) -> tuple[explorer.Exploration, Callable[..., Any]]:
    config = _config(name)
    config.dtype = dtype
    ex = explorer.explore_config(config, small=True)
    return ex, ex.program.module() if ex.ok else ex


def sizes_at(ex: explorer.Exploration, step: int) -> dict[str, int]:
    """A value for each size that varies."""
    values = {
        symbol.name: _SIZES.get(symbol.name, (3, 5, 7, 2, 4))[step] for symbol in _symbols(ex)
    }
    most = {symbol.name: symbol.upper or values[symbol.name] for symbol in _symbols(ex)}
    return {name: min(value, most[name]) for name, value in values.items()}


def _symbols(ex: explorer.Exploration) -> Any:
    return ex.record.symbols


def inputs_at(ex: explorer.Exploration, sizes: dict[str, int]) -> dict[str, torch.Tensor]:
    """Inputs of zeros at sizes, by name."""
    reader, values = SizeReader(ex.record), [sizes[symbol.name] for symbol in _symbols(ex)]
    inputs = {}
    for entry in ex.record.signature.inputs:
        if entry.kind == "user_input":
            kind = ex.record.types[entry.type]
            amounts = [reader.read(size) for size in kind.shape]
            shape = [amount.at(values) for amount in amounts if amount is not None]
            inputs[entry.name] = torch.zeros(shape, dtype=getattr(torch, kind.dtype))
    return inputs


def _count(name: str) -> tuple[str, list[bool], bool]:
    """Per size, whether FLOPs are torch's; and whether a static export gives all the same."""
    ex, program = _exported(name, torch.float32)
    if not ex.ok:
        return name, [False], False
    flops, cost = [], ex.cost()
    for step in range(STEPS):
        sizes = sizes_at(ex, step)
        counter = FlopCounterMode(display=False)
        with counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
            program(**inputs_at(ex, sizes))
        flops.append(cost.at(sizes).torch_flops == counter.get_total_flops())
    sizes = sizes_at(ex, len(name) % STEPS)
    static = explorer.explore(program, (), inputs_at(ex, sizes))
    return name, flops, static.ok and _numbers(static.cost().at()) == _numbers(cost.at(sizes))


def _numbers(at: CostAt) -> tuple[int, ...]:
    return at.flops, at.read, at.written, at.inputs, at.peak_bytes


def _close_peaks(name: str) -> Iterator[tuple[str, bool]]:
    for dtype in (torch.float32, torch.bfloat16):
        ex, program = _exported(name, dtype)
        for step in range(PEAK_STEPS) if ex.ok else ():
            sizes = sizes_at(ex, step)
            inputs = inputs_at(ex, sizes)
            measured = peak_of(lambda inputs=inputs, call=program: call(**inputs))
            told = ex.cost().at(sizes).peak_bytes
            yield f"{name} {dtype}", abs(told - measured) <= _CLOSE * measured


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Kernels have a workspace for each thread; costs are of one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
