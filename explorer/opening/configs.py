"""A model of transformers from its config: whole without weights, or small with random ones."""

from __future__ import annotations

import copy
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer.opening.exporting import explore
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from explorer.exploration import Exploration
    from explorer.results.layers import LayerComparison
    from export_engine.findings import Finding
    from export_engine.progress import Progress, Report
    from export_engine.record import Record
    from export_engine.verify import Guarantee, Verified

_BATCH, _TOKENS, _TARGETS, _SAMPLES = 2, 16, 8, 16_000
_WIDTH = 16
"""The size of an attention head of a small model."""


def explore_config(
    config: Any,
    *,
    small: bool = False,
    dynamic_shapes: Any = None,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Exports the model of a config of transformers, with example inputs from its signature.

    The whole model is on the meta device: it takes no memory, and checks that need values are
    skipped. Its small twin has few layers, narrow ones, and random weights, so that it can be
    verified and run. The title says which of the two it is; `explorer.diff(whole, twin,
    layers=True)` compares them.

    Args:
        config: a PretrainedConfig. It is not changed.
        small: export the small twin.
        dynamic_shapes: as for `explore`; by default the batch and the lengths vary.
        progress: as for `explore`.

    Raises:
        WrongArgument: `config` is not a config of transformers, or the inputs of its model are not
            known.
    """
    import torch

    model_class = _class_of(config)
    device = "cpu" if small else "meta"
    with torch.random.fork_rng(devices=[]), torch.device(device):
        layers = count_layers_needed(config) if small else 0
        chosen = shrink_config(config, layers) if small else copy.deepcopy(config)
        chosen.use_cache = False
        torch.manual_seed(0)
        model = model_class(chosen).eval()
        kwargs, shapes = _example_inputs(model, chosen, device)
    dtype = getattr(chosen, "dtype", None)
    if isinstance(dtype, torch.dtype):  # what its checkpoint has
        model = model.to(dtype)
        kwargs = {
            name: value.to(dtype) if value.is_floating_point() else value
            for name, value in kwargs.items()
        }
    name = model_class.__name__
    told = "without weights"
    if small:
        told = f"{_layers_of(chosen)} of {_layers_of(config)} layers, random"
    title = f"{name}, {told}"

    def export(dynamic: Any) -> Exploration:
        return explore(model, (), kwargs, dynamic_shapes=dynamic, title=title, progress=progress)

    exploration = export(dynamic_shapes or shapes)
    bounded = _add_length_bounds(shapes, chosen)
    if not exploration.ok and not dynamic_shapes and bounded != shapes:
        again = export(bounded)  # learned positions end somewhere
        exploration = again if again.ok else exploration
    if not small:
        exploration.session.check_twin = partial(_check_twin, copy.deepcopy(config))
    return exploration


def _check_twin(
    config: Any, verified: Verified, whole: Record, sizes: int, report: Report | None
) -> tuple[Verified, tuple[Finding, ...]]:
    """Verifies the small twin of a model without weights, and compares their layers.

    Checks that need values stay unchecked for the whole model; the sentence reports the twin's
    result.
    """
    from explorer.results.layers import LayerComparison
    from export_engine.findings import check_twin_layers

    twin = explore_config(config, small=True)
    if not twin.ok:
        return verified, ()
    checked = twin.verify(sizes, report)
    layers = LayerComparison(whole, twin.record)
    told = {guarantee.name: guarantee for guarantee in checked.guarantees}
    lines = (*(f"twin: {item.name}: {item.sentence}" for item in checked.guarantees), str(layers))
    guarantees = [
        _of_twin(item, told[item.name], twin.record.title, layers, lines)
        if item.name in _ONLY_VALUES and item.verdict == "not checked"
        else item
        for item in verified.guarantees
    ]
    findings = tuple(check_twin_layers(whole, twin.record))
    return replace(verified, guarantees=tuple(guarantees)), findings


_ONLY_VALUES = ("sound", "state")


def _of_twin(
    item: Guarantee, twin: Guarantee, title: str, layers: LayerComparison, lines: tuple[str, ...]
) -> Guarantee:
    """A guarantee of the whole that was not checked, with what the twin shows of it."""
    same = "with the same layers" if layers.same else "whose layers differ from the model's"
    sentence = f"The model has no weights. Its twin {title}, {same}: {twin.sentence}"
    verdict = "broken" if twin.verdict == "broken" else item.verdict
    return replace(item, verdict=verdict, sentence=sentence, evidence=lines)


def shrink_config(config: Any, layers: int = 2) -> Any:
    """A config of the same architecture, small: few layers of each kind, narrow ones, few experts.

    Args:
        config: a PretrainedConfig. It is not changed.
        layers: how many layers to keep at least, if it has so many.
    """
    small = copy.deepcopy(config)
    for part in _parts(small):
        _shrink(part, layers)
    return small


def count_layers_needed(config: Any) -> int:
    """The number of layers among which each kind of layer occurs, in each list of layers.

    Read off the model on the meta device. Kinds differ by their modules' classes, by which
    parameters are None, and by settings that are bools, words or None.

    Args:
        config: a PretrainedConfig. It is not changed.

    Returns:
        The number, from 2 to 24; also 2 if the model cannot be built on the meta device.

    Raises:
        WrongArgument: there is no model for it.
    """
    import torch

    model_class = _class_of(config)
    try:
        with torch.device("meta"):
            model = model_class(copy.deepcopy(config))
    except (RuntimeError, TypeError, ValueError):
        return 2
    needed, lists = 2, list[str]()
    for path, module in model.named_modules():
        inside = any(path.startswith(f"{outer}.") for outer in lists)
        if isinstance(module, torch.nn.ModuleList) and not inside:
            lists.append(path)
            kinds = [_kind_of(layer) for layer in module]
            needed = max([needed, *(kinds.index(kind) + 1 for kind in {*kinds})])
    return min(needed, _MOST_LAYERS)


def _kind_of(layer: Any) -> frozenset[tuple[Any, ...]]:
    """The classes and settings of the modules in a layer; equal items of a list count once."""
    return frozenset(
        (
            re.sub(r"\b\d+\b", "*", path),
            type(module),
            *sorted((name, value is None) for name, value in module._parameters.items()),
            *sorted((name, str(value)) for name, value in vars(module).items() if _is_mode(value)),
        )
        for path, module in layer.named_modules()
    )


def _is_mode(value: object) -> bool:
    """Whether code may branch on an attribute; a name with the number of a layer is not one."""
    if isinstance(value, str):
        return not any(letter.isdigit() for letter in value)
    return value is None or isinstance(value, bool)


_MOST_LAYERS = 24


def _parts(config: Any) -> Iterator[Any]:
    """A config and those inside of it, as of a model of text and images."""
    yield config
    for name in getattr(config, "sub_configs", {}):
        part = getattr(config, name, None)
        if part is not None:
            yield from _parts(part)


_LAYERS = (
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "encoder_layers",
    "decoder_layers",
    "num_decoder_layers",
    "encoder_num_layers",
)
_PAIRS = (("encoder_layers", "decoder_layers"), ("num_layers", "num_decoder_layers"))
"""The inputs of an encoder and a decoder."""
_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
_HIDDEN = ("hidden_size", "n_embd", "dim", "d_model")
_HEAD_WIDTHS = ("head_dim", "d_kv", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
_CAPS = {
    "q_lora_rank": 32,
    "kv_lora_rank": 32,
    "n_group": 2,
    "topk_group": 1,
    "num_key_value_heads": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "intermediate_size": 128,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "d_ff": 128,
    "n_inner": 128,
    "hidden_dim": 128,
    "vocab_size": 512,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
}
_TOKENS_OF_CONFIG = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")


def _shrink(config: Any, layers: int) -> None:
    whole, kept = _layers_of_part(config), max(_count_layers(config), layers)
    depths = getattr(config, "depths", None)
    if isinstance(depths, list | tuple):  # of stages, each of which has its width
        config.depths = [min(depth, 2) for depth in depths]
    for name in _LAYERS if not isinstance(depths, list | tuple) else ():
        if _has_int(config, name):
            setattr(config, name, min(getattr(config, name), kept))
    for name, value in list(vars(config).items()) if whole > kept else ():
        if isinstance(value, list) and len(value) == whole and not isinstance(depths, list | tuple):
            setattr(config, name, value[:kept])  # one for each layer
    heads = next((text for text in _HEADS if _has_int(config, text)), None)
    count = min(getattr(config, heads), 4) if heads else 4
    if heads:
        groups = getattr(config, "num_key_value_heads", None)
        shared = isinstance(groups, int) and groups < getattr(config, heads)
        setattr(config, heads, count)
        if isinstance(groups, int):
            config.num_key_value_heads = min(groups, count // 2 if shared else count)
    for name in _HEAD_WIDTHS:
        if _has_int(config, name):
            setattr(config, name, _WIDTH)
    if _has_int(config, "qk_head_dim"):  # of both parts of a head
        config.qk_head_dim = 2 * _WIDTH
    for name in _HIDDEN:
        if _has_int(config, name):
            setattr(config, name, count * _WIDTH)
    for name, most in _CAPS.items():
        if name != "num_key_value_heads" and _has_int(config, name):
            setattr(config, name, min(getattr(config, name), most))
    for name in _TOKENS_OF_CONFIG:
        token = getattr(config, name, None)
        if isinstance(token, int) and token >= getattr(config, "vocab_size", token + 1):
            setattr(config, name, 0)


def _has_int(config: Any, name: str) -> bool:
    """Whether a config has a number by this name which can be set."""
    return _can_set(config, name) and isinstance(getattr(config, name, None), int)


def _can_set(config: Any, name: str) -> bool:
    return not isinstance(getattr(type(config), name, None), property)


def _count_layers(config: Any) -> int:
    """So many layers that each kind of them is there; at least two."""
    kinds = getattr(config, "layer_types", None)
    if not isinstance(kinds, list) or not kinds:
        return 2
    return max(2, *(kinds.index(kind) + 1 for kind in {*kinds}))


def _layers_of(config: Any) -> int:
    return max(_layers_of_part(part) for part in _parts(config))


def _layers_of_part(config: Any) -> int:
    depths = getattr(config, "depths", None)
    if isinstance(depths, list | tuple):
        return sum(depths)
    for names in _PAIRS:
        counts = [getattr(config, name, None) for name in names]
        if getattr(config, "is_encoder_decoder", False) and all(counts):
            return sum(int(count) for count in counts if count)
    items = (getattr(config, name, None) for name in _LAYERS)
    return next((count for count in items if isinstance(count, int)), 0)


def _add_length_bounds(shapes: str, config: Any) -> str:
    """Shapes whose lengths end at the last position that the model has."""
    most = getattr(config, "max_position_embeddings", None)
    if not isinstance(most, int):
        return shapes
    return shapes.replace("seq", f"seq[..{most}]").replace("target", f"target[..{most}]")


_AUTO = (
    "FOR_SEQ_TO_SEQ_CAUSAL_LM_",
    "FOR_SPEECH_SEQ_2_SEQ_",
    "FOR_MASKED_LM_",
    "FOR_CAUSAL_LM_",
    "",
)
"""The kinds of models of a config whose own class is not said, the first that there is."""


def _class_of(config: Any) -> Any:
    transformers = sys.modules.get("transformers")  # it made the config
    if transformers is None or not isinstance(config, transformers.PretrainedConfig):
        raise WrongArgument(
            f"explore_config requires a transformers config, not a {type(config).__name__}: "
            "LlamaConfig(...)."
        )
    for name in config.architectures or ():
        if hasattr(transformers, name):
            return getattr(transformers, name)
    for name in _AUTO:
        auto = getattr(transformers, f"MODEL_{name}MAPPING", {})
        if type(config) in auto:
            result = auto[type(config)]
            return result[0] if isinstance(result, tuple) else result
    raise WrongArgument(f"transformers has no model for a {type(config).__name__}.")


def _example_inputs(model: Any, config: Any, device: str) -> tuple[dict[str, Any], str]:
    """Inputs by the names of `forward`, and which of their sizes vary, in the short language."""
    import torch

    makers: dict[str, tuple[Callable[[], Any], str]] = {
        "input_ids": (
            lambda: torch.zeros(_BATCH, _TOKENS, dtype=torch.long, device=device),
            "batch, seq",
        ),
        "pixel_values": (lambda: _image(config, device), "batch, _, _, _"),
        "input_features": (lambda: _spectrum(config, device), "batch, _, _"),
        "input_values": (lambda: torch.zeros(_BATCH, _SAMPLES, device=device), "batch, samples"),
    }
    taken = inspect.signature(model.forward).parameters
    first = getattr(model, "main_input_name", "input_ids")
    names = [name for name in makers if name in taken and (name == first or name == "input_ids")]
    if not names:
        raise WrongArgument(
            f"The inputs of {type(model).__name__} are not known: {', '.join(taken)}. Build it "
            'with torch.device("meta"), and call explorer.explore(model, (), inputs).'
        )
    kwargs = {name: makers[name][0]() for name in names}
    shapes = [f"{name}: {makers[name][1]}" for name in names]
    if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in taken:
        kwargs["decoder_input_ids"] = torch.zeros(_BATCH, _TARGETS, dtype=torch.long, device=device)
        shapes.append("decoder_input_ids: batch, target")
    return kwargs, "; ".join(shapes)


def _image(config: Any, device: str) -> Any:
    import torch

    part = getattr(config, "vision_config", config)
    size = getattr(part, "image_size", 224)
    height, width = size if isinstance(size, list | tuple) else (size, size)
    return torch.zeros(_BATCH, getattr(part, "num_channels", 3), height, width, device=device)


def _spectrum(config: Any, device: str) -> Any:
    import torch

    frames = 2 * getattr(config, "max_source_positions", 1500)
    return torch.zeros(_BATCH, getattr(config, "num_mel_bins", 80), frames, device=device)
