"""Runs: every backend on a small model, planted faults located, failures explained."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.results.runs import available
from export_engine.archive import load, save
from export_engine.attempt import NO_MODEL, Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.error_text import error_text
from export_engine.record import Profile, RunRow, check_record, encode
from export_engine.record.wire import decode
from export_engine.run import Plan, backend_registry, backends, devices, profile, run
from export_engine.run.backend import Job, Ready
from export_engine.run.failure_text import sentence_of
from export_engine.run.measure import peak_memory
from export_engine.run.output_error import error_of
from export_engine.shapes import Shapes
from export_engine.torch_internals import copy_program, move_program, truncate_program


class Vision(nn.Module):
    """A convolution, a branch on data, a linear layer, a buffer that counts."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.lin = nn.Linear(8, 4)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor, scale: int = 2) -> dict[str, torch.Tensor]:
        self.count.add_(1)
        y = self.conv(x).relu().mean((2, 3)) * scale
        y = torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))
        return {"scores": self.lin(y) + self.count, "mean": y.mean()}


class Stateless(Vision):
    """The same without the buffer that counts, which few runtimes keep from call to call."""

    def forward(self, x: torch.Tensor, scale: int = 2) -> dict[str, torch.Tensor]:
        y = self.conv(x).relu().mean((2, 3)) * scale
        y = torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))
        return {"scores": self.lin(y) + self.count, "mean": y.mean()}


def exported(model: Any = None, shapes: str = "x: batch[2..64], _, _, _") -> Exported:
    torch.manual_seed(0)
    args = (torch.randn(2, 3, 8, 8),)
    request = Request(target=model or Vision().eval(), args=args, shapes=Shapes.parse(shapes))
    attempt = capture(request)
    assert isinstance(attempt, Exported), attempt
    return attempt


@pytest.fixture(scope="module")
def vision() -> Exported:
    return exported()


Runner = Callable[..., list[RunRow]]


@pytest.fixture
def rows(tmp_path: Path) -> Runner:
    def made(attempt: Exported, *names: str, **options: Any) -> list[RunRow]:
        found: list[RunRow] = []
        plan = Plan(backends=names, folder=tmp_path, **options)
        run(attempt, describe(attempt), plan, found.append)
        return found

    return made


NEEDED = {
    "onnx": ("onnxscript", "onnxruntime"),
    "executorch": ("executorch",),
    "openvino": ("openvino",),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inductor", "aoti", "onnx", "executorch", "openvino"])
def test_each_backend_that_installs_here_gives_what_eager_gives(rows: Runner, name: str) -> None:
    for package in NEEDED.get(name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[{name}]'")

    (row,) = rows(exported(Stateless().eval()), name)

    assert row.outcome == "agrees", row
    assert row.error is not None
    assert row.error.absolute < 1e-5
    assert row.times is not None
    assert 0 < row.times.median < row.times.prepare
    if name != "inductor":
        assert row.size > 1000
        assert Path(row.saved).exists()


@pytest.mark.slow
def test_random_numbers_are_compared_where_a_compiler_draws_those_of_eager(rows: Runner) -> None:
    dropping = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5)).train()
    attempt = capture(Request(target=dropping, args=(torch.randn(4, 8),)))
    assert isinstance(attempt, Exported)

    (row,) = rows(attempt, "inductor")

    assert row.outcome == "agrees", row
    assert row.error is not None
    assert row.error.absolute < 1e-5
    assert "`dropout` draws different ones" in row.sentence


@pytest.mark.after_check
@pytest.mark.parametrize("name", ["tensorrt", "xla"])
def test_backends_that_cannot_be_here_are_rows_that_say_what_is_missing(
    vision: Exported, rows: Runner, name: str
) -> None:
    if backends()[name].missing("cpu") is None:
        pytest.skip(f"{name} is installed here")

    (row,) = rows(vision, name)

    assert row.outcome == "unavailable"
    assert row.sentence.endswith(("torch_xla", "cpu."))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no NVIDIA GPU here")
@pytest.mark.parametrize("name", ["eager", "program", "inductor", "aoti"])
def test_cuda(vision: Exported, rows: Runner, name: str) -> None:
    parameter = next(vision.request.target.parameters())  # type: ignore[union-attr]

    (row,) = rows(vision, name, devices=["cuda"])

    assert row.outcome == "agrees", row
    assert row.device == "cuda:0"
    assert row.memory > 0
    assert parameter.device.type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no NVIDIA GPU here")
def test_the_profile_on_cuda(vision: Exported) -> None:
    found = profile(vision, describe(vision), "cuda")

    assert found.total > 0


@pytest.mark.slow
def test_a_missing_device_is_said_in_a_sentence(vision: Exported, rows: Runner) -> None:
    """No machine has as many GPUs."""
    cpu, cuda = rows(vision, "program", devices=["cpu", "cuda:99"])

    assert cpu.outcome == "agrees"
    assert cuda.outcome == "unavailable"
    assert cuda.sentence.startswith("There is no cuda:99 here: torch")


@pytest.mark.slow
def test_eager_and_the_program_give_the_same_and_change_nothing(
    vision: Exported, rows: Runner
) -> None:
    model: Any = vision.request.target  # type: ignore[union-attr]
    (x,) = vision.request.args  # type: ignore[union-attr]
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    versions, before, python = x._version, torch.get_rng_state(), random.getstate()
    threads, grad = torch.get_num_threads(), torch.is_grad_enabled()

    found = rows(vision, "eager", "program")

    assert [row.outcome for row in found] == ["agrees", "agrees"]
    assert all(row.error and row.error.absolute == 0 for row in found)
    assert all(torch.equal(weights[name], value) for name, value in model.state_dict().items())
    assert x._version == versions
    assert torch.equal(before, torch.get_rng_state())
    assert python == random.getstate()
    assert (threads, grad) == (torch.get_num_threads(), torch.is_grad_enabled())


@pytest.mark.slow
def test_a_program_from_a_file_is_held_against_itself(
    vision: Exported, rows: Runner, tmp_path: Path
) -> None:
    file = save(vision, describe(vision), tmp_path / "vision.pt2")

    eager, program = rows(load(file), "eager", "program")

    assert eager.outcome == "failed"
    assert eager.sentence == NO_MODEL
    assert program.outcome == "agrees"
    assert program.sentence == f"The other rows are compared with it. {NO_MODEL}"


@pytest.mark.slow
def test_what_the_user_compiled_stays_compiled(vision: Exported, rows: Runner) -> None:
    compiled_graphs: list[Any] = []

    def theirs(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        compiled_graphs.append(graph)
        return graph.forward

    function = torch.compile(lambda x: x.sin() + 1, backend=theirs)
    function(torch.ones(3))

    (row,) = rows(vision, "inductor")
    function(torch.ones(3))

    assert row.outcome == "agrees"
    assert len(compiled_graphs) == 1


# Inputs


@pytest.mark.slow
def test_sizes_by_name_several_and_drawn(vision: Exported, rows: Runner) -> None:
    several = rows(vision, "program", sizes=[{"batch": 3}, {"batch": 5}])
    drawn = rows(vision, "program", sizes=3)

    assert [row.inputs for row in several] == ["batch=3", "batch=5"]
    assert len({row.inputs for row in drawn}) == 3
    assert all(row.outcome == "agrees" for row in [*several, *drawn])


@pytest.mark.slow
def test_inputs_of_ones_own(vision: Exported, rows: Runner) -> None:
    by_path = rows(vision, "program", inputs={"x": torch.randn(7, 3, 8, 8)})
    by_place = rows(vision, "program", inputs=(torch.randn(9, 3, 8, 8),))

    assert [row.outcome for row in (*by_path, *by_place)] == ["agrees", "agrees"]
    assert by_path[0].inputs == "given inputs"


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sizes": {"batsh": 3}}, "There is no size 'batsh'. Available: batch"),
        ({"sizes": {"batch": 100}}, "The program rejects batch=100"),
        ({"inputs": {"y": 1}}, "There is no input 'y'. The inputs are: x"),
        ({"inputs": (1, 2)}, "takes 1 positional arguments, not 2"),
        ({"inputs": 3}, "inputs is a int"),
        ({"inputs": (1,), "sizes": 3}, "not both"),
        ({"devices": ["gpu"]}, "'gpu' is not a device"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    vision: Exported, rows: Runner, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        rows(vision, "program", **options)


def test_an_unknown_backend_is_refused_with_those_that_there_are(
    vision: Exported, rows: Runner
) -> None:
    with pytest.raises(ValueError, match=r"no backend 'tvm'\. Available: eager, program, inductor"):
        rows(vision, "tvm")


# Backends of others, and faults in them


class Wrapped:
    """A backend for tests: the program, run by an interpreter that can be wrong at one op."""

    name = title = "wrapped"

    def __init__(self, at: str = "", fault: Callable[[Any], Any] | None = None) -> None:
        self.at = at
        self.fault = fault

    def missing(self, device: str) -> str | None:
        return None

    def prepare(self, job: Job) -> Ready:
        module, at, fault = job.program.module(), self.at, self.fault

        class Faulty(torch.fx.Interpreter):
            def run_node(self, n: torch.fx.Node) -> Any:
                result = super().run_node(n)
                return (
                    fault(result) if fault and at in str(n.target) and n.op != "output" else result
                )

        def call() -> Any:
            graph: Any = module.graph
            flat = graph.process_inputs(*job.args, **job.kwargs)
            result = Faulty(module).run(*flat, enable_io_processing=False)
            return graph.process_outputs(result)

        return Ready(call=call)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Adds a backend as an entry point of some package would."""

    def add(make: Any) -> None:
        class Point(EntryPoint):
            def load(self) -> Any:
                if isinstance(make, Exception):
                    raise make
                return make

        point = Point("wrapped", "theirs:Wrapped", backend_registry.GROUP)
        monkeypatch.setattr(backend_registry, "entry_points", lambda group: [point])

    return add


@pytest.mark.slow
def test_others_add_backends_by_an_entry_point(
    vision: Exported, rows: Runner, added: Callable[[Any], None]
) -> None:
    added(Wrapped)

    (row,) = rows(vision, "wrapped")

    assert row.outcome == "agrees"


@pytest.mark.parametrize("make", [ImportError("no theirs"), lambda: 3])
@pytest.mark.slow
def test_a_broken_backend_of_others_says_so_and_breaks_nothing(
    vision: Exported, rows: Runner, added: Callable[[Any], None], make: Any
) -> None:
    added(make)

    program, theirs = rows(vision, "program", "wrapped")

    assert program.outcome == "agrees"
    assert theirs.outcome == "unavailable"
    assert theirs.sentence.startswith("theirs:Wrapped cannot be loaded: ")


class Odd(Wrapped):
    """A backend with one thing wrong."""

    def missing(self, device: str) -> str | None:
        raise OSError("no driver")

    def without_values(self) -> str | None:
        raise OSError("no driver")

    def values(self, job: Job, space: int) -> dict[str, torch.Tensor]:
        return {}


def test_a_backend_that_cannot_say_what_it_lacks_is_a_row_and_hides_no_other(
    vision: Exported, rows: Runner, added: Callable[[Any], None]
) -> None:
    added(Odd)
    lacking = "wrapped cannot tell whether it runs here: its missing() raised OSError: no driver."

    (row,) = rows(vision, "wrapped")

    assert (row.outcome, row.sentence) == ("unavailable", lacking)
    assert explorer.backends()["wrapped"] == lacking
    told = {each.name: each for each in available().backends}
    assert told["wrapped"].missing[0] == lacking
    assert "no driver" in str(told["wrapped"].without_values)
    assert told["program"].missing[0] is None


def test_a_backend_under_a_name_that_is_taken_is_told(added: Callable[[Any], None]) -> None:
    class Taken(Wrapped):
        name = "program"

    added(Taken)

    assert backends()["program"].title == "exported program"
    told = explorer.backends()["wrapped"]
    assert told == "theirs:Wrapped has the name of another backend, 'program'."


def test_a_backend_without_a_title_cannot_be_loaded(added: Callable[[Any], None]) -> None:
    class Nameless(Wrapped):
        title: Any = None

    added(Nameless)

    assert explorer.backends()["wrapped"] == (
        "theirs:Wrapped cannot be loaded: its name or title is not a str"
    )


@pytest.mark.parametrize(
    ("prepared", "said"),
    [
        (lambda: None, "wrapped cannot compile this program: its prepare() returned a NoneType"),
        (lambda: sys.exit("no license found"), "wrapped cannot compile this program: no license"),
    ],
)
def test_what_a_backend_prepares_is_looked_at_and_an_exit_is_a_failure(
    vision: Exported,
    rows: Runner,
    added: Callable[[Any], None],
    prepared: Callable[[], Any],
    said: str,
) -> None:
    class Unready(Wrapped):
        def prepare(self, job: Job) -> Ready:
            return prepared()  # type: ignore[no-any-return]

    added(Unready)

    (row,) = rows(vision, "wrapped")

    assert row.outcome == "failed"
    assert row.sentence.startswith(said)


class Deep(nn.Module):
    """Ops of many kinds in a row, each there once."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.lin(x.flatten(1)[:, :8]).relu()
        y = y.sigmoid() + 1
        y = y.log().exp().sqrt()
        return (y - 0.5).tanh().softmax(-1)


OPS = ("linear", "relu", "sigmoid", "log", "exp", "sqrt", "tanh", "softmax")


@pytest.fixture(scope="module")
def deep() -> Exported:
    return exported(Deep().eval(), "x: batch, _, _, _")


@pytest.mark.parametrize("op", OPS)
@pytest.mark.slow
def test_a_planted_fault_in_a_backend_is_located_to_its_op(
    deep: Exported, rows: Runner, added: Callable[[Any], None], op: str
) -> None:
    added(lambda: Wrapped(f"aten.{op}.", lambda value: value * 1.5))

    (row,) = rows(deep, "wrapped")

    nodes = list(deep.program.graph.nodes)
    assert row.outcome == "differs"
    assert str(nodes[row.node].target).startswith(f"aten.{op}.")
    assert f"`{nodes[row.node].name}`" in row.sentence
    assert ", line " in row.sentence


class Hiding(nn.Module):
    """What comes after the linear layer is right whatever its scale, until its value is added."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8, eps=0.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.lin(x.flatten(1)[:, :8])
        z = self.norm(y).tanh().sigmoid().exp().sqrt()
        return (z + y.relu()).tanh()


@pytest.mark.slow
def test_a_fault_that_is_hidden_for_a_while_is_located_all_the_same(
    rows: Runner, added: Callable[[Any], None]
) -> None:
    attempt = exported(Hiding().eval(), "x: batch, _, _, _")
    added(lambda: Wrapped("aten.linear.", lambda value: value * 1.5))

    (row,) = rows(attempt, "wrapped")

    assert str(list(attempt.program.graph.nodes)[row.node].target) == "aten.linear.default"


@pytest.mark.parametrize("op", OPS)
@pytest.mark.slow
def test_a_planted_fault_in_the_program_is_located_to_its_op(
    deep: Exported, rows: Runner, op: str
) -> None:
    broken = copy_program(deep.program)
    node = next(each for each in broken.graph.nodes if f"aten.{op}." in str(each.target))
    with broken.graph.inserting_after(node):
        more = broken.graph.call_function(torch.ops.aten.mul.Tensor, (node, 1.5))
        more.meta = dict(node.meta)
    node.replace_all_uses_with(more, delete_user_cb=lambda user: user is not more)
    for spec in broken.graph_signature.output_specs:
        if spec.arg.name == node.name:
            spec.arg = type(spec.arg)(more.name)
    broken.graph_module.recompile()
    faulty = Exported(
        request=deep.request, recording=deep.recording, program=broken, title="faulty"
    )

    (row,) = rows(faulty, "program")

    assert row.outcome == "differs", row
    assert list(broken.graph.nodes)[row.node] is more
    assert "The exported program already differs." in row.sentence


class Exhausted(Wrapped):
    error: BaseException = MemoryError()

    def prepare(self, job: Job) -> Ready:
        raise self.error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "Out of memory on cpu. Try smaller sizes."),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "Out of memory on cpu."),
        (RuntimeError("\n\nlong\nstory"), "wrapped cannot compile this program: long."),
        (
            KeyError("batch"),
            "wrapped cannot compile this program: KeyError: 'batch' at test_running.",
        ),
        (ImportError("libx.so"), "wrapped is only partly installed: libx.so."),
    ],
)
@pytest.mark.slow
def test_a_failure_is_a_row_and_the_others_run(
    vision: Exported,
    rows: Runner,
    added: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    said: str,
) -> None:
    monkeypatch.setattr(Exhausted, "error", error)
    added(Exhausted)

    failed, program = rows(vision, "wrapped", "program")

    assert failed.outcome == "failed"
    assert failed.sentence.startswith(said)
    assert type(error).__name__ in failed.detail
    assert program.outcome == "agrees"


def test_an_error_that_is_a_name_alone_says_its_type_and_what_to_do() -> None:
    own = sentence_of(KeyError("batch"), "eager module", "cpu", "run")
    assert own == "eager module cannot run this program: KeyError: 'batch'."
    told = sentence_of(KeyError("batch"), "OpenVINO (float32)", "cpu", "compile")

    assert told == (
        "OpenVINO (float32) cannot compile this program: KeyError: 'batch'. There are no further "
        'details. Decompose the program, `.decompose("core")`, or report it to OpenVINO.'
    )
    assert error_text(KeyError("batch")) == "KeyError: 'batch'"
    assert error_text(RuntimeError("batch is odd")) == "batch is odd"


def test_inputs_that_do_not_fit_into_memory_are_a_row(deep: Exported, rows: Runner) -> None:
    (row,) = rows(deep, "program", sizes={"batch": 10**12})

    assert row.outcome == "failed"
    assert row.sentence == "Out of memory on cpu. Try smaller sizes."


@pytest.mark.after_check
def test_inputs_are_counted_at_the_width_of_their_dtype_and_with_their_copy(
    deep: Exported, rows: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    (x,) = deep.request.args  # type: ignore[union-attr]
    both = 2 * x.nbytes // x.shape[0]
    monkeypatch.setattr("export_engine.run.measure.free_memory", lambda: 1000 * both)

    (fits,) = rows(deep, "program", sizes={"batch": 1000})
    (exceeds,) = rows(deep, "program", sizes={"batch": 1001})

    assert fits.outcome == "agrees"
    assert exceeds.sentence == "Out of memory on cpu. Try smaller sizes."


def test_a_copy_that_does_not_fit_is_no_error_of_the_program(
    deep: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8")

    monkeypatch.setattr("export_engine.run.eager_baseline.copy_leaf", none_left)

    with pytest.raises(MemoryError, match=r"^Out of memory on cpu\. Try smaller sizes\.$"):
        profile(deep, describe(deep), "cpu")


def test_a_lost_device_is_said_to_be_lost() -> None:
    error = RuntimeError("CUDA error: device-side assert triggered")

    assert sentence_of(error, "AOTInductor", "cuda:0", "run").startswith("cuda:0 has failed")


@pytest.mark.slow
def test_an_interrupt_keeps_the_rows_so_far_and_changes_nothing(
    vision: Exported, added: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Exhausted, "error", KeyboardInterrupt())
    added(Exhausted)
    found: list[RunRow] = []
    before, shown = torch.get_rng_state(), warnings.showwarning
    model: Any = vision.request.target  # type: ignore[union-attr]

    with pytest.raises(KeyboardInterrupt):
        run(
            vision,
            describe(vision),
            Plan(backends=["program", "wrapped", "eager"], folder=tmp_path),
            found.append,
        )

    assert [row.backend for row in found] == ["program"]
    assert float(model.count) == 0
    assert torch.equal(before, torch.get_rng_state())
    assert warnings.showwarning is shown


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not on PATH")
def test_without_a_compiler_inductor_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert backends()["aoti"].missing("cpu") is None
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)

    assert "needs a C++ compiler" in (backends()["aoti"].missing("cpu") or "")


# Parts


@pytest.mark.slow
def test_a_shortened_program_gives_the_value_of_its_last_op(vision: Exported) -> None:
    names = [
        node.name
        for node in vision.program.graph.nodes
        if node.op == "call_function" and isinstance(node.meta["val"], torch.Tensor)
    ]
    x = torch.randn(5, 3, 8, 8)
    whole = vision.program.module()(x)
    vision.program.state_dict["count"].zero_()
    last = {spec.arg.name for spec in vision.program.graph_signature.output_specs}

    for name in names:
        short = truncate_program(vision.program, name)
        short.validate()
        value = short.module()(x)
        vision.program.state_dict["count"].zero_()
        assert isinstance(value, torch.Tensor)
        if name in last and value.shape == whole["scores"].shape:
            assert torch.equal(value, whole["scores"])


@pytest.mark.slow
def test_away_from_home_copies_run_and_the_model_stays(
    vision: Exported,
    rows: Runner,
    added: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("export_engine.run.eager_baseline.home_of", lambda *_: "cuda:0")
    model: Any = vision.request.target  # type: ignore[union-attr]
    before = {name: value._version for name, value in model.state_dict().items()}
    added(lambda: Wrapped("aten.relu.", lambda value: value * 1.5))

    eager, program, wrapped = rows(vision, "eager", "program", "wrapped")

    assert (eager.outcome, program.outcome) == ("agrees", "agrees")
    assert program.error is not None
    assert program.error.absolute == 0
    assert wrapped.outcome == "differs"
    assert "relu" in str(list(vision.program.graph.nodes)[wrapped.node].target)
    assert before == {name: value._version for name, value in model.state_dict().items()}


def test_a_moved_program_shares_no_tensor_with_the_one_it_is_made_from(vision: Exported) -> None:
    moved = move_program(vision.program, "cpu")

    theirs = {value.data_ptr() for value in moved.state_dict.values()}
    assert theirs.isdisjoint(value.data_ptr() for value in vision.program.state_dict.values())


def test_errors_in_representable_floats() -> None:
    one = torch.tensor([1.0, -2.0, 0.0])
    above = torch.nextafter(one, torch.tensor(10.0))

    found = error_of(above, one)

    assert found is not None
    assert found.ulps == 1
    assert found.absolute == float((above - one).abs().max())
    assert error_of(torch.tensor([0.0, 1.0]), torch.tensor([0.0, -1.0])).relative == 2  # type: ignore[union-attr]
    assert error_of(torch.tensor([float("inf")]), torch.tensor([1.0])) is None
    half = torch.tensor([1.0], dtype=torch.bfloat16)
    assert error_of(half + 2**-7, half).ulps == 1  # type: ignore[union-attr]


@pytest.mark.slow
def test_peak_memory_sees_what_a_call_allocates() -> None:
    def call() -> None:
        torch.ones(32 << 20, dtype=torch.uint8).add(1)

    found = peak_memory(call, "cpu")
    if found < 0 and sys.platform != "linux":
        pytest.skip("this system does not say how much memory a process has taken at most")
    assert 60 << 20 < found < 90 << 20


# The profile


def test_the_profile_has_every_op_and_adds_up(vision: Exported) -> None:
    record = describe(vision)

    found = profile(vision, record, sizes={"batch": 8})

    names = [record.strings[each] for each in record.graphs[0].name]
    costs = dict(zip(names, found.microseconds, strict=True))
    ops = {node.name for node in vision.program.graph.nodes if node.op == "call_function"}
    assert {name for name, micro in costs.items() if micro >= 0} == ops
    assert found.inputs == "batch=8"
    assert found.total == pytest.approx(sum(costs[name] for name in ops), abs=1)
    assert found.bytes[names.index("conv2d")] == 8 * 8 * 8 * 8 * 4
    assert isinstance(found, Profile)


@pytest.mark.slow
def test_a_record_with_runs_goes_over_the_wire(vision: Exported, rows: Runner) -> None:
    from export_engine.run import with_runs

    found = rows(vision, "program")
    again = rows(vision, "program")
    record = with_runs(describe(vision), [*found, *again], profile(vision, describe(vision)))

    check_record(record)
    back = decode(encode(record))
    assert back.runs == again
    assert back.profile == record.profile


def test_the_devices_are_those_that_torch_reports() -> None:
    here = devices()

    assert here[0] == "cpu"
    assert sum(each.startswith("cuda") for each in here) == torch.cuda.device_count()


@pytest.fixture(autouse=True)
def _no_stray_modules(vision: Exported) -> Iterator[None]:
    model: Any = vision.request.target  # type: ignore[union-attr]
    yield
    assert float(model.count) == 0


UNTOLD = """
import torch
import explorer
from openvino_telemetry import Telemetry

rows = explorer.explore(torch.nn.Linear(2, 2), (torch.ones(3, 2),)).run("cpu", "openvino").rows
assert rows[-1].outcome == "agrees", rows
assert Telemetry().consent is False
"""


@pytest.mark.slow
class Tree(nn.Module):
    """Trees of inputs, a flag between them, and an input that is not read."""

    def forward(
        self, batch: dict[str, torch.Tensor], flag: bool, rest: list[torch.Tensor], unused: Any
    ) -> torch.Tensor:
        return batch["b"].relu() - batch["a"] * rest[0] if flag else batch["a"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_a_tree_of_inputs_is_given_by_its_leaves(rows: Runner, name: str) -> None:
    for package in NEEDED[name]:
        pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[{name}]'")
    a, b, c, d = (torch.randn(3, 4) for _ in range(4))
    attempt = capture(Request(target=Tree(), args=({"b": b, "a": a}, True, [c], d)))

    (row,) = rows(attempt, name)

    assert row.outcome == "agrees", row


@pytest.mark.slow
def test_openvino_reports_nothing_over_the_network(tmp_path: Path) -> None:
    pytest.importorskip("openvino_telemetry", reason="openvino has no telemetry here to turn off")
    plain = {name: value for name, value in os.environ.items() if name != "CI"}
    command = [sys.executable, "-c", UNTOLD]
    done = subprocess.run(
        command,
        env={**plain, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


class Least(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.sym_min(x.shape[0], 6)


@pytest.mark.slow
def test_executorch_runs_sizes_up_to_their_bound_and_says_so_without_one(rows: Runner) -> None:
    pytest.importorskip(
        "executorch", reason="executorch is not installed: pip install '.[executorch]'"
    )
    for shapes, outcome in (("x: batch[..16], _", "agrees"), ("x: batch, _", "failed")):
        request = Request(target=Least(), args=(torch.randn(3, 4),), shapes=Shapes.parse(shapes))
        attempt = capture(request)
        assert isinstance(attempt, Exported)
        (row,) = rows(attempt, "executorch", sizes={"batch": 9})
        assert row.outcome == outcome
        assert ("a size has no upper bound" in row.sentence) == (outcome == "failed")


def test_a_plan_without_a_folder_leaves_nothing_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    attempt = capture(Request(target=nn.ReLU(), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    rows: list[RunRow] = []

    run(attempt, describe(attempt), Plan(backends="program"), rows.append)

    assert rows[0].outcome == "agrees"
    assert not list(tmp_path.iterdir())


def test_a_program_whose_input_has_a_name_of_pythons_can_be_moved_and_cut() -> None:
    """`input`, as of every Sequential: fx names the node of a copy `input_1`."""
    attempt = exported_of(nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval(), torch.randn(2, 4))
    moved = move_program(attempt.program, "meta")
    short = truncate_program(attempt.program, "linear")

    assert [node.name for node in moved.graph.nodes] == [
        node.name for node in attempt.program.graph.nodes
    ]
    assert {value.device.type for value in moved.state_dict.values()} == {"meta"}
    assert short.module()(torch.ones(2, 4)).shape == (2, 4)


def exported_of(model: nn.Module, *args: torch.Tensor) -> Exported:
    attempt = capture(Request(target=model, args=args))
    assert isinstance(attempt, Exported)
    return attempt


class Off:
    """The program, whose outputs are off by a share of their size."""

    name = title = "off"

    def __init__(self, by: float) -> None:
        self.by = by

    def missing(self, device: str) -> str | None:
        return None

    def prepare(self, job: Job) -> Ready:
        module = job.program.module()

        def call() -> torch.Tensor:
            found = module(*job.args, **job.kwargs)
            return found + (self.by * found.float().square().mean().sqrt()).to(found.dtype)

        return Ready(call=call)


@pytest.mark.after_check
def test_ops_that_could_draw_and_do_not_are_not_what_a_backend_is_off_by(
    rows: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attention and dropout of a model in eval mode have torch's tag of random ops."""

    class Attends(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found = nn.functional.scaled_dot_product_attention(x, x, x)
            return nn.functional.dropout(found, 0.5, self.training)

    attempt = exported_of(Attends().eval(), torch.randn(2, 4, 8))
    monkeypatch.setattr(backend_registry, "BUILT_IN", (lambda: Off(0.1),))

    (row,) = rows(attempt, "off")

    assert row.outcome == "differs"
    assert "random numbers" not in row.sentence


@pytest.mark.after_check
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("steps", [1, 40])
def test_half_precision_is_judged_by_float32(
    rows: Runner, monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, steps: int
) -> None:
    """One rounding of the outputs is no error, forty are."""
    torch.manual_seed(0)
    deep = nn.Sequential(*(nn.Linear(64, 64) for _ in range(6))).to(dtype).eval()
    attempt = exported_of(deep, torch.randn(8, 64, dtype=dtype))
    monkeypatch.setattr(
        backend_registry, "BUILT_IN", (lambda: Off(steps * torch.finfo(dtype).eps),)
    )

    (row,) = rows(attempt, "off")

    if steps == 1:
        assert row.outcome == "agrees"
        assert f"the rounding of {str(dtype).removeprefix('torch.')}" in row.sentence
    else:
        assert row.outcome == "differs"


def test_a_call_that_the_model_refuses_is_not_said_to_be_a_compilers_error(rows: Runner) -> None:
    class Takes(nn.Module):
        def forward(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
            return x[at]

    attempt = exported_of(Takes(), torch.arange(4.0), torch.tensor([1, 2]))
    inputs = (torch.arange(4.0), torch.tensor([1, 9]))

    for row in rows(attempt, "eager", "program", inputs=inputs):
        assert row.sentence.startswith("The model itself fails with these inputs: index 9 is")
