"""Runs a model or a program on copies of its inputs, and restores the random generators."""

from __future__ import annotations

import copy
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch

from export_engine.attempt import Request, signature_of
from export_engine.capture import (
    Refilled,
    contents,
    find_container_writes,
    input_leaves,
    model_kept,
    quiet,
)
from export_engine.defects import log_internal_error, user_code
from export_engine.process import ELSEWHERE, Deadline, sandbox, undone
from export_engine.process import seed as seed_generators
from export_engine.torch_internals import is_fake, pytree, transforms_left
from export_engine.verify.uninitialized import fill_new_memory

_T = TypeVar("_T")


class Call(NamedTuple):
    """A call that ended."""

    result: Any
    inputs: dict[str, Any]
    """The copies of tensors and other values that it was given, by path, after it."""
    refilled: Refilled
    """Its writes into the containers around them."""


def run(
    called: Callable[..., Any],
    request: Request,
    seed: int,
    grad: bool = False,
    patience: Deadline | None = None,
) -> Any:
    """The result of a call on copies of the request's inputs, quietly; see `call`."""
    return call(called, request, seed, grad, patience=patience).result


def call(
    called: Callable[..., Any],
    request: Request,
    seed: int,
    grad: bool = False,
    compiled: bool = False,
    patience: Deadline | None = None,
) -> Call:
    """A call on copies of the request's inputs, with what it made of them.

    An input that is passed twice is one copy passed twice.

    Args:
        called: the model or the program.
        request: whose arguments to copy.
        seed: of the random numbers.
        grad: whether gradients are recorded; by default they are not, whatever the user's mode is.
        compiled: whether torch.compile compiles inside; by default, all runs in eager.
        patience: where the inputs are not the user's own, how long it may take.

    Raises:
        TookTooLong: it had not ended by then.
    """
    signature = signature_of(request.target)
    memo: dict[int, Any] = {}

    args, kwargs = pytree.tree_map(
        lambda value: copy_leaf(value, memo), (request.args, dict(request.kwargs))
    )
    own = called is request.target and not isinstance(called, torch.fx.GraphModule)
    with sandbox(), quiet(), full_precision(), transforms_left(), torch.set_grad_enabled(grad):
        seed_generators(seed)
        entries = input_leaves(signature, args, kwargs)
        running = user_code("the model" if own else "the program")
        with nullcontext() if compiled else in_eager(), fill_new_memory(), running:
            if patience is None:
                result = called(*args, **kwargs)
            else:
                result = patience.call(called, *args, **kwargs)
    refilled = find_container_writes(entries, input_leaves(signature, args, kwargs), result)
    return Call(_copy_state(result, called), entries, refilled)


def call_with_gradients_if_needed(run: Callable[[bool], _T], restore: Callable[[], None]) -> _T:
    """The result of a run without gradients, or with them if the model computes some itself.

    Args:
        run: makes the calls; its argument says whether gradients are recorded.
        restore: restores the model before it is called again.
    """
    try:
        return run(False)
    except RuntimeError as error:
        if not _is_raised_by_autograd(error):
            raise
    restore()
    return run(True)


def _is_raised_by_autograd(error: BaseException) -> bool:
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return Path(frame.f_code.co_filename).parent == Path(torch.autograd.__file__).parent


def _copy_state(result: Any, called: Callable[..., Any]) -> Any:
    """A result that stays as it is when the next call writes to the module's state.

    A model may return a buffer that it has just written to. After the call it is put back, and a
    result that shares its memory would change with it.
    """
    owner = called if isinstance(called, torch.nn.Module) else getattr(called, "__self__", None)
    if not isinstance(owner, torch.nn.Module):
        return result
    held = {
        storage_address(tensor)
        for module in owner.modules()
        for value in vars(module).values()
        for tensor in (value, *(contents(value) or ()))
    } - {0}
    return pytree.tree_map(
        lambda leaf: _copy_storage(leaf) if storage_address(leaf) in held else leaf, result
    )


def storage_address(value: Any) -> int:
    """The address of a tensor's memory; 0 of anything without any."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided or is_fake(value):
        return 0
    try:
        return value.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # a subclass that has no storage of its own
        return 0


def _copy_storage(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides, even if elements overlap or have gaps between them."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return tensor.detach().clone()
    copied = tensor.detach().new_empty(0)
    storage = tensor.untyped_storage().clone()  # type: ignore[no-untyped-call]
    copied.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())
    return copied


@undone
def full_precision() -> Iterator[None]:
    """A GPU computes float32 as float32 inside, not as TF32, which has ten bits of its 23.

    So a rewrite that sums in another order, as a scan in place of cuDNN's LSTM, is as close to it
    as on a CPU, and what is not is an error.
    """
    owners: list[Any] = [torch.backends.cudnn, torch.backends.cuda.matmul]
    rounding: list[Any] = []
    for owner in owners:
        with suppress(RuntimeError):  # torch refuses to tell where its old and new names are mixed
            if owner.allow_tf32:
                owner.allow_tf32 = False
                rounding.append(owner)
    try:
        yield
    finally:
        for owner in rounding:
            owner.allow_tf32 = True


@undone
def in_eager() -> Iterator[None]:
    """Run functions compiled with torch.compile in eager inside, so that nothing is compiled.

    A call at another size would be compiled once more, which torch keeps.
    """
    with torch.compiler.set_stance("force_eager"):
        yield


def runs_in_eager(request: Request) -> bool:
    """Whether the model runs on a request's inputs, without its edits; it is as before."""
    with model_kept(request.target):
        try:
            run(request.target, request, seed=0, patience=Deadline(ELSEWHERE))
        except Exception as error:  # noqa: BLE001 - the model may refuse inputs by whatever it likes
            log_internal_error(error, "running the model in eager")
            return False
    return True


def copy_leaf(value: Any, memo: dict[int, Any], device: str | None = None) -> Any:
    """A copy of a leaf of a call's inputs; one that is passed twice is copied once.

    Args:
        value: a tensor, which the copy is detached from, or anything else.
        memo: the copies so far, by the id of what they are copies of.
        device: where a tensor's copy is; by default where the tensor is.
    """
    if id(value) not in memo:
        with user_code("copying an input"):
            memo[id(value)] = _copy(value, device)
    return memo[id(value)]


def _copy(value: Any, device: str | None) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone().to(device or value.device).requires_grad_(value.requires_grad)
    try:
        result = copy.deepcopy(value)
    except Exception as error:
        if not isinstance(value, dict):
            raise
        log_internal_error(error, "copying a dict by its own methods")
        result = _same_items(value)
    if isinstance(value, dict) and getattr(value, "__dict__", None) is value:
        object.__setattr__(
            result, "__dict__", result
        )  # keys that are attributes too, which `copy` loses
    return result


def _same_items(value: dict[Any, Any]) -> dict[Any, Any]:
    """A copy of a dict whose `__getattr__` reads items, also `__deepcopy__`, which it lacks."""
    base = OrderedDict if isinstance(value, OrderedDict) else dict
    result, memo = base.__new__(type(value)), dict[int, Any]()
    attributes = vars(value)
    for name, item in attributes.items() if attributes is not value else ():
        object.__setattr__(result, name, copy.deepcopy(item, memo))
    for key, each in base.items(value):
        base.__setitem__(result, key, copy.deepcopy(each, memo))
    return result
