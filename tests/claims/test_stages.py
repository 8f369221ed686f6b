"""After export: every kernel has its ops and lines, and what is said of one is what torch told."""

import json
import logging
import signal
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
import torch
from torch import nn

import explorer
from explorer.results.stages import StagesResult
from explorer.session.session import FixError
from export_engine.archive import ArchiveError
from export_engine.plain_errors import WrongArgument
from export_engine.record import (
    Kernel,
    StageLine,
    Stages,
    StageTimes,
    check_record,
    from_json,
    to_json,
)
from export_engine.stages import compare_stages, times_by_line, times_by_line_set
from export_engine.stages.generated_code import find_calls, find_definitions
from export_engine.stages.joining import Provenance, is_consistent, join_stages
from export_engine.stages.kernel_calls import find_called_op, is_extern, shows_kernel
from export_engine.stages.kernel_times import Span, match_events
from export_engine.stages.printed_graph import (
    read_operands,
    read_printed_graph,
    read_printed_inputs,
    read_printed_outputs,
    read_printed_type,
)
from export_engine.stages.steps import describe_error
from export_engine.torch_internals import compilation_traced
from export_engine.trace import STAGE_ARTIFACTS, CompilationTrace


class Planted(nn.Module):
    """Lines that cost what a reader does not expect."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.dropout(self.linear(x)).sigmoid() * 2
        h = h.sort(-1).values  # <- fusion
        h = h.exp() + 1
        h = h.permute(1, 0).contiguous()  # <- layout
        d = h.double()  # <- float64
        kept = x.clone()  # <- copy
        return (d * 2).float(), kept


@pytest.fixture(scope="module")
def explored() -> explorer.Exploration:
    torch.manual_seed(0)
    return explorer.explore(Planted().eval(), (torch.randn(16, 16),))


@pytest.fixture(scope="module")
def stages(explored: explorer.Exploration) -> StagesResult:
    return explored.stages()


def planted_line(name: str) -> int:
    rows = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(n for n, row in enumerate(rows, 1) if row.endswith(f"# <- {name}"))


@pytest.mark.slow
def test_every_kernel_has_its_ops_and_its_lines(stages: StagesResult) -> None:
    assert stages.kernels
    for kernel in stages.kernels:
        assert kernel.ops, kernel.name
        assert kernel.nodes, kernel.name
        assert kernel.lines, kernel.name
        assert kernel.microseconds >= 0, kernel.name
        code = stages.data.codes[kernel.code].text.splitlines()[kernel.call_line - 1]
        assert kernel.name.rpartition(":")[0] in code
    generated = stages.data.codes[0].text
    assert "TENSOR_MATCH" in next(c.text for c in stages.data.codes if c.title == "Dynamo's guards")
    assert "RecordFunction" not in generated  # it is the code that torch.compile makes


@pytest.mark.slow
def test_each_kernel_counts_once_and_the_rest_of_the_call_is_named(stages: StagesResult) -> None:
    times = stages.data.times
    assert times is not None
    assert times.owned >= 0.95
    assert sum(row.microseconds for row in stages.slowest) == pytest.approx(times.kernels, abs=0.1)
    parts = times.kernels + times.between + times.overhead
    assert parts == pytest.approx(times.call, abs=0.01) or "Profiling adds" in times.method
    counted = [number for row in stages.slowest for number in row.kernels]
    assert sorted(counted) == list(range(len(stages.kernels)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fusion", "layout", "float64", "copy"])
def test_a_planted_line_is_named_with_the_reason(stages: StagesResult, kind: str) -> None:
    lines = {
        stages.data.lines[line].line
        for remark in stages.data.remarks
        if remark.kind == kind
        for line in remark.lines
    }
    assert lines == {planted_line(kind)}


class Several(nn.Module):
    """More lines of each kind."""

    def forward(self, x: torch.Tensor, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            x.sin().topk(4).values.cos(),  # <- fusion: topk
            (x.exp().cumsum(-1) + 1).tanh(),  # <- fusion: cumsum
            x.expand(3, 16, 16).contiguous(),  # <- copy: expand
            torch.cat([x, x], 0),  # <- copy: cat
            torch.stack([x, x.t()]),  # <- copy: stack
            x.flip(0),  # <- copy: flip
            nn.functional.pad(x, (1, 1)),  # <- copy: pad
            torch.linspace(0, 1, 16, dtype=torch.float64) * x,  # <- float64: linspace
            image.permute(0, 2, 3, 1).contiguous(),  # <- layout: permute
            image.relu().to(memory_format=torch.channels_last),  # <- layout: channels last
            image.sigmoid() * 2,
        )


@pytest.mark.thorough
def test_of_several_lines_each_is_named_once_with_its_reason() -> None:
    args = (torch.randn(16, 16), torch.randn(2, 4, 8, 8))
    stages = explorer.explore(Several(), args).stages()
    reasons = [
        (stages.data.lines[line].line, remark.kind)
        for remark in stages.data.remarks
        for line in remark.lines
    ]
    rows = Path(__file__).read_text(encoding="utf-8").splitlines()
    planted = [
        (number, row.partition("# <- ")[2].partition(":")[0])
        for number, row in enumerate(rows, 1)
        if "# <- " in row and ": " in row.partition("# <- ")[2] and "row" not in row
    ]
    assert sorted(reasons) == planted


@pytest.mark.slow
def test_the_kernels_of_a_line_lead_back_to_it(stages: StagesResult) -> None:
    line = planted_line("layout")
    (kernel,) = stages.of(line)
    assert any(each.endswith(f":{line}") for each in kernel.lines)
    assert stages.kernel(kernel.name).nodes == kernel.nodes
    assert "permute" in " ".join(kernel.nodes)
    assert "kernel(" in kernel.code or f"{kernel.name.rpartition(':')[0]}(" in kernel.code


@pytest.mark.slow
def test_dropout_in_eval_mode_is_said_to_be_removed_or_merged(
    explored: explorer.Exploration, stages: StagesResult
) -> None:
    record = explored.record
    names = [record.strings[name] for name in record.graphs[0].name]
    dropout = names.index("dropout")
    computed = {node for kernel in stages.kernels for node in kernel.nodes}
    assert (dropout in stages.data.removed) or (dropout in computed)


@pytest.mark.slow
def test_stages_are_kept_in_json_and_in_a_page(
    explored: explorer.Exploration, stages: StagesResult, tmp_path: Path
) -> None:
    kept = from_json(explored.save(tmp_path / "ex.json").read_bytes())
    assert kept.stages[-1] == stages.data
    assert from_json(to_json(explored.record)).stages == explored.record.stages
    written = json.loads(stages.to_json(tmp_path / "stages.json").read_bytes())
    assert [each["name"] for each in written["kernels"]] == [e.name for e in stages.kernels]


@pytest.mark.slow
def test_the_text_has_the_ladder_and_the_slowest_lines(stages: StagesResult) -> None:
    text = str(stages)
    assert f"exported {stages.data.exported} ops" in text
    assert "Slowest lines" in text
    assert f"test_stages.py:{planted_line('fusion')}" in text
    assert "<pre>" in stages._repr_html_()


@pytest.mark.slow
def test_a_line_or_a_kernel_that_is_not_there_names_those_that_are(stages: StagesResult) -> None:
    with pytest.raises(WrongArgument, match="Lines with kernels"):
        stages.of(1)
    with pytest.raises(WrongArgument, match="There is no kernel"):
        stages.kernel("cpp_fused_nothing_9")


def test_an_interrupted_compilation_leaves_torch_as_it_was() -> None:
    from torch._logging._internal import trace_log
    from torch._logging.structured import INTERN_TABLE

    own = logging.NullHandler()
    before = list(trace_log.handlers), trace_log.level, dict(INTERN_TABLE)
    trace_log.addHandler(own)
    config = torch._inductor.config
    level = config.trace.provenance_tracking_level
    try:
        try:
            with compilation_traced(lambda _: None):
                assert own not in trace_log.handlers
                assert config.trace.provenance_tracking_level == 1
                INTERN_TABLE["/a/file.py"] = len(INTERN_TABLE)
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        assert trace_log.handlers == [*before[0], own]
        assert (trace_log.level, INTERN_TABLE) == before[1:]
        assert config.trace.provenance_tracking_level == level
    finally:
        trace_log.removeHandler(own)


@pytest.mark.usefixtures("sigint_heard")
def test_an_interrupt_that_torch_loses_stops_the_compilation_at_its_next_message() -> None:
    from torch._logging._internal import trace_log

    def compile_anything() -> None:
        with compilation_traced(lambda _: None):
            with suppress(KeyboardInterrupt):  # as Python does in a callback of a weak reference
                signal.raise_signal(signal.SIGINT)
            trace_log.debug("", extra={"metadata": {"chromium_event": {}}})
            reached.append("the end")

    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        compile_anything()
    assert not reached


def test_the_trace_takes_each_artifact_once_and_sees_a_cache() -> None:
    trace = CompilationTrace()
    assert trace.add({"artifact": {"name": STAGE_ARTIFACTS[0]}}, "first")
    assert not trace.add({"artifact": {"name": STAGE_ARTIFACTS[0]}}, "of another graph")
    assert trace.add({"graph_dump": {"name": "inductor_aot_wrapper_code"}}, "code")
    assert trace.add({"inductor_output_code": {"filename": "x.py"}}, "python")
    assert not trace.cached
    trace.add({"artifact": {"name": "fx_graph_cache_hit"}}, "{}")
    assert trace.cached
    assert trace.texts[STAGE_ARTIFACTS[0]] == "first"


def test_an_option_that_inductor_does_not_have_is_refused_before_compiling(
    explored: explorer.Exploration,
) -> None:
    with pytest.raises(FixError, match="no option 'max_autotun'"):
        explored.stages(options={"max_autotun": True})
    with pytest.raises(FixError, match="'tvm' has no stages"):
        explored.stages("tvm")


PRINTED = """
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4][4, 1]cpu"):
        # File: net.py:3 in forward, code: return x.sin()
        sin: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.sin.default(x);  x = None
        var = torch.ops.aten.var_mean.correction(sin, [1]);  sin = None
        # No stacktrace found for following nodes
        getitem: "f32[s0][1]cpu" = var[0];  var = None
        return (getitem,)

    class inner(torch.nn.Module):
        def forward(self, y):
            cos = torch.ops.aten.cos.default(y)
            return cos
"""


def test_a_printed_graph_is_read_without_the_graphs_inside() -> None:
    ops = read_printed_graph(PRINTED)
    assert [(op.name, op.target, op.line) for op in ops] == [
        ("sin", "aten.sin.default", 5),
        ("var", "aten.var_mean.correction", 6),
        ("getitem", "getitem", 8),
    ]
    assert [op.place for op in ops] == [("net.py", 3, "return x.sin()")] * 2 + [None]
    value = read_printed_type(ops[0].type)
    assert value is not None
    assert value == ("f32", ("s0", "4"), ("4", "1"))
    assert read_printed_type("Sym(s0)") is None


def test_sizes_that_compiling_fixed_are_listed_with_the_lines_that_read_them() -> None:
    record = explorer.explore(Other(), (torch.randn(3),), dynamic_shapes="x: n").record
    text = (
        "class G(torch.nn.Module):\n"
        '    def forward(self, L_x_: "f32[3][1]cpu"):\n'
        "        l_x_ = L_x_\n"
        '        sin: "f32[3][1]cpu" = torch.ops.aten.sin.default(l_x_);  l_x_ = None\n'
        '        mul: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(sin, 2);  sin = None\n'
        "        return (mul,)\n"
    )
    texts = {
        "dynamo_output_graph": text,
        "inductor_post_grad_graph": text.replace("l_x_", "arg0_1").replace("L_x_", "arg0_1"),
    }
    provenance = Provenance({"sin": ["sin"], "mul": ["mul"]}, {"cpp_fused_0:1": ["sin", "mul"]}, {})
    joined = join_stages(record, texts, provenance)
    sizes, strides = joined.guards
    assert "`x.shape[0]` is 3" in sizes.text
    assert "leaves n open" in sizes.text
    assert "(1)" in strides.text
    assert [joined.lines[line].line for line in sizes.lines] == [planted_line("other")]


ATTRIBUTES = """
class GraphModule(torch.nn.Module):
    def forward(self, ids: "i64[4][1]cpu"):
        arg1_1: "f32[4][1]cpu"; 
        weight: "f32[4][1]cpu" = getattr(self.layers, "0").norm.weight
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(arg1_1, weight);  weight = None
        return (mul, ids)
"""  # noqa: W291 - as torch prints it


def test_attributes_of_a_printed_graph_are_inputs_and_no_ops() -> None:
    inputs = read_printed_inputs(ATTRIBUTES)
    assert {name: row.attribute for name, row in inputs.items()} == {
        "ids": "",
        "arg1_1": "",
        "weight": "layers.0.norm.weight",
    }
    (mul,) = read_printed_graph(ATTRIBUTES)
    assert read_operands(mul.expression, {*inputs, mul.name}) == ["arg1_1", "weight"]
    assert read_printed_outputs(ATTRIBUTES) == ["mul", "ids"]


@pytest.mark.slow
def test_every_input_and_every_edge_of_a_graph_is_known(
    explored: explorer.Exploration, stages: StagesResult
) -> None:
    record = explored.record
    program = record.graphs[0]
    for graph in stages.data.graphs:
        names = [record.strings[program.name[node]] for node in graph.input_nodes]
        assert sorted(names) == ["p_linear_bias", "p_linear_weight", "x"]
        values = [*graph.inputs, *graph.ops]
        for op, name in enumerate(graph.ops):
            reads = graph.reads.items[graph.reads.starts[op] : graph.reads.starts[op + 1]]
            assert reads, name
            row = graph.text.splitlines()[graph.line[op] - 1]
            assert all(values[read] in row.partition(" = ")[2] for read in reads)
            assert all(read < len(graph.inputs) + op for read in reads)
        assert len(graph.outputs) == 2


def test_kernels_are_told_apart_by_order_where_one_runs_twice() -> None:
    kernels = ["extern_kernels.mm:1", "cpp_fused_add_0:2", "extern_kernels.mm:3"]
    spans = [
        Span("aten::mm", 5.0),
        Span("aten::view", 0.5),
        Span("graph_0_cpp_fused_add_0", 2.0),
        Span("aten::mm", 7.0),
    ]
    found = match_events(kernels, spans)
    assert found.taken == {0: 5.0, 1: 2.0, 2: 7.0}
    assert [each.name for each in found.others] == ["aten::view"]


def test_a_helper_without_an_event_of_its_name_gets_what_ran_in_its_place() -> None:
    kernels = ["cpp_fused_a_0:1", "extern_kernels._mm_plus_mm:2", "cpp_fused_b_1:3"]
    spans = [
        Span("graph_0_cpp_fused_a_0", 1.0),
        Span("aten::mm", 3.0),
        Span("aten::addmm", 4.0),
        Span("graph_0_cpp_fused_b_1", 2.0),
    ]
    assert match_events(kernels, spans).taken == {0: 1.0, 1: 7.0, 2: 2.0}


def test_a_kernel_in_a_loop_has_all_its_events_and_one_of_a_branch_not_taken_has_none() -> None:
    kernels = ["cpp_fused_lt_0:1", "cpp_fused_sin_1:2", "cpp_fused_cos_2:3", "cpp_fused_mul_3:4"]
    names = ["cpp_fused_lt_0", "aten::item", "cpp_fused_sin_1"] * 2 + ["cpp_fused_mul_3"]
    matched = match_events(kernels, [Span(name, 1.0) for name in names])
    assert matched.taken == {0: 2.0, 1: 2.0, 3: 1.0}
    assert [span.name for span in matched.others] == ["aten::item"] * 2


def test_a_custom_op_of_a_package_is_found_by_the_op_that_it_calls() -> None:
    kernels = ["aoti_torch_cpu_blend:1", "cpp_fused_add_0:2"]
    spans = [Span("mine::blend", 4.0), Span("cpp_fused_add_0", 1.0)]
    assert match_events(kernels, spans, ["mine.blend", ""]).taken == {0: 4.0, 1: 1.0}


def test_an_error_of_the_cpp_compiler_is_told_with_what_it_says() -> None:
    error = RuntimeError("C++ compile error\n\nOutput:\na.cpp:7:1: error: no such thing\n  7 |")
    assert describe_error(error) == "RuntimeError: C++ compile error: no such thing"
    assert describe_error(ValueError("")) == "ValueError"


def test_no_time_is_given_to_a_kernel_that_has_no_event() -> None:
    kernels = ["torch.ops.mine.op.default:1", "torch.ops.mine.other.default:2"]
    found = match_events(kernels, [Span("aten::copy_", 1.0)])
    assert found.taken == {}
    assert len(found.others) == 1


@pytest.mark.parametrize(
    ("kernel", "calls", "event"),
    [
        ("extern_kernels.addmm:1", "aten.addmm", "aten::addmm"),
        ("extern_kernels.bias_addmm:4", "aten.bias_addmm", "aten::addmm"),
        ("torch.ops.aten.sort.stable:5", "aten.sort", "aten::sort"),
        ("aoti_torch_cpu_mm_out:2", "aten.mm", "aoti_torch_cpu_mm_out"),
        ("torch.ops.mkldnn._linear_pointwise.default:9", "mkldnn._linear_pointwise",
         "mkldnn::_linear_pointwise"),
    ],
)  # fmt: skip
def test_an_extern_kernel_says_what_it_calls(kernel: str, calls: str, event: str) -> None:
    assert is_extern(kernel)
    assert find_called_op(kernel) == calls
    assert shows_kernel(event, kernel)
    assert not shows_kernel("aten::relu", kernel)


def test_generated_code_opens_at_the_call_and_at_the_definition() -> None:
    from export_engine.record import StageCode

    wrapper = StageCode("C++ wrapper", "cpp", "\n".join([
        'extern "C"  void  cpp_fused_add_0(float* p);',
        "    // [Provenance debug handles] cpp_fused_add_0:1",
        "    int32_t size = 3;",
        "    cpp_fused_add_0(buf0);",
    ]))  # fmt: skip
    kernels = StageCode("C++ kernels", "cpp", 'extern "C"  void  cpp_fused_add_0(float* p)\n{\n}')
    codes = [wrapper, kernels]
    assert find_calls(codes)["cpp_fused_add_0:1"] == (0, 4)
    assert find_definitions(codes)["cpp_fused_add_0"] == (1, 1)


def made(*kernels: tuple[str, list[int], float], codes: str = "abc") -> Stages:
    return Stages(
        backend="inductor",
        title="torch.compile inductor",
        kernels=[
            Kernel(
                name=name,
                kind="extern" if is_extern(name) else "fused",
                calls=find_called_op(name),
                ops=[],
                nodes=[],
                lines=lines,
                microseconds=time,
            )
            for name, lines, time in kernels
        ],
        lines=[StageLine(0, "net.py", n + 1, code) for n, code in enumerate(codes)],
    )


def test_time_of_several_lines_counts_for_the_set_and_is_not_split() -> None:
    stages = made(("cpp_fused_x_0:1", [0, 1], 6.0), ("cpp_fused_y_1:2", [1], 3.0), ("z.z:3", [], 1))
    rows = {row.lines: row.microseconds for row in times_by_line_set(stages)}
    assert rows == {(0, 1): 6.0, (1,): 3.0, (): 1.0}
    by_line = {row.line: (row.alone, row.shared) for row in times_by_line(stages)}
    assert by_line == {0: (0.0, 6.0), 1: (3.0, 6.0), 2: (0.0, 0.0)}


def test_a_diff_tells_what_merged_split_appeared_and_went() -> None:
    one = made(("cpp_fused_a_0:1", [0], 2.0), ("cpp_fused_b_1:2", [1], 3.0), ("m.mm:3", [2], 5.0))
    merged = made(("cpp_fused_a_b_0:1", [0, 1], 4.0), ("m.mm:2", [2], 5.0))
    assert [each.kind for each in compare_stages(one, merged).changes] == ["merged", "same"]
    assert compare_stages(one, merged).changes[0].microseconds == -1.0
    assert compare_stages(merged, one).changes[0].kind == "split"
    less = made(("cpp_fused_a_0:1", [0], 2.0), ("cpp_fused_b_1:2", [1], 3.0))
    assert {each.kind for each in compare_stages(one, less).changes} == {"same", "gone"}
    assert {each.kind for each in compare_stages(less, one).changes} == {"same", "appeared"}
    assert "merged: cpp_fused_a_0:1 + cpp_fused_b_1:2" in str(compare_stages(one, merged))


def test_a_diff_follows_lines_that_moved() -> None:
    before = made(("cpp_fused_a_0:1", [0], 2.0))
    after = msgspec.structs.replace(before, lines=[StageLine(0, "net.py", 40, "a")])
    assert [each.kind for each in compare_stages(before, after).changes] == ["same"]


def test_a_diff_keeps_apart_the_layers_that_one_line_computes_in() -> None:
    record = explorer.explore(Other(), (torch.randn(3),)).record
    replace = msgspec.structs.replace
    one = made(("cpp_fused_a_0:1", [0], 2.0), ("cpp_fused_a_1:2", [0], 3.0))
    one = replace(one, kernels=[replace(k, nodes=[n + 1]) for n, k in enumerate(one.kernels)])
    both = made(("cpp_fused_a_0:1", [0], 4.0))
    both = replace(both, kernels=[replace(both.kernels[0], nodes=[1, 2])])
    alike = compare_stages(one, one, (record, record)).changes
    assert [each.kind for each in alike] == ["same", "same"]
    assert [each.kind for each in compare_stages(one, both, (record, record)).changes] == ["merged"]


def test_times_are_left_out_where_nothing_was_measured() -> None:
    stages = made(("cpp_fused_a_0:1", [0], -1.0))
    assert times_by_line_set(stages)[0].microseconds == 0.0
    assert stages.times is None
    assert StageTimes.__struct_fields__[0] == "method"


INFORMATION = {
    "cpp_fused_add_0:2": {
        "stack_traces": ['File "/home/a/net.py", line 7, in forward\n    return x + 1'],
        "post_grad_nodes": ["add"],
        "pre_grad_nodes": ["add"],
    },
    "aoti_torch_cpu_mm_out:1": {"stack_traces": "not a list", "post_grad_nodes": ["mm"]},
    "not a row": 3,
}
WRAPPER = "// [Provenance debug handles] cpp_fused_add_0:2\ncpp_fused_add_0(buf0);\n"


def package(path: Path, information: str) -> Path:
    folder = "m/data/aotinductor/model"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/archive_format", "pt2")
        archive.writestr("m/version", "0")
        archive.writestr(f"{folder}/kernel_information.json", information)
        archive.writestr(f"{folder}/c0.wrapper.cpp", WRAPPER)
        archive.writestr(f"{folder}/c0.wrapper.so", b"\x7fELF not code")
    return path


def test_a_package_tells_its_kernels_as_data(tmp_path: Path) -> None:
    path = package(tmp_path / "model.pt2", json.dumps(INFORMATION))
    stages = explorer.view(path)
    assert isinstance(stages, StagesResult)
    assert [each.name for each in stages.kernels] == [
        "cpp_fused_add_0:2",
        "aoti_torch_cpu_mm_out:1",
    ]
    (kernel,) = stages.of("net.py:7")
    assert kernel.lines == ["net.py:7"]
    assert stages.data.lines[0].code == "return x + 1"
    assert "cpp_fused_add_0(buf0)" in str(kernel)
    assert "not measured" in str(kernel)
    assert str(explorer.view(path)) == str(stages)


def test_a_package_that_does_not_say_is_refused_with_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is not JSON"):
        explorer.view(package(tmp_path / "broken.pt2", "{"))
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "dedicated_log_torch_trace_x.log").write_text("", encoding="utf-8")
    with pytest.raises(ArchiveError, match="INDUCTOR_PROVENANCE=1"):
        explorer.view(tmp_path / "traces")


TRACE = """V1127 04:26:07.246000 18933 torch/_dynamo/utils.py:2350] {"chromium_event": {}}
\t{
V1127 04:26:10.063000 1 torch/x.py:2] {"artifact": {"name": "inductor_post_grad_graph"}}
\tclass G(torch.nn.Module):
\t    def forward(self, arg0_1: "f32[4][1]cpu"):
\t        # File: /a/net.py:3 in forward, code: h = x + 1
\t        add: "f32[4][1]cpu" = torch.ops.aten.add.Tensor(arg0_1, 1);  arg0_1 = None
\t        # File: /a/net.py:4 in forward, code: return h.clone()
\t        clone: "f32[4][1]cpu" = torch.ops.aten.clone.default(add);  add = None
\t        return (clone,)
V1127 04:26:10.064000 1 torch/x.py:3] {"artifact": {"name": "%s_node_mappings"}}
\t{"cppCodeToPost": {"cpp_fused_add_0:1": ["add"], "cpp_fused_clone_1:2": ["clone"]}}
V1127 04:26:10.065000 1 torch/x.py:4] {"artifact": {"name": "%s_kernel_stack_traces"}}
\t{"cpp_fused_clone_1:2": ["File \\"/a/net.py\\", line 3, in forward\\n    h = x + 1"]}
V1127 04:26:10.066000 1 torch/x.py:5] {"inductor_output_code": {"filename": "x.py"}}
\t# [Provenance debug handles] cpp_fused_add_0:1
\tcpp_fused_add_0(buf0)
""" % (("inductor_provenance_tracking",) * 2)


def test_a_folder_of_torch_trace_is_read_as_stages(tmp_path: Path) -> None:
    (tmp_path / "dedicated_log_torch_trace_x.log").write_text(TRACE, encoding="utf-8")
    stages = explorer.view(tmp_path)
    assert isinstance(stages, StagesResult)
    assert [each.name for each in stages.data.graphs] == ["post-grad"]
    assert stages.data.graphs[0].types == ["f32[4][1]cpu"] * 2
    kernel = stages.kernels[0]
    assert (kernel.ops, kernel.code, kernel.call_line) == ([0], 0, 2)
    assert stages.of(3)[0].name == "cpp_fused_add_0:1"
    # torch's stack traces have the lines that a kernel reads as well: those above its ops do not
    assert stages.kernel("cpp_fused_clone_1:2").lines == ["net.py:4"]
    (remark,) = stages.data.remarks
    assert (remark.kind, stages.data.lines[remark.lines[0]].code) == ("copy", "return h.clone()")


@pytest.mark.parametrize("told", ["[1, 2]", "[" * 100_000, "\xff{", '{"a:1": {"stack_traces": [9'])
def test_a_package_with_something_else_in_place_of_kernels_is_refused(
    tmp_path: Path, told: str
) -> None:
    file = tmp_path / "model.pt2"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model/archive_format", "pt2")
        archive.writestr("model/data/aotinductor/model/kernel_information.json", told)
    with pytest.raises(ArchiveError, match="is not"):
        explorer.view(file)


def test_of_a_trace_folder_only_plain_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "dedicated_log_torch_trace_a.log").symlink_to("/dev/zero")
    (tmp_path / "dedicated_log_torch_trace_b.log").mkdir()
    with pytest.raises(ArchiveError, match="does not list its kernels"):
        explorer.view(tmp_path)


@pytest.mark.slow
def test_onnx_runtime_tells_its_nodes_with_ops_lines_and_times() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    torch.manual_seed(0)
    ex = explorer.explore(Planted().eval(), (torch.randn(16, 16),))
    stages = ex.stages("onnx")
    record = ex.record
    check_record(record)
    assert [graph.name for graph in stages.data.graphs] == ["runtime"]
    computed = {
        name: kernel for kernel in stages.kernels for name in stages.kernel(kernel.name).nodes
    }
    assert {"linear", "sigmoid", "sort", "exp"} <= computed.keys()
    assert computed["linear"].calls in ("Gemm", "com.microsoft.FusedGemm")
    for name, mark in (("sort", "fusion"), ("exp", None)):
        (line,) = stages.kernel(computed[name].name).lines
        assert mark is None or line.endswith(f":{planted_line(mark)}")
    assert all(kernel.microseconds >= 0 for kernel in stages.kernels)
    assert any("This backend does not expose" in text for text in stages.data.left_out)
    assert "runtime nodes" in str(stages.kernel(computed["sort"].name))
    with pytest.raises(FixError, match="no Inductor options"):
        ex.stages("onnx", options={"max_autotune": True})


class Other(nn.Module):
    """The same graph as of `Planted`'s first line, on a line of its own."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin() * 2  # <- other


@pytest.mark.slow
def test_openvino_tells_its_layers_with_ops_lines_and_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("openvino", reason="openvino is not installed")
    torch.manual_seed(0)
    ex = explorer.explore(Planted().eval(), (torch.randn(16, 16),))
    stages = ex.stages("openvino")
    check_record(ex.record)
    computed = {
        name: kernel for kernel in stages.kernels for name in stages.kernel(kernel.name).nodes
    }
    assert {"linear", "sort", "exp"} <= computed.keys()
    assert computed["linear"].calls.startswith("FullyConnected ")
    assert stages.kernel(computed["sort"].name).lines == [
        f"test_stages.py:{planted_line('fusion')}"
    ]
    assert all(kernel.microseconds >= 0 for kernel in stages.kernels)
    backend = sys.modules["export_engine.run.builtin_backends.openvino"]
    monkeypatch.setattr(backend, "_decode", backend.without_decoder)
    again = ex.stages("openvino")
    named = {name for kernel in again.kernels for name in again.kernel(kernel.name).nodes}
    assert {"linear", "sort", "exp"} <= named  # by equal names


class Portable(nn.Module):
    """An op of XNNPACK, and one that it does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.linear(x).relu()  # <- delegated
        return h.cumsum(-1)  # <- portable


@pytest.mark.thorough
def test_executorch_tells_its_instructions_with_ops_lines_and_times() -> None:
    pytest.importorskip("executorch.devtools", reason="executorch is not installed")
    stages = explorer.explore(Portable().eval(), (torch.randn(16, 16),)).stages("executorch")
    delegate, cumsum = stages.kernels
    assert delegate.calls.startswith("XnnpackBackend: Fully Connected")
    assert {"linear", "relu"} <= set(stages.kernel(delegate.name).nodes)
    assert stages.kernel(delegate.name).lines == [f"test_stages.py:{planted_line('delegated')}"]
    assert cumsum.calls == "aten.cumsum.out"
    assert stages.kernel(cumsum.name).lines == [f"test_stages.py:{planted_line('portable')}"]
    assert all(kernel.microseconds > 0 for kernel in stages.kernels)


def test_what_a_cache_tells_of_another_programs_lines_is_noticed() -> None:
    record = explorer.explore(Other(), (torch.randn(3),)).record
    texts = {
        "before_pre_grad_graph": "\n".join(
            [
                "class GraphModule(torch.nn.Module):",
                '    def forward(self, x: "f32[3][1]cpu"):',
                '        sin: "f32[3][1]cpu" = torch.ops.aten.sin.default(x);  x = None',
                '        mul: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(sin, 2);  sin = None',
                "        return (mul,)",
            ]
        )
    }
    texts["inductor_post_grad_graph"] = texts["before_pre_grad_graph"]
    line = planted_line("other")
    for number, same in ((line, True), (line + 40, False)):
        trace = f'File "{__file__}", line {number}, in forward\n    return x.sin() * 2'
        provenance = Provenance(
            {"sin": ["sin"], "mul": ["mul"]},
            {"cpp_fused_mul_sin_0:1": ["sin", "mul"]},
            {"cpp_fused_mul_sin_0:1": [trace]},
        )
        joined = join_stages(record, texts, provenance)
        assert [each.line for each in joined.lines] == [line]
        assert is_consistent(record, joined, provenance) is same


class Noisy(nn.Module):
    """An op with seeds that the compiler adds, and an op of a library."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.rand_like(x)  # <- noise
        return (x.sin() + noise).sort(-1).values


def test_an_op_of_the_compilers_own_is_of_the_lines_that_need_it() -> None:
    record = explorer.explore(Noisy(), (torch.randn(3),)).record
    first = [
        'rand: "f32[3][1]cpu" = torch.ops.aten.rand_like.default(x)',
        'sin: "f32[3][1]cpu" = torch.ops.aten.sin.default(x)',
        'add: "f32[3][1]cpu" = torch.ops.aten.add.Tensor(sin, rand)',
        "sort = torch.ops.aten.sort.default(add)",
    ]
    last = [
        'seeds: "i64[1][1]cpu" = torch.ops.prims.inductor_seeds.default(1, device(type="cpu"))',
        'seed: "i64[][]cpu" = torch.ops.prims.inductor_lookup_seed.default(seeds, 0)',
        'random: "f32[3][1]cpu" = torch.ops.prims.inductor_random.default([3], seed, "rand")',
        *first[1:2],
        'add: "f32[3][1]cpu" = torch.ops.aten.add.Tensor(sin, random)',
        "sort = torch.ops.aten.sort.default(add)",
    ]
    joined = join_stages(
        record,
        {
            "before_pre_grad_graph": print_graph(first),
            "inductor_post_grad_graph": print_graph(last),
        },
        Provenance(
            {"random": ["rand"], "sin": ["sin"], "add": ["add"], "sort": ["sort"]},
            {
                "aten.randint.low_out:1": ["seeds"],
                "cpp_fused_add_sin_sort_0:2": ["seed", "random", "sin", "add", "sort"],
                "torch.ops.aten.sort.default:3": ["sort"],
            },
            {},
        ),
    )
    seeds, fused, sort = joined.kernels
    assert [joined.lines[line].line for line in seeds.lines] == [planted_line("noise")]
    ops = joined.graphs[-1].ops
    assert [ops[op] for op in fused.ops] == ["seed", "random", "sin", "add"]
    assert [ops[op] for op in sort.ops] == ["sort"]
    assert not any(remark.kind == "layout" for remark in joined.remarks)


class Kept(nn.Module):
    """A buffer whose values a library's op computes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("best", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.best.copy_(x.sort(-1).values)  # <- written
        return x.sin()


def test_an_op_that_torch_prints_without_an_overload_is_of_the_call_alone() -> None:
    record = explorer.explore(Other(), (torch.randn(3),)).record
    first = [
        'sin: "f32[3][1]cpu" = torch.ops.aten.sin.default(x)',
        'mul: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(sin, 2)',
    ]
    last = ['sin: "f32[3][1]cpu" = torch.ops.mkl._mkl_linear(x)', first[1]]
    joined = join_stages(
        record,
        {
            "before_pre_grad_graph": print_graph(first),
            "inductor_post_grad_graph": print_graph(last),
        },
        Provenance(
            {"sin": ["sin"], "mul": ["mul"]},
            {"torch.ops.mkl._mkl_linear.default:1": ["sin"], "cpp_fused_mul_0:2": ["sin", "mul"]},
            {},
        ),
    )
    call, fused = joined.kernels
    assert (call.ops, call.calls, fused.ops) == ([0], "mkl._mkl_linear", [1])
    assert not joined.remarks


def test_a_write_into_a_buffer_is_of_the_line_that_writes() -> None:
    record = explorer.explore(Kept(), (torch.randn(3),)).record
    rows = [
        "sort = torch.ops.aten.sort.default(x)",
        'getitem: "f32[3][1]cpu" = sort[0]',
        'sin: "f32[3][1]cpu" = torch.ops.aten.sin.default(x)',
    ]
    last = [*rows, 'copy_: "f32[3][1]cpu" = torch.ops.aten.copy_.default(x, getitem)']
    joined = join_stages(
        record,
        {
            "before_pre_grad_graph": print_graph(rows),
            "inductor_post_grad_graph": print_graph(last),
        },
        Provenance(
            {name: [name] for name in ("sort", "getitem", "sin")},
            {
                "torch.ops.aten.sort.default:1": ["sort"],
                "cpp_fused_sin_0:2": ["sin"],
                "cpp_fused_copy__1:3": ["copy_"],
            },
            {},
        ),
    )
    written = joined.kernels[-1]
    assert [joined.lines[line].line for line in written.lines] == [planted_line("written")]
    (remark,) = [each for each in joined.remarks if each.kernel == 2]
    assert remark.text.startswith("`copy_` writes changed values back into an input or buffer")
    assert remark.lines == written.lines


def print_graph(rows: list[str]) -> str:
    head = ["class G(torch.nn.Module):", '    def forward(self, x: "f32[3][1]cpu"):']
    return "\n".join([*head, *(f"        {row}" for row in rows), "        return (sort,)"])


@torch.library.custom_op("test_stages::refuses", mutates_args=())
def refuses(x: torch.Tensor) -> torch.Tensor:
    """Compiles, and fails when it runs."""
    raise OverflowError("no value is small enough\nand more")


@refuses.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


refuses.register_autograd(lambda _, gradient: gradient * 2)


class Refusing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.linear(x).sigmoid()
        h = torch.ops.test_stages.refuses(h)  # <- refuses
        return (h + 1).sum()


@pytest.mark.slow
@pytest.mark.parametrize("joint", [False, True])
def test_what_compiles_and_fails_when_it_runs_keeps_its_stages_and_names_the_line(
    joint: bool,
) -> None:
    ex = explorer.explore(Refusing(), (torch.randn(2, 4),), joint=joint)
    stages = ex.stages()
    check_record(ex.record)
    (failed,) = [kernel for kernel in stages.kernels if "refuses" in kernel.calls]
    text = next(each for each in stages.data.left_out if each.startswith("Not timed"))
    place = f"test_stages.py:{planted_line('refuses')}"
    assert f"in the call of `{failed.name}` ({place}): OverflowError: no value" in text
    assert "and more" not in text
    assert stages.data.times is None
    assert (stages.data.backward >= 0) == joint
    for kernel in stages.kernels:
        assert kernel.lines, kernel.name
        assert kernel.microseconds < 0
    assert "Not timed" in str(stages).replace("\n", " ")


class Branch(nn.Module):
    """A size that depends on data, and a branch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x[x.nonzero()[:, 0]] * 2
        return torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (x,)) + rows.sum()


@pytest.mark.slow
def test_a_program_with_sizes_of_data_and_a_branch_is_compiled_whole() -> None:
    stages = explorer.explore(Branch(), (torch.ones(3),)).stages()
    targets = {stages.data.graphs[-1].targets[op] for kernel in stages.kernels for op in kernel.ops}
    assert {"aten.nonzero.default", "higher_order.cond"} <= targets
    assert not stages.data.removed
    untimed = [kernel.name for kernel in stages.kernels if kernel.microseconds < 0]
    assert len(untimed) == 1
    assert "cos" in untimed[0]
    assert not any(remark.kind == "recomputed" for remark in stages.data.remarks)


@pytest.mark.slow
def test_a_record_whose_stages_point_elsewhere_is_refused(
    explored: explorer.Exploration, stages: StagesResult
) -> None:
    check_record(explored.record)
    replace = msgspec.structs.replace
    first = stages.kernels[0]
    for broken in (
        replace(first, nodes=[10_000]),
        replace(first, lines=[99]),
        replace(first, ops=[10_000]),
        replace(first, code=9),
        replace(first, call_line=10**6),
    ):
        made_up = replace(stages.data, kernels=[broken])
        with pytest.raises(ValueError, match="is out of range"):
            check_record(replace(explored.record, stages=[made_up]))
