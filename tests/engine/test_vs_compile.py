"""torch.compile beside torch.export: graphs, gaps, recompiles; and nothing of it stays behind."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch._dynamo import convert_frame, pgo, utils

import explorer
from explorer.vs_compile.html import report_html
from explorer.vs_compile.text import report_text
from export_engine.attempt import Request
from export_engine.record import CompileReport
from export_engine.shapes import Shapes
from export_engine.vs_compile import sizes_to_try
from export_engine.vs_compile.trial_sizes import SizesError


def slide(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    if x.shape[0] <= 1024:
        return torch.relu(x @ w)
    return torch.sigmoid(x @ w) * 2


class Gate(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        y = self.lin(x) * 0 + x
        if y.sum() > 0:
            return y.sin()
        print("negative")
        return y.cos()


def seen(
    model: Any, *args: Any, sizes: str | Iterable[int] | None = None, shapes: Any = None
) -> CompileReport:
    return explorer.compare_with_compile(model, args, sizes=sizes, dynamic_shapes=shapes).report


@pytest.mark.slow
def test_the_slide_static_then_dynamic_then_a_new_path() -> None:
    report = seen(slide, torch.randn(512, 8), torch.randn(8, 8), sizes="512,1024,2048")
    first, second, third = report.calls
    assert [each.outcome for each in report.calls] == ["compiled", "recompiled", "recompiled"]
    assert [each.made for each in report.calls] == [[1], [2], [3]]
    assert second.recompiles[0].guard == "x.shape[0] == 512"
    assert third.recompiles[0].guard == "2 <= x.shape[0] <= 1024"
    assert third.recompiles[0].place is not None
    assert third.recompiles[0].place.text == "if x.shape[0] <= 1024:"
    assert third.recompiles[0].place.file == "test_vs_compile.py"
    assert [each.sizes for each in report.graphs] == [
        [],
        ["x.shape[0] in [2, 1024]"],
        ["x.shape[0] in [1025, ∞)"],
    ]
    assert report.graphs[2].ops == ["matmul", "sigmoid", "mul"]
    assert "torch.sigmoid" in report.graphs[2].code
    assert not report.gaps

    assert [each.export for each in report.calls] == ["takes", "takes", "refuses"]
    assert third.rule == "x.shape[0] <= 1024"
    assert third.rule_place is not None
    assert third.rule_place.text == "if x.shape[0] <= 1024:"
    assert report.contract == ["x.shape[0] in [2, 1024]"]
    assert first.sizes == "x.shape[0] = 512"


@pytest.mark.after_check
def test_a_size_that_a_graph_takes_is_run_again() -> None:
    report = seen(slide, torch.randn(512, 8), torch.randn(8, 8), sizes=[512, 600, 700, 512])
    assert [each.outcome for each in report.calls] == ["compiled", "recompiled", "reused", "reused"]
    assert [[step.number for step in each.steps] for each in report.calls] == [[1], [2], [2], [2]]


@pytest.mark.slow
def test_a_branch_on_data_is_a_gap_between_graphs() -> None:
    report = seen(Gate(), torch.ones(2, 4))
    (call,) = report.calls
    assert [(each.kind, each.number) for each in call.steps] == [
        ("graph", 1),
        ("gap", 0),
        ("graph", 2),
    ]
    gap = report.gaps[0]
    assert gap.reason == "Data-dependent branching"
    assert gap.page == "GB0170"
    assert gap.places[-1].text == "if y.sum() > 0:"
    assert gap.explanation.startswith("Detected data-dependent branching")
    assert report.graphs[0].inputs == ["x: f32[2, 4]"]
    assert report.graphs[1].ops == ["sin"]
    assert call.export == "no program"
    assert "depends on the values" in report.sentence
    assert report.sentence_place is not None
    assert report.sentence_place.line == gap.places[-1].line


@pytest.mark.slow
def test_a_gap_of_code_without_any_graph_is_on_the_way() -> None:
    report = seen(Gate(), -torch.ones(2, 4))
    steps = [(each.kind, each.number) for each in report.calls[0].steps]
    assert steps == [("graph", 1), ("gap", 0), ("gap", 1), ("graph", 2)]
    assert report.gaps[1].places[-1].text == 'print("negative")'
    assert report.graphs[1].place is not None
    assert report.graphs[1].place.function == "forward"


def helper(y: torch.Tensor) -> torch.Tensor:
    y = y + 1
    print("in the helper")
    return y * 2


def calls_helper(x: torch.Tensor) -> torch.Tensor:
    return helper(x.sin()).cos()


@pytest.mark.slow
def test_a_function_that_cannot_be_inlined_is_cut_by_itself() -> None:
    report = seen(calls_helper, torch.ones(3))
    assert [each.ops for each in report.graphs] == [["sin"], ["add"], ["mul"], ["cos"]]
    frames = [place.function for place in report.gaps[0].places]
    assert frames == ["calls_helper", "helper"]


def only_prints(x: torch.Tensor) -> torch.Tensor:
    print("a word")
    return x


@pytest.mark.after_check
def test_what_has_no_graph_is_left_to_the_interpreter() -> None:
    report = seen(only_prints, torch.ones(3))
    (call,) = report.calls
    assert call.outcome == "interpreted"
    assert [each.kind for each in call.steps] == ["gap"]
    assert report.graphs == []


def one_graph_per_size(x: torch.Tensor) -> torch.Tensor:
    y = x[0]
    for row in range(1, x.shape[0]):
        y = y + x[row]
    return y


@pytest.mark.slow
def test_a_function_with_too_many_graphs_is_given_up_and_it_is_said_why() -> None:
    from torch._dynamo import config

    most = config.recompile_limit
    report = seen(one_graph_per_size, torch.ones(3, 4), sizes=range(2, most + 4))
    assert len(report.graphs) == most
    last = report.calls[-1]
    assert last.outcome == "interpreted"
    assert f"at most {most} graphs of one function" in last.detail
    assert f"and so on, for {most - 3} earlier graphs" in report_text(report)


@pytest.mark.slow
def test_torchs_own_modules_name_their_arguments() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    report = seen(model, torch.ones(3, 4), sizes="3,5")
    assert report.graphs[0].inputs == ["input: f32[3, 4]"]
    assert report.graphs[1].sizes == ["input.shape[0] in [2, ∞)"]
    assert report.calls[1].recompiles[0].guard == "input.shape[0] == 3"


def refuses(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] > 5:
        raise ValueError("too large")
    return x + 1


@pytest.mark.after_check
def test_what_a_call_raises_is_said_and_the_others_still_run() -> None:
    report = seen(refuses, torch.ones(3), sizes="3,7,4")
    assert [each.outcome for each in report.calls][1] == "failed"
    assert "ValueError: too large" in report.calls[1].detail
    assert report.calls[2].outcome != "failed"
    assert [each.export for each in report.calls] == ["takes", "refuses", "takes"]


@pytest.mark.after_check
def test_named_dims_vary_together() -> None:
    def both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    args = (torch.ones(3, 2), torch.ones(3, 2))
    report = seen(both, *args, sizes="batch=4,5", shapes="x: batch, _; y: batch, _")
    assert [each.sizes for each in report.calls] == ["batch = 4", "batch = 5"]
    assert [each.outcome for each in report.calls] == ["compiled", "recompiled"]
    assert {each.export for each in report.calls} == {"takes"}
    assert report.calls[1].recompiles[0].guard == "batch == 4"
    assert report.graphs[1].inputs == ["x: f32[batch, 2]", "y: f32[batch, 2]"]
    assert report.contract == ["batch in [2, ∞)"] or report.contract == ["batch in [0, ∞)"]


# Nothing stays behind


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@pytest.mark.slow
def test_what_the_user_has_compiled_stays_and_meets_nothing_new() -> None:
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    theirs = torch.compile(doubled, backend=backend)
    theirs(torch.ones(3))
    assert len(graphs) == 1
    report = seen(doubled, torch.ones(3), sizes="3,4,5")
    assert [each.outcome for each in report.calls] == ["compiled", "recompiled", "reused"]
    theirs(torch.ones(3))
    assert len(graphs) == 1
    # The user's second size is the second one that torch knows of: dynamic, as without us.
    theirs(torch.ones(9))
    theirs(torch.ones(11))
    assert len(graphs) == 2


@pytest.mark.after_check
def test_dynamo_is_as_before() -> None:
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    before = (
        copy.deepcopy(dict(utils.counters)),
        list(utils.graph_break_reasons),
        pgo._CODE_STATE,
        convert_frame.FRAME_COUNTER,
        dict(convert_frame.FRAME_COMPILE_COUNTER),
        len(convert_frame._bytecode_hooks),
    )
    request = Request(target=Gate(), args=(torch.ones(2, 4),))
    from export_engine.torch_internals import compile_watched
    from export_engine.trace import Seen, SeenCall

    recording = Seen(calls=[SeenCall()])
    with compile_watched(request.target, recording) as compiled:
        compiled(*request.args)
    assert recording.call.ran == [0, 1]
    after = (
        dict(utils.counters),
        list(utils.graph_break_reasons),
        pgo._CODE_STATE,
        convert_frame.FRAME_COUNTER,
        dict(convert_frame.FRAME_COMPILE_COUNTER),
        len(convert_frame._bytecode_hooks),
    )
    assert after == before
    entries = torch._C._dynamo.eval_frame._debug_get_cache_entry_list
    assert entries(Gate.forward.__code__) == []
    assert entries(helper.__code__) == []


@pytest.mark.slow
def test_functions_that_torch_had_met_before_keep_nothing_of_ours() -> None:
    entries = torch._C._dynamo.eval_frame._debug_get_cache_entry_list
    explorer.explore(calls_helper, (torch.ones(3),), strict=True)  # meets helper, and fails there
    seen(calls_helper, torch.ones(3))
    assert entries(helper.__code__) == []
    theirs = torch.compile(helper, backend="eager")
    theirs(torch.ones(3))
    kept = len(entries(helper.__code__))
    assert kept > 0
    seen(calls_helper, torch.ones(3))
    assert len(entries(helper.__code__)) >= kept
    before = convert_frame.FRAME_COUNTER
    theirs(torch.ones(3))
    assert before == convert_frame.FRAME_COUNTER  # nothing is compiled again


def test_an_interrupt_puts_all_back() -> None:
    def stop(x: torch.Tensor) -> torch.Tensor:
        raise KeyboardInterrupt

    original = convert_frame.get_and_maybe_log_recompilation_reasons
    state = pgo._CODE_STATE
    from export_engine.torch_internals import compile_watched
    from export_engine.trace import Seen, SeenCall

    with (
        pytest.raises(KeyboardInterrupt),
        compile_watched(stop, Seen(calls=[SeenCall()])) as compiled,
    ):
        compiled(torch.ones(2))
    assert convert_frame.get_and_maybe_log_recompilation_reasons is original
    assert pgo._CODE_STATE is state


@pytest.mark.slow
def test_the_model_its_inputs_and_the_random_numbers_are_as_before() -> None:
    gate, x = Gate(), torch.ones(2, 4)
    torch.manual_seed(5)
    wanted = torch.rand(2)
    torch.manual_seed(5)
    seen(gate, x, sizes="2,3,4")
    assert torch.equal(torch.rand(2), wanted)
    assert gate.count.item() == 0
    assert torch.equal(x, torch.ones(2, 4))


# Sizes


@pytest.mark.parametrize(
    ("asked", "shapes", "name", "dims"),
    [
        ("2,3", None, "x.shape[0]", [("x", 0)]),
        ("w.shape[1]=4", None, "w.shape[1]", [("w", 1)]),
        ("2,3", "x: _, cols; w: cols, _", "cols", [("x", 1), ("w", 0)]),
        ("2", "w: _, *", "w.shape[1]", [("w", 1)]),
        ([7], None, "x.shape[0]", [("x", 0)]),
    ],
)
def test_which_size_is_meant(asked: Any, shapes: Any, name: str, dims: Any) -> None:
    given = Shapes.parse(shapes) if shapes else None
    request = Request(target=slide, args=(torch.ones(4, 8), torch.ones(8, 8)), dynamic_shapes=given)
    found = sizes_to_try(request, asked)
    assert (found.name, list(found.dims)) == (name, dims)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("", "Name the sizes"),
        ("a,b", "'a' is not a size"),
        ("batch=3", "There is no size 'batch' in this call. Available: x.shape"),
        ("x.shape[9]=3", "There is no size"),
        ([2.5], "is not a size"),
        ("-3", "is not a size"),
    ],
)
def test_sizes_that_mean_nothing_are_refused(asked: Any, said: str) -> None:
    request = Request(target=slide, args=(torch.ones(4, 8), torch.ones(8, 8)))
    with pytest.raises(SizesError, match=said.replace("[", r"\[")):
        sizes_to_try(request, asked)


def test_a_program_from_a_file_has_nothing_to_compile(tmp_path: Any) -> None:
    from export_engine.vs_compile import compare_with_compile

    ex = explorer.explore(slide, (torch.ones(4, 8), torch.ones(8, 8)))
    loaded = explorer.load(ex.save(tmp_path / "m.pt2"))
    assert loaded.program is not None
    with pytest.raises(ValueError, match="opened without its eager model"):
        compare_with_compile(loaded.session.attempts[0], loaded.record)


# Shown


@pytest.mark.slow
def test_the_text_reads_like_the_slide() -> None:
    text = report_text(seen(slide, torch.randn(512, 8), torch.randn(8, 8), sizes="512,1024,2048"))
    assert "compile  compiles graph 1, for these sizes only" in text
    assert "compile  compiles again: graph 2, for x.shape[0] in [2, 1024]" in text
    assert "compile  compiles again: graph 3, for x.shape[0] in [1025, ∞)" in text
    assert "graph 1 requires x.shape[0] == 512" in text
    assert "graph 2 requires 2 <= x.shape[0] <= 1024, for if x.shape[0] <= 1024:" in text
    assert "export   rejects it" in text
    assert "3 graphs, no graph break, compiled again at 2 of 3 sizes" in text


@pytest.mark.slow
def test_the_page_escapes_all_of_it() -> None:
    import msgspec

    report = seen(Gate(), torch.ones(2, 4))
    bad = "<img src=x onerror=alert(1)>"
    gap = msgspec.structs.replace(report.gaps[0], reason=bad, explanation=bad, hints=[bad])
    place = msgspec.structs.replace(report.gaps[0].places[0], text=bad, file=bad)
    planted = msgspec.structs.replace(
        report,
        title=bad,
        sentence=bad,
        sentence_place=place,
        gaps=[msgspec.structs.replace(gap, places=[place])],
        graphs=[msgspec.structs.replace(report.graphs[0], code=bad, ops=[bad], inputs=[bad])] * 2,
    )
    page = report_html(planted)
    assert "<img" not in page
    assert "&lt;img" in page
