"""What watching a run costs, beside a call of the program: CPU seconds on one thread.

Budgets: at most 3 calls, on a Llama with 32 layers and on a ResNet, both of a middling size: where
a tensor has few elements, what Python takes for an op is all that is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from export_engine.attempt import Exported
from export_engine.describe import describe
from export_engine.values import watch

from ..models import Case, exported
from .table import Row

_CALLS = 5


def run() -> list[Row]:
    """The table's rows."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [row for name, case in CASES.items() for row in _rows(name, exported(case()))]
    finally:
        torch.set_num_threads(threads)


def _rows(name: str, attempt: Exported) -> list[Row]:
    record = describe(attempt)
    assert attempt.request is not None
    args, kwargs = attempt.request.args, dict(attempt.request.kwargs)
    module = attempt.program.module()
    with torch.no_grad():
        call = _cpu(lambda: module(*args, **kwargs))
    watched = _cpu(lambda: watch(attempt, record))
    memory = watch(attempt, record).values.memory
    return [
        Row(
            name,
            "watching a run, over a call",
            watched / call,
            "×",
            most=3,
            means="how many calls of the program its statistics cost",
        ),
        Row(
            name,
            "memory of values while watching",
            memory / 1e6,
            "MB",
            means="the most that values of ops hold at one time; no tensor is kept",
        ),
    ]


def _cpu(call: Callable[[], Any]) -> float:
    """Median CPU seconds of a call, after a first one."""
    call()
    found = []
    for _ in range(_CALLS):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return sorted(found)[_CALLS // 2]


def _llama() -> Case:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=32,
        hidden_size=512,
        num_attention_heads=8,
        num_key_value_heads=8,
        intermediate_size=1408,
        vocab_size=2000,
        use_cache=False,
    )
    return Case(LlamaForCausalLM(config).eval(), (torch.randint(0, 2000, (1, 128)),))


def _resnet() -> Case:
    from transformers import ResNetConfig, ResNetModel

    sizes = [64, 128, 256, 512]
    config = ResNetConfig(
        embedding_size=64, hidden_sizes=sizes, depths=[3, 4, 6, 3], layer_type="basic"
    )
    return Case(ResNetModel(config).eval(), (torch.randn(2, 3, 160, 160),))


CASES: dict[str, Callable[[], Case]] = {"llama of 32 layers": _llama, "resnet": _resnet}
