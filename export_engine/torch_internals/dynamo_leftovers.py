"""Free what Dynamo keeps of a traced function, and with it the model, after an export.

An export throws away the code that Dynamo compiles. Dynamo keeps three things of it all the same:
globals of the code, which hold the parameters; guards that a violated constraint left half made,
which a finalizer of some long-lived object holds; and branches of torch.cond that it compiled, with
the backend that saw them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import hook


@undone
def dynamo_leftovers_freed() -> Iterator[None]:
    """Free what Dynamo keeps of functions traced inside, but not of earlier ones."""
    globals_of: dict[int, list[Callable[[], None]]] = {}
    modes: list[list[Any]] = []
    compiled = [code for code in _codes() if _entries(code)]
    backends = torch_has.CACHED_BACKENDS.value if torch_has.CACHED_BACKENDS else {}
    items = set(backends)
    with ExitStack() as hooks:
        hooks.enter_context(hook(torch_has.INSTALL_GLOBAL, lambda o: _noting(o, globals_of)))
        hooks.enter_context(hook(torch_has.CHECK_FUNCTIONS, _clear_on_failure))
        hooks.enter_context(hook(torch_has.BRANCH_BACKEND, lambda o: _with_own_modes(o, modes)))
        if compiled:
            hooks.enter_context(hook(torch_has.RESET, _skip_reset))
        try:
            yield
        finally:
            for mode in modes:
                mode.clear()
            _remove_globals(globals_of)
            _reset({id(code) for code in compiled})
            for group in backends.keys() - items:
                del backends[group]


def _skip_reset(_: Any) -> Any:
    """A strict export resets Dynamo first; what the user compiled would be compiled again."""
    return lambda: None


def _noting(original: Any, globals_of: dict[int, list[Callable[[], None]]]) -> Any:
    """Notes the list of what removes the globals, one for each trace."""

    def install_global_unsafe(self: Any, *args: Any, **kwargs: Any) -> Any:
        original(self, *args, **kwargs)
        removers = torch_has.CLEANUPS.of(self)
        if removers is not None:
            globals_of[id(removers)] = removers

    return install_global_unsafe


def _remove_globals(globals_of: dict[int, list[Callable[[], None]]]) -> None:
    """Removes globals whose code nobody runs: those that Dynamo itself will not remove later."""
    if not globals_of or not torch_has.CLEANUP_MANAGER:
        return
    its_own = {id(value) for value in torch_has.CLEANUP_MANAGER.value.values.values()}
    for removers in globals_of.values():
        if id(removers) not in its_own:
            while removers:
                removers.pop()()


def _clear_on_failure(original: Any) -> Any:
    """Makes a check of guards that fails let go of the graph, as one that succeeds does."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self, *args, **kwargs)
        except BaseException:
            self.__dict__.get("_weakrefs", {}).clear()
            self.output_graph = None
            raise

    return init


def _with_own_modes(original: Any, noted: list[list[Any]]) -> Any:
    """Notes the modes that a branch of torch.cond is compiled under, among them the tracer's.

    Where a branch cannot be compiled, torch's C code never lets go of its backend, which has them.
    """

    def make_eager_backend(modes: Any) -> Any:
        own = list(modes)
        noted.append(own)
        return original(own)

    return make_eager_backend


def _codes() -> list[Any]:
    """The code objects that Dynamo has met and that live still."""
    if not (torch_has.INPUT_CODES and torch_has.CACHE_ENTRIES and torch_has.RESET_CODE):
        return []
    return [
        code for value in list(torch_has.INPUT_CODES.value.seen) if (code := value()) is not None
    ]


def _entries(code: Any) -> list[Any]:
    """The compiled versions of a code object."""
    return list(torch_has.CACHE_ENTRIES.value(code))


def _reset(before: set[int]) -> None:
    """Drops the compiled versions of code that had none before.

    Args:
        before: ids of code objects that had some.
    """
    for code in _codes():
        if id(code) not in before and _entries(code):
            torch_has.RESET_CODE.value(code)
