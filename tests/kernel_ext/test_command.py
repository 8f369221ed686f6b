"""The options of `%export`."""

from __future__ import annotations

import pytest

from kernel_ext.command import Command, parse_command
from kernel_ext.errors import ExportUsageError


def test_options_come_first_and_the_rest_is_the_call() -> None:
    line = '--strict -d "x: batch[2..64], _; y: *" --as ex model(x, f"{a - b}")'
    assert parse_command(line) == Command(
        call='model(x, f"{a - b}")', mode="strict", dynamic="x: batch[2..64], _; y: *", name="ex"
    )


def test_options_take_their_value_after_an_equals_sign_too() -> None:
    assert parse_command("--as=ex --dynamic='x: b' m(x)").dynamic == "x: b"
    assert parse_command("-D my_shapes m(x)").expression == "my_shapes"
    assert parse_command("--load model.pt2").load == "model.pt2"
    assert parse_command("--no-display m(x)").display is False
    assert parse_command("--fix m(x)").fix
    assert parse_command("--save a.pt2 m(x)").save == "a.pt2"
    assert parse_command("--stages m(x)") == Command(call="m(x)", stages="inductor")
    assert parse_command("--stages=aoti m(x)").stages == "aoti"


def test_a_call_may_begin_with_a_minus_only_in_its_arguments() -> None:
    assert parse_command("m(-x, --y)").call == "m(-x, --y)"


REFUSED = {
    "--strcit m(x)": "no option --strcit. Did you mean --strict",
    "--frobnicate m(x)": "Options: --strict,",
    "--strict=1 m(x)": "--strict does not take a value",
    "-d --strict m(x)": "-d needs a value",
    "-d= m(x)": "-d needs a value",
    "-d 'x: b' --dynamic 'y: b' m(x)": "appears twice",
    "-d 'x: b m(x)": "quote is not closed",
    "-d x'b m(x)": "quote is not closed",
    "--load f.pt2 m(x)": "without a call",
    "--load f.pt2 --both": "without a call",
    "--load f.pt2 --fix": "without a call",
    "--load f.pt2 --save g.pt2": "without a call",
    "--as class m(x)": "not a valid variable name",
    "-d": "-d needs a value",
    "--strict --both m(x)": "cannot be combined",
    "-d 'x: b' -D s m(x)": "cannot be combined",
    "--joint --run cpu m(x)": "leave out --run",
    "--generate --stages m(x)": "leave out --stages",
    "--as 3x m(x)": "not a valid variable name",
}


@pytest.mark.parametrize("line", REFUSED)
def test_lines_that_do_not_work_say_why(line: str) -> None:
    with pytest.raises(ExportUsageError, match=REFUSED[line]):
        parse_command(line)


@pytest.mark.parametrize(
    ("line", "device", "call"),
    [
        ("--run model(x)", "cpu", "model(x)"),
        ("--run cuda model(x)", "cuda", "model(x)"),
        ("--run=cuda:1 model(x)", "cuda:1", "model(x)"),
        ("--run mps(x)", "cpu", "mps(x)"),
        ("--run tpu:0 model(x)", "tpu:0", "model(x)"),  # that there is none, the next step says
        ("--run model if x else other", "cpu", "model if x else other"),
        ("--run not model", "cpu", "not model"),
        ("--run", "cpu", ""),
        ("--backend onnx,aoti model(x)", "cpu", "model(x)"),
    ],
)
def test_run_takes_a_device_or_none(line: str, device: str, call: str) -> None:
    command = parse_command(line)

    assert (command.run, command.call) == (device, call)


def test_a_spec_is_asked_for_with_the_shapes() -> None:
    assert parse_command('--spec -d "x: a" f(x)').spec
    assert not parse_command('-d "x: a" f(x)').spec
    for line in (
        "--spec f(x)",
        '--spec --vs-compile -d "x: a" f(x)',
        '--spec --guide -d "x: a" f(x)',
    ):
        with pytest.raises(ExportUsageError, match="--spec"):
            parse_command(line)


def test_contracts_are_compared_of_one_plain_export() -> None:
    assert parse_command('--contracts -d "x: a" f(x)').contracts
    for line in ("--contracts f(x)", '--contracts --both -d "x: a" f(x)'):
        with pytest.raises(ExportUsageError, match="--contracts"):
            parse_command(line)
