"""Each private name of torch's taken away in turn: the story goes on, and what is missing is said.

A step of the story (`tests/story.py`) is told again without a name where it looks at that name in a
place that no step before it came by: the first of them, all with `--thorough`. What looks at a name
nowhere is as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import explorer
from explorer.exploration import Exploration
from export_engine.torch_internals import all_capabilities, capability, counters_kept
from export_engine.torch_internals.capability import Looked
from tests.story import STEPS, Came, Telling

GONE = "which torch 9.9 does not have"
BY_PATH = {each.path: each for each in all_capabilities()}
SECOND_WAYS = {
    "torch.utils._pytree.tree_structure": "torch.utils._pytree.tree_flatten",
    "torch.export._trace._combine_args": "torch.export.dynamic_shapes._combine_args_for_tracing",
    "torch._dynamo.eval_frame._combine_args": (
        "torch.export.dynamic_shapes._combine_args_for_tracing"
    ),
    "torch.export.dynamic_shapes._combine_args": (
        "torch.export.dynamic_shapes._combine_args_for_tracing"
    ),
}
"""Names that are looked at only where another is missing."""
NEWER = {
    "torch._export.non_strict_utils.make_sourced_prefixes",
    "torch.fx.experimental.dynamic_spec._resolve_dynamic_shapes",
}
"""Names that are looked at from torch 2.14 on."""
AFTER_EXPORT = {
    "torch.compiler._is_compiling_flag",
    "torch.compiler._is_exporting_flag",
    "torch.fx.GraphModule._lineno_map",
    "torch._inductor.config.cpp.enable_kernel_profile",
    "torch._inductor.config.patch",
    "torch._inductor.config.trace.provenance_tracking_level",
    "torch._inductor.list_options",
    "torch._logging._internal.trace_log",
    "torch._C._profiler._RecordFunctionFast",
    "torch._inductor.codecache.PyCodeCache.modules",
    "torch._inductor.config.cpp_wrapper",
    "torch._logging.structured.INTERN_TABLE",
    "torch._guards.TracingContext",
    "torch._guards.tracing",
    "torch._inductor.compile_fx.compile_fx_inner",
    "torch._inductor.compile_fx.partition_fn",
    "torch._inductor.debug._pre_grad_graph_id",
    "torch._inductor.debug.reset_provenance_globals",
    "torch._inductor.decomposition.select_decomp_table",
    "torch._inductor.virtualized.V.set_fake_mode",
    "torch._decomp.decomposition_table",
    "torch._library.custom_ops.CustomOpDef._init_fn",
    "torch.onnx._internal.exporter._fx_passes.decompose_with_registry",
    "torch.onnx._internal.exporter._registration.ONNXRegistry",
}
"""Names that stages, delegates and generated code look at: the story compiles nothing. Verify looks
at the flags where a call of the model has another state than the program."""
_DEPTH = 2
"""A place is the function that looks, and who calls it."""
Place = tuple[str, tuple[str, ...]]


class Told(NamedTuple):
    """A step as it is with all capabilities."""

    came: Came
    places: set[Place]
    """Which names it looks at, and where."""


class Watched(dict[str, Looked]):
    """What has been probed; notes who asks for what."""

    def __init__(self, known: dict[str, Looked]) -> None:
        super().__init__(known)
        self.places: set[Place] = set()

    def __getitem__(self, path: str) -> Looked:
        asking: list[str] = []
        frame: Any = sys._getframe(2)
        if frame.f_code.co_name == "sentence":  # it is told of, not used
            return super().__getitem__(path)
        while frame is not None and len(asking) < _DEPTH:
            if frame.f_code.co_filename != capability.__file__:
                asking.append(f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}")
            frame = frame.f_back
        self.places.add((path, tuple(asking)))
        return super().__getitem__(path)


def forget() -> None:
    """What was worked out of capabilities, and is kept."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("export_engine.torch_internals.", "export_engine.exportdb.")):
            for each in list(vars(module).values()):
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


class Whole(NamedTuple):
    steps: dict[str, Told]
    small: Exploration


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The story with all capabilities."""
    steps: dict[str, Told] = {}
    telling = Telling(tmp_path_factory.mktemp("whole"))
    for name, step in STEPS.items():
        forget()
        watched = Watched(capability.PROBED)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(capability, "PROBED", watched)
            steps[name] = Told(step(telling), watched.places)
    return Whole(steps, telling.small())


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    forget()
    yield
    forget()


def find_steps(whole: Whole, path: str) -> list[str]:
    """The steps to tell again without a name: each that looks at it where none before it does."""
    found: list[str] = []
    seen: set[Place] = set()
    for name, told in whole.steps.items():
        mine = {each for each in told.places if each[0] == path}
        if mine - seen:
            found.append(name)
            seen |= mine
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", BY_PATH)
def test_without_a_capability_the_story_goes_on_and_what_is_missing_is_said(
    path: str,
    whole: Whole,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    one_of: Callable[[int], int],
) -> None:
    taken = BY_PATH[path]
    monkeypatch.setitem(capability.PROBED, path, Looked(None, GONE))
    costs = bool(taken.sentence)
    names = find_steps(whole, path)
    names = names if one_of(2) == 1 else names[:1]
    is_fresh = "export" in names or not costs  # what is compared whole has no later results
    telling = Telling(tmp_path, None if is_fresh else whole.small)
    for name in names:
        try:
            came = STEPS[name](telling)
        except Exception as error:
            said = costs and path in str(error) and GONE in str(error)
            if not said:
                raise
            continue
        before = whole.steps[name].came
        assert came.always == before.always, name
        assert costs or came == before, name

    doctor = explorer.doctor()
    said = [*doctor.left_out, *doctor.otherwise]
    assert any(path in each and GONE in each for each in said)
    if costs and taken.area in ("export", "run", "load"):
        left_out = Telling(tmp_path).small().record.left_out
        assert any(path in each and GONE in each for each in left_out)


@pytest.mark.slow
def test_the_story_looks_at_every_capability(whole: Whole) -> None:
    seen = {path for each in whole.steps.values() for path, _ in each.places}
    unseen = set(BY_PATH) - seen - set(SECOND_WAYS) - NEWER - AFTER_EXPORT
    assert not unseen


def test_counters_that_a_torch_has_renamed_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._dynamo.utils

    path = "torch._dynamo.utils.counters"
    monkeypatch.setitem(capability.PROBED, path, Looked(None, GONE))
    monkeypatch.delattr(torch._dynamo.utils, "counters")

    with counters_kept():  # every export is inside of it
        done = True

    assert done


@pytest.mark.parametrize("name", ["aoti_compile_and_package", "aoti_load_package"])
def test_without_packages_aot_inductor_is_left_out_of_the_backends(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"torch._inductor.{name}"
    monkeypatch.setitem(capability.PROBED, path, Looked(None, GONE))
    assert explorer.backends("cpu")["aoti"] == (
        f"AOTInductor is left out of the backends. That needs {path}, {GONE}."
    )


def test_describing_a_program_does_not_import_the_exporter_to_onnx() -> None:
    """Probing its names imports onnx, for longer than a large program takes to describe."""
    looked = [each for each in all_capabilities() if each.area in ("export", "run", "load")]
    assert not [each.path for each in looked if each.path.startswith("torch.onnx.")]
