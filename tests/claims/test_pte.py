"""A `.pte` is data: it reads as ExecuTorch reads it, and a hostile one ends in a sentence."""

import random
import subprocess
import sys
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

import explorer
from explorer.cli.main import main
from explorer.results.pte import PteFile
from export_engine.pte import PteError, read_pte

HELD = Path(__file__).parent / "delegated.pte"
"""A conv, add with alpha, mean, linear and cumsum, lowered for XNNPACK by ExecuTorch 1.5.1."""
TRIES = 300
SECONDS = 5.0
MEMORY = 500_000_000


def test_it_has_what_executorch_wrote() -> None:
    program = read_pte(HELD)
    (plan,) = program.plans
    assert program.identifier == "ET12"
    assert plan.name == "forward"
    assert plan.operators == ["aten::cumsum.out", "aten::add.out", "aten::mean.out"]
    assert plan.backends == ["XnnpackBackend"]
    assert "XNNConv2d" in plan.delegates[0].ops
    assert plan.delegates[1].ops == ["XNNFullyConnected"]
    kinds = sorted(each.kind for each in plan.instructions)
    assert kinds == ["delegate", "delegate", "kernel", "kernel", "kernel"]
    assert plan.arenas == [0, 6496]
    for each in plan.placed:
        assert each.offset + each.bytes <= plan.arenas[each.arena]
        assert 0 <= each.first <= each.last < len(plan.instructions)


def test_tensors_alive_at_one_time_do_not_overlap() -> None:
    (plan,) = read_pte(HELD).plans
    for one in plan.placed:
        for other in plan.placed:
            at_once = one.first <= other.last and other.first <= one.last
            if one.value < other.value and at_once and one.arena == other.arena:
                apart = one.offset + one.bytes <= other.offset
                assert apart or other.offset + other.bytes <= one.offset, (one, other)


def test_view_and_the_command_line_open_it(capsys: pytest.CaptureFixture[str]) -> None:
    file = explorer.view(str(HELD))
    assert isinstance(file, PteFile)
    assert "<svg" in file._repr_html_()
    assert main([str(HELD)]) == 0
    assert "XnnpackBackend" in capsys.readouterr().out
    assert main([str(HELD), "--verify"]) == 2


def test_no_torch_is_imported() -> None:
    code = f"import sys, explorer; print(explorer.view({str(HELD)!r}))"
    code += "; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.slow
def test_hostile_files_end_in_a_sentence(tmp_path: Path) -> None:
    whole = HELD.read_bytes()
    rng = random.Random(56)
    file = tmp_path / "hostile.pte"
    ended = 0
    tracemalloc.start()
    try:
        for number in range(TRIES):
            data = bytearray(whole)
            for _ in range(rng.choice((1, 4, 32, 256))):
                at = rng.randrange(len(data))
                data[at] = rng.choice((0, 255, 127, 128, rng.randrange(256)))
            if number % 3 == 0:
                data = data[: rng.randrange(len(data))]
            elif number % 3 == 1:
                start = 4 * rng.randrange(len(data) // 4 - 1)
                data[start : start + 4] = rng.choice((2**32 - 1, 2**31, 4, 2**16)).to_bytes(
                    4, "little"
                )
            file.write_bytes(data)
            began = time.process_time()
            try:
                shown = PteFile(file)
                assert repr(shown)
                assert shown._repr_html_()
            except PteError:
                ended += 1
            assert time.process_time() - began < SECONDS
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    assert TRIES / 4 < ended < TRIES


@pytest.mark.parametrize("data", [b"", b"ET12", b"\0\0\0\0ET12", b"PK\3\4" + b"\0" * 60])
def test_what_is_no_pte_is_said(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "no.pte"
    file.write_bytes(data)
    with pytest.raises(PteError):
        read_pte(file)


@pytest.mark.slow
def test_a_run_is_told_by_its_etdump_and_etrecord(tmp_path: Path) -> None:
    """Instructions with times, ops and lines; both files are data, and hostile ones are refused."""
    pytest.importorskip("executorch", reason="pip install '.[executorch]'")
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = torch.nn.Conv2d(3, 8, 3), torch.nn.Linear(8, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.conv(x)
            y = torch.add(y, y, alpha=2)
            return self.head(y.mean((2, 3))).cumsum(-1)

    x = (torch.randn(2, 3, 8, 8),)
    program = torch.export.export(Net().eval(), x)
    edge = to_edge_transform_and_lower(
        program, partitioner=[XnnpackPartitioner()], generate_etrecord=True
    )
    lowered = edge.to_executorch()
    names = ("model.pte", "record.bin", "trace.etdp")
    model, record, trace = (tmp_path / name for name in names)
    model.write_bytes(lowered.buffer)
    lowered.get_etrecord().save(record)
    method = _load_for_executorch_from_buffer(lowered.buffer, enable_etdump=True)
    for _ in range(3):
        method.forward(x)
    method.write_etdump_result_to_file(str(trace), str(tmp_path / "values.bin"))

    run = explorer.view(model).read_run(trace, record)
    (plan,) = explorer.view(model).plans
    assert run.times.keys() == {*range(len(plan.instructions))}
    assert all(len(timed.microseconds) == 3 for timed in run.times.values())
    lines = {op.origin: op.line for ops in run.ops.values() for op in ops}
    text = Path(__file__).read_text().splitlines()
    assert "alpha=2" in text[lines["add"] - 1]
    assert [*explorer.load(record)] == ["program", "forward, before lowering"]
    with pytest.raises(PteError, match="Open the program that ran"):
        explorer.view(trace)

    whole, rng = trace.read_bytes(), random.Random(56)
    for _ in range(60):
        data = bytearray(whole[: rng.choice((len(whole), rng.randrange(len(whole))))])
        for _ in range(rng.choice((1, 8, 64))):
            data[rng.randrange(len(data))] = rng.choice((0, 255, 128, rng.randrange(256)))
        trace.write_bytes(data)
        with suppress(PteError):
            repr(explorer.view(model).read_run(trace))
