"""Whether findings on real models are true: those above notes, each judged by a run.

One of which only Verify can tell whether it matters counts once Verify has run. `alarms_judged.tsv`
has what was judged: the model, the code, whether it is true, and by which run. A finding that is
not listed counts as false until somebody judges it. With EVERY=4 in the environment, only every
fourth model is exported. The models are the zoo's, torchvision's, and one of each module of timm's,
as far as they are installed.

As run on 2026-11-27, in parts over a day, with torchvision 0.28.0, timm 1.0.31 and torch_geometric
2.8.1: 259 of these models export, and none has a finding above a note once Verify has run. Before,
two of recurrent-gemma are (EX210), which three calls of eager in a row decide. torchvision's own
compiled ops were stubs, for its build is of another torch. Of 350 architectures of transformers
5.23.0 in random order 137 run and export with a tiny config, 88 of them not in the zoo: none has
one. Of 98 planted faults of 24 codes all are named, and none of their twins has a finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.findings import Finding, look, with_decisions
from export_engine.shapes import Shapes
from export_engine.verify import verify, with_verification

from ..planted import Plant, plants
from ..planted_lookalikes import lookalikes
from .sampling import sampled
from .table import Row
from .zoo import MODELS, Model
from .zoo.model import Call

_JUDGED = Path(__file__).with_name("alarms_judged.tsv")


def run() -> list[Row]:
    """The table's row."""
    judged = dict(_judged())
    models, alarms, wrong = 0, 0, list[str]()
    tried, every = sampled([*MODELS, *_of_torchvision(), *_of_timm(), *of_transformers()])
    for model in tried:
        kinds = _alarms_of(model)
        models += kinds is not None
        for kind in kinds or ():
            alarms += 1
            if not judged.get((model.name, kind), False):
                wrong.append(f"{model.name}: {kind}")
    share = (alarms - len(wrong)) / alarms if alarms else float(models > 0)
    return [
        *_planted_rows(),
        Row(
            f"{models} models" + (f", one of {every}" if every > 1 else ""),
            f"true of {alarms} findings above notes",
            share,
            "share",
            least=0.99,
            means="judged by running it, after Verify where that decides; false or not judged: "
            f"{', '.join(wrong) or 'none'}",
        ),
    ]


def _planted_rows() -> Iterator[Row]:
    """Of findings of each code on planted models and on their twins, how many are there and true.

    A twin counts against each code that it is given.
    """
    planted, noticed, false = Counter[str](), Counter[str](), Counter[str]()
    for plant in (*plants(), *lookalikes()):
        code = plant.kind.code
        planted[code] += 1
        noticed[code] += code in _codes_of(plant, plant.faulty, plant.args)
        false.update(_codes_of(plant, plant.clean, plant.clean_args or plant.args))
    for code in sorted(planted):
        count = planted[code]
        yield Row(
            f"{code}, {count} planted",
            f"recall; {false[code]} false in twins of all codes",
            noticed[code] / count,
            "share",
            least=0.95,
            means=f"precision {noticed[code] / max(noticed[code] + false[code], 1):.0%}",
        )
    total = sum(noticed.values())
    yield Row(
        f"{sum(planted.values())} planted models and their twins",
        "true of all findings",
        total / max(total + sum(false.values()), 1),
        "share",
        least=0.99,
        means="of each planted code, and of all codes in twins",
    )


def _codes_of(plant: Plant, target: Any, args: tuple[Any, ...]) -> set[str]:
    shapes = Shapes.parse(plant.shapes) if plant.shapes else None
    request = Request(target=target, args=args, shapes=shapes, strict=plant.strict)
    attempt = capture(request)
    assert isinstance(attempt, Exported), attempt
    return {each.kind.code for each in look(attempt, describe(attempt)).findings}


def _judged() -> Iterator[tuple[tuple[str, str], bool]]:
    for line in _JUDGED.read_text(encoding="utf-8").splitlines()[1:]:
        name, kind, verdict, _ = line.split("\t")
        yield (name, kind), verdict == "true"


def _alarms_of(model: Model) -> list[str] | None:
    """The codes of a model's findings above notes; None if it is not there or does not export."""
    try:
        args, kwargs = model.call(**model.sizes)
        shapes = Shapes.parse(model.shapes) if model.shapes else None
        request = Request(target=model.build(), args=args, kwargs=kwargs, dynamic_shapes=shapes)
        attempt = capture(request)
        if not isinstance(attempt, Exported):  # the natural dims take a fix
            attempt = capture(request.with_changes(shapes=None))
    except ImportError:
        return None
    if not isinstance(attempt, Exported):
        return None
    return [each.kind.code for each in _findings_of(attempt) if each.severity != "note"]


def _findings_of(attempt: Exported) -> tuple[Finding, ...]:
    record = describe(attempt)
    findings = look(attempt, record).findings
    if not any(finding.decided_by for finding in findings):
        return findings
    return with_decisions(findings, with_verification(record, verify(attempt, record)).verification)


_MOST_PARAMETERS = 40_000_000
_SMALL = re.compile(r"test|tiny|nano|pico|femto|atto|small|mini|xxs|_s\b|18|_t\b|_b0|lite")
"""In names of timm's smaller models."""


def _of_torchvision() -> Iterator[Model]:
    """All of its models of images that take any batch, if it is installed."""
    models = _imported("torchvision.models")
    for name in models.list_models(module=models) if models else ():
        size = 299 if "inception" in name else 224
        yield _of_images(name, partial(models.get_model, name, weights=None), (3, size, size))


def _of_timm() -> Iterator[Model]:
    """One model of each of its modules, the smallest by its name, if it is installed."""
    timm = _imported("timm")
    modules: dict[str, list[str]] = {}
    for name in timm.list_models() if timm else ():
        modules.setdefault(timm.model_entrypoint(name).__module__, []).append(name)
    for names in modules.values():
        name = min(names, key=lambda each: (not _SMALL.search(each), len(each)))
        settings = timm.get_pretrained_cfg(name)
        if settings is not None:
            yield _of_images(name, partial(timm.create_model, name), settings.input_size)


_TINY = {
    key: size
    for size, keys in {
        0: "pad_token_id",
        1: "encoder_layers decoder_layers bos_token_id",
        2: "num_hidden_layers n_layer n_layers num_layers num_key_value_heads num_experts_per_tok "
        "type_vocab_size eos_token_id",
        4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads num_experts "
        "decoder_attention_heads num_local_experts n_routed_experts",
        8: "head_dim patch_size",
        16: "moe_intermediate_size",
        32: "hidden_size d_model n_embd dim embed_dim embedding_size image_size",
        48: "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim",
        64: "hidden_dim",
        128: "vocab_size max_position_embeddings",
    }.items()
    for key in keys.split()
}
"""Sizes of a tiny config, under the names that configs of transformers have for them."""
_INPUTS: dict[str, Callable[[Any, int], torch.Tensor]] = {
    "input_ids": lambda config, batch: torch.randint(3, 90, (batch, 16)),
    "pixel_values": lambda config, batch: torch.randn(batch, 3, *[_image_size(config)] * 2),
    "input_values": lambda config, batch: torch.randn(batch, 800),
    "input_features": lambda config, batch: torch.randn(batch, 80, 64),
}


def of_transformers() -> Iterator[Model]:
    """Each architecture of transformers that runs with a tiny config, if it is installed."""
    auto = _imported("transformers.models.auto.modeling_auto")
    for name in sorted(auto.MODEL_MAPPING_NAMES) if auto else ():
        yield _of_architecture(name)


def _of_architecture(name: str) -> Model:
    built: list[torch.nn.Module] = []

    def build() -> torch.nn.Module:
        return built[0]

    def call(batch: int) -> Call:
        import transformers

        try:
            kind = transformers.CONFIG_MAPPING[name]
            default = kind()
            plain = {key for key in _TINY if type(getattr(default, key, "")) in (int, type(None))}
            tiny = {key: size for key, size in _TINY.items() if key in plain}
            config = kind(**tiny, use_cache=False)
            with torch.device("meta"):
                _raise_if_large(transformers.AutoModel.from_config(config))
            model = transformers.AutoModel.from_config(config).eval()
            args = {model.main_input_name: _INPUTS[model.main_input_name](config, batch)}
            with torch.no_grad():
                model(**args)
        except Exception as error:
            raise ImportError(f"{name} does not run with a tiny config") from error
        built[:] = [model]
        return (), args

    return Model(name, "transformers", build, call, {"batch": 2}, "")


def _image_size(config: Any) -> int:
    size = getattr(config, "image_size", 64)
    return size if isinstance(size, int) else 64


def _raise_if_large(model: torch.nn.Module) -> None:
    if sum(weight.numel() for weight in model.parameters()) > _MOST_PARAMETERS:
        raise ImportError("The model is too large here.")


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except Exception:  # noqa: BLE001 - it is not installed, or not for this torch
        return None


def _of_images(name: str, build: Any, shape: tuple[int, ...]) -> Model:
    def small() -> torch.nn.Module:
        model: torch.nn.Module = build().eval()
        _raise_if_large(model)
        return model

    def call(batch: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (torch.randn(batch, *shape),), {}

    return Model(name, "timm", small, call, {"batch": 2}, "")
