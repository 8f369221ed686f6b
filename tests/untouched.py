"""All that an action must leave as it is: a model with what it reaches, and the process.

Made without the engine's own means, so that it does not overlook what they do.
"""

from __future__ import annotations

import array
import atexit
import builtins
import contextvars
import functools
import gc
import hashlib
import io
import itertools
import logging
import os
import random
import signal
import sys
import threading
import types
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils import _pytree as pytree

State = dict[str, Any]
"""What is seen, by where it is."""

_PLAIN = (int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)


def of_call(*roots: Any) -> State:
    """Everything that is reached from some objects."""
    found: State = {}
    seen: set[int] = set()
    waiting = deque((f"[{number}]", root) for number, root in enumerate(roots))
    while waiting:
        path, value = waiting.popleft()
        found[path] = _seen(value)
        if not isinstance(value, _PLAIN) and id(value) not in seen:
            seen.add(id(value))
            waiting.extend((f"{path}{step}", each) for step, each in _inside(value))
    return found


def _seen(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        if nn.parameter.is_lazy(value):
            return id(value), type(value), value.requires_grad
        kept = value.detach()
        grad = id(value.grad) if value.is_leaf else None
        known = (id(value), type(value), value.shape, value.dtype, value.requires_grad, grad)
        if value.layout is not torch.strided or value.is_meta:
            return known
        text = kept.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        where = (value.stride(), value.data_ptr(), value._version)
        return (*known, *where, hashlib.md5(text).hexdigest())
    if isinstance(value, np.ndarray):
        return id(value), value.shape, value.tobytes()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, dict | list | set | deque):
        return id(value), len(value)
    return id(value), *_state_of(value)


def _state_of(value: Any) -> tuple[Any, ...]:
    """What an object keeps where no attribute shows it."""
    for kind, read in _STATES:
        if isinstance(value, kind):
            return (read(value),)
    return ()


def _of_context(value: contextvars.ContextVar[Any]) -> Any:
    try:
        return value.get()
    except LookupError:
        return "nothing"


_STATES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (bytearray | array.array, bytes),
    (io.StringIO, lambda it: (it.getvalue(), it.tell())),
    (itertools.count, repr),
    (random.Random, lambda it: it.getstate()),
    (np.random.Generator, lambda it: str(it.bit_generator.state)),
    (torch.Generator, lambda it: it.get_state().tolist()),
    (contextvars.ContextVar, _of_context),
    (type(functools.cache(len)), lambda it: it.cache_info().currsize),
)


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, types.ModuleType):
        return
    if isinstance(value, dict | OrderedDict):
        yield from ((f"[{key!r:.60}]", each) for key, each in list(dict.items(value)))
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from ((f"[{number}]", each) for number, each in enumerate(value))
    elif isinstance(value, types.MethodType):
        yield from ((".self", value.__self__), (".func", value.__func__))
    elif isinstance(value, types.FunctionType):
        yield from _of_function(value)
    elif isinstance(value, type):
        if _is_ours(value.__module__):
            own = {name: each for name, each in vars(value).items() if name != "__slotnames__"}
            yield from ((f"::{name}", each) for name, each in own.items())
    elif isinstance(value, torch.Tensor):
        if not nn.parameter.is_lazy(value):
            yield ".grad", value.grad if value.is_leaf else None
        yield from ((f".{name}", each) for name, each in list(vars(value).items()))
    else:
        yield ".class", type(value)
        if isinstance(value, _HOLDING) or _is_ours(type(value).__module__):
            yield from _attributes(value)


_HOLDING = (nn.Module, torch.optim.Optimizer, threading.local)
"""Classes of libraries whose instances hold what a model keeps."""


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    yield from ((f".{name}", each) for name, each in list(getattr(value, "__dict__", {}).items()))
    for base in type(value).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType):
                yield f".{name}", getattr(value, name, "nothing")


def _of_function(value: types.FunctionType) -> Iterator[tuple[str, Any]]:
    yield ".code", value.__code__
    yield ".dict", value.__dict__
    yield ".defaults", value.__defaults__
    if not _is_ours(value.__module__):
        return
    cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=False)
    for name, cell in cells:
        try:
            yield f"<{name}>", cell.cell_contents
        except ValueError:
            yield f"<{name}>", "no value"
    for name in value.__code__.co_names:
        if name in value.__globals__:
            yield f"/{name}", value.__globals__[name]


def _is_ours(module: str) -> bool:
    return (module or "").startswith(("tests", "__main__", "torch._export.db", "transformers"))


def of_process() -> State:
    """What the whole process shares."""
    numpy = np.random.get_state()
    return {
        **{f"torch: {name}": read() for name, read in _TORCH.items()},
        **{f"class {owner.__qualname__}": _attributes_of(owner) for owner in _classes()},
        **{f"module {each.__name__}": _functions_of(each) for each in _modules()},
        "containers": set(pytree.SUPPORTED_NODES),
        "operators": set(torch._C._dispatch_get_all_op_names()),
        "random": (random.getstate(), numpy[1].tobytes(), numpy[2:]),
        "warnings": (list(warnings.filters), warnings.showwarning, warnings._showwarnmsg_impl),
        "loggers": _loggers(),
        "streams": (sys.stdout, sys.stderr, sys.stdin, sys.displayhook, sys.excepthook),
        "hooks": (sys.unraisablehook, threading.excepthook, sys.gettrace(), sys.getprofile()),
        "signals": [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)],
        "environment": dict(os.environ),
        "folder": Path.cwd(),
        "paths": list(sys.path),
        "imports": (list(sys.meta_path), list(sys.path_hooks)),
        "python": (gc.isenabled(), gc.get_threshold(), sys.getrecursionlimit()),
        "called at the end": atexit._ncallbacks(),
        "called by the collector": list(gc.callbacks),
        "numpy": (np.geterr(), np.get_printoptions()),
        "threads": set(threading.enumerate()),
        "files": _open_files(),
        "builtins": dict(vars(builtins)),
    }


def _compiled() -> dict[str, int]:
    """How many versions Dynamo has of each function that it compiled."""
    from torch._dynamo import convert_frame
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    codes = [code for each in convert_frame.input_codes.seen if (code := each()) is not None]
    found = {f"{code.co_qualname}": len(_debug_get_cache_entry_list(code)) for code in codes}
    return {name: count for name, count in found.items() if count and "cond_op" not in name}


_TORCH: dict[str, Callable[[], Any]] = {
    "default dtype": torch.get_default_dtype,
    "default device": torch.get_default_device,
    "gradients": torch.is_grad_enabled,
    "inference": torch.is_inference_mode_enabled,
    "deterministic": torch.are_deterministic_algorithms_enabled,
    "threads": torch.get_num_threads,
    "precision": torch.get_float32_matmul_precision,
    "autocast": lambda: (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
    "random": lambda: torch.get_rng_state().tolist(),
    "anomalies": torch.is_anomaly_enabled,
    "warns always": torch.is_warn_always_enabled,
    "backends": lambda: (
        torch.backends.cudnn.enabled,
        torch.backends.cudnn.benchmark,
        torch.backends.cudnn.deterministic,
        torch.backends.mkldnn.enabled,
        torch.backends.cuda.flash_sdp_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
    ),
    "modes": lambda: (
        torch._C._len_torch_function_stack(),
        torch._C._len_torch_dispatch_stack(),
        torch._C._functorch.peek_interpreter_stack(),
        torch.jit.is_tracing(),
        torch.compiler.is_compiling(),
        torch.compiler.is_exporting(),
    ),
    "compiled": _compiled,
    "configs": lambda: [each.get_config_copy() for each in _configs()],
    "counters": lambda: {name: dict(each) for name, each in _dynamo_utils().counters.items()},
    "modules' hooks": lambda: [
        dict(value)
        for name, value in vars(nn.modules.module).items()
        if name.startswith("_global_") and isinstance(value, dict)
    ],
}


def _configs() -> list[Any]:
    from torch._dynamo import config
    from torch._functorch import config as functorch_config
    from torch.fx.experimental import _config

    return [config, functorch_config, _config]


def _dynamo_utils() -> Any:
    from torch._dynamo import utils

    return utils


def _open_files() -> list[str]:
    """The paths that this process has open, where Linux tells."""
    folder = Path("/proc/self/fd")
    found = []
    for each in folder.iterdir() if folder.exists() else ():
        with suppress(OSError):
            found.append(str(each.readlink()))
    return sorted(each for each in found if each.startswith("/") and "/proc/" not in each)


def _classes() -> list[type]:
    from torch._dynamo import output_graph
    from torch._dynamo.variables import nn_module
    from torch.fx.experimental import proxy_tensor, symbolic_shapes

    return [
        nn.Module,
        torch.Tensor,
        torch.fx.Interpreter,
        proxy_tensor.PythonKeyTracer,
        proxy_tensor._ModuleStackTracer,
        symbolic_shapes.ShapeEnv,
        output_graph.OutputGraph,
        nn_module.UnspecializedNNModuleVariable,
    ]


def _modules() -> list[Any]:
    from torch._dynamo import convert_frame, eval_frame, exc
    from torch._export import non_strict_utils
    from torch._export.serde import serialize
    from torch.export import _trace, dynamic_shapes
    from torch.fx.experimental import proxy_tensor

    return [
        *(torch, torch.export, torch.nn.functional, _trace, dynamic_shapes, non_strict_utils),
        *(proxy_tensor, serialize, convert_frame, eval_frame, exc),
    ]


def _attributes_of(owner: type) -> dict[str, Any]:
    """Without what Python notes there when it copies the first instance."""
    return {name: each for name, each in vars(owner).items() if name != "__slotnames__"}


def _functions_of(module: Any) -> dict[str, Any]:
    """Its functions and classes; a package has another submodule once it is imported."""
    return {name: each for name, each in vars(module).items() if callable(each)}


def _loggers() -> dict[str, Any]:
    """Those that say anything; one that is made anew is as good as none."""
    known = [("", logging.root), *logging.root.manager.loggerDict.items()]
    return {
        name: (
            each.level,
            each.disabled,
            [(handler, list(handler.filters)) for handler in each.handlers],
        )
        for name, each in known
        if isinstance(each, logging.Logger) and (each.level or each.handlers or each.disabled)
    }


def differences(before: State, after: State) -> list[str]:
    """Where they differ, and how."""
    found = []
    for path in before.keys() | after.keys():
        one, other = before.get(path, "nothing"), after.get(path, "nothing")
        if isinstance(one, dict) and isinstance(other, dict):
            found += [f"{path}: {each}" for each in _changed(one, other)]
        elif one != other:
            found.append(f"{path}: {one!r:.200} → {other!r:.200}")
    return sorted(found)


def _changed(one: dict[Any, Any], other: dict[Any, Any]) -> Iterator[str]:
    for key in one.keys() | other.keys():
        if one.get(key, "nothing") != other.get(key, "nothing"):
            yield f"{key}: {one.get(key, 'nothing')!r:.100} → {other.get(key, 'nothing')!r:.100}"
