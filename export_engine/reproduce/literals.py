"""Plain values and tensors as Python text. Weights are not written down: only their sizes."""

from __future__ import annotations

import inspect
import math
from typing import Any

import torch

_FEW = 16
"""Elements of a tensor of numbers or bools that is written with its values: an index, a length."""
_TORCH_WORDS = (torch.dtype, torch.layout, torch.memory_format)


class NoText(ValueError):
    """A value that cannot be written as text."""


def literal(value: Any) -> str:
    """A value without parts, as an expression.

    Raises:
        NoText: it is another kind of value.
    """
    if value is None or type(value) in (bool, int, str, bytes, type(...)):
        return "..." if value is ... else repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if type(value) in (complex, range, slice):
        return repr(value)
    if isinstance(value, _TORCH_WORDS):
        return str(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    raise NoText(f"a {type(value).__name__} cannot be written as code")


def tensor_text(tensor: torch.Tensor) -> str:
    """A tensor of the same sizes, dtype and device; the user's floats are not written down.

    Raises:
        NoText: it has a layout, or a class, of its own.
    """
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        raise NoText(
            f"a {type(tensor).__name__} of layout {tensor.layout} cannot be written as code"
        )
    device = f", device={str(tensor.device)!r}" if tensor.device.type != "cpu" else ""
    graded = tensor.requires_grad and not isinstance(tensor, torch.nn.Parameter)
    options = device + (", requires_grad=True" if graded else "")
    sizes = ", ".join(map(str, tensor.shape)) or "()"
    dtype = f", dtype={tensor.dtype}"
    if tensor.is_floating_point() or tensor.is_complex():
        plain = tensor.dtype == torch.float32
        text = "torch.randn" if tensor.dtype.itemsize > 1 else "torch.zeros"
        return f"{text}({sizes}{'' if plain else dtype}{options})"
    if tensor.numel() > _FEW or tensor.device.type == "meta":
        return f"torch.ones({sizes}{dtype}{options})"
    with torch.no_grad():
        listed = tensor.detach().reshape(-1).tolist()
    inferred = tensor.dtype in (torch.int64, torch.bool) and listed
    options = options if inferred else dtype + options
    if tensor.dim() == 0:
        return f"torch.tensor({listed[0]!r}{options})"
    shaped = f".reshape({sizes})" if tensor.dim() > 1 else ""
    return f"torch.tensor({listed!r}{options}){shaped}"


def torch_module(module: torch.nn.Module, result: type[torch.nn.Module]) -> str:
    """A module of torch's, made again from what it keeps of its arguments.

    Args:
        module: the module.
        result: its class; of a parametrized one the class that it was made as.

    Raises:
        NoText: it does not keep them, or is not torch's.
    """
    is_plain = result is type(module)
    if getattr(torch.nn, result.__name__, None) is not result or (is_plain and module._modules):
        raise NoText(f"{result.__name__} is not a torch.nn module that can be recreated")
    values: dict[str, Any] = {}
    for name, parameter in _parameters(result).items():
        required = parameter.default is parameter.empty
        if required and not hasattr(module, name):
            raise NoText(f"{result.__name__} does not keep {name}")
        value = getattr(module, name, parameter.default)
        if isinstance(parameter.default, bool) and not isinstance(value, bool):
            value = value is not None
        if required or value != parameter.default:
            values[name] = tuple(value) if isinstance(value, tuple) else value
    if is_plain:
        _check_tensors(module, values)
    texts = []
    for name, value in values.items():
        text = repr(value) if isinstance(value, tuple) else literal(value)
        is_first = _parameters(result)[name].default is inspect.Parameter.empty
        texts.append(text if is_first else f"{name}={text}")
    dtypes = {parameter.dtype for parameter in module.parameters()} - {torch.float32}
    cast = f".to({dtypes.pop()})" if dtypes else ""
    return f"nn.{result.__name__}({', '.join(texts)}){cast}"


def _check_tensors(module: torch.nn.Module, values: dict[str, Any]) -> None:
    """Raises NoText where a module of its class with these arguments has other tensors."""
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            other = type(module)(**values)
    except (TypeError, ValueError) as error:
        raise NoText(f"{type(module).__name__} takes other arguments") from error
    shapes = [
        {name: tensor.shape for name, tensor in item.state_dict().items()}
        for item in (other, module)
    ]
    if shapes[0] != shapes[1]:
        raise NoText(f"{type(module).__name__} has tensors of its own")


def _parameters(made: type) -> dict[str, inspect.Parameter]:
    """The arguments that say what a module is; those of an LSTM are its base's."""
    for item in made.__mro__:
        parameters = dict(inspect.signature(item).parameters)
        stars = {parameter.kind for parameter in parameters.values()}
        if inspect.Parameter.VAR_POSITIONAL not in stars:
            left_out = ("mode", "device", "dtype") if item is not made else ("device", "dtype")
            return {
                name: parameter for name, parameter in parameters.items() if name not in left_out
            }
    return {}
