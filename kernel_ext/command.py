"""The line of `%export`: options first, then the call's text, which `kernel_ext.call` takes apart.

Nothing is evaluated here.
"""

from __future__ import annotations

import difflib
import keyword
import re
import shlex
from dataclasses import dataclass

from kernel_ext.errors import ExportUsageError, pointing

OPTIONS = {
    "--strict": "trace the bytecode; reject Python that it cannot trace",
    "--non-strict": "run the Python with fake tensors (the default)",
    "--both": "try both modes; click one to see it",
    "--spec": "with torch's ShapesSpec in place of Dims: sizes are unbacked (torch 2.14)",
    "--contracts": "export it with Dims and with a ShapesSpec, and compare both (torch 2.14)",
    "--fix": "if the export fails, apply fixes that are not lossy until it works",
    "--guide": "go step by step: export, explain, fix, verify, write a report",
    "--verify": "check torch.export's guarantees on this program",
    "--run": "run it and compare with eager; on a device: --run cuda",
    "--backend": "run with these backends: eager,program,inductor,aoti,onnx, ..., or all",
    "--on": "run on the engines of an ipyparallel client, a variable",
    "--profile": "measure each op",
    "--delegate": "list ops that a backend accepts, and why it rejects others: xnnpack",
    "--without-weights": "export a copy on the meta device, without memory for weights",
    "--stages": "compile it, and show its kernels with lines and times: --stages, --stages=aoti",
    "--decompose": 'decompose the program: core, none, "core -linear", "only t"',
    "--diff": "compare with another program, a variable or a .pt2 file: --diff before",
    "--vs-compile": "compare with torch.compile on the same call",
    "--sizes": "with --vs-compile: call both at these sizes, 512,1024,2048 or batch=512,1024",
    "--joint": "show a training step: the loss's graph, forward and backward",
    "-d": 'dynamic sizes: -d "x: batch[2..64], _; y: batch, *"',
    "--dynamic": "the same as -d",
    "-D": "dynamic_shapes, as a Python expression without spaces or in quotes",
    "--as": "store the result in this variable",
    "--generate": "export a generative model as several programs: --generate model(**inputs)",
    "--into": "add the program to this set of programs, a variable; created if it does not exist",
    "--name": "with --into: the program's name in the set, decode",
    "--save": "save the program to this .pt2 file, with its Record",
    "--html": "write the whole view to one HTML file without a kernel",
    "--load": "open a .pt2 file instead of exporting a call",
    "--model": "with --load: the program to open in a file with several",
    "--trusted": "with --load: you trust the file, so its program may be loaded",
    "--no-display": "export, but show nothing",
}
_VALUED = {
    "-d": "dynamic",
    "--dynamic": "dynamic",
    "-D": "expression",
    "--as": "name",
    "--into": "into",
    "--name": "program",
    "--decompose": "decompose",
    "--diff": "diff",
    "--delegate": "delegate",
    "--sizes": "sizes",
    "--backend": "backend",
    "--on": "on",
    "--save": "save",
    "--html": "html",
    "--load": "load",
    "--model": "model",
}
FLAGS = {
    "--strict",
    "--non-strict",
    "--both",
    "--fix",
    "--spec",
    "--contracts",
    "--guide",
    "--verify",
    "--profile",
    "--no-display",
    "--trusted",
    "--vs-compile",
    "--generate",
    "--joint",
    "--without-weights",
}
_MODES = {"--strict", "--non-strict", "--both"}
"""Options without a value."""
RUN = "--run"
STAGES = "--stages"
DEVICE = re.compile(r"\s+(?P<name>cpu|cuda(:\d+)?|mps|xpu(:\d+)?)(?=\s|$)")
"""Devices after `--run`.

A call that starts with such a name continues with a parenthesis or a dot.
"""
_MISTAKEN = re.compile(r"\s+(?P<name>[a-z]\w*(:\d+)?)(?=\s+(?P<next>[A-Za-z_]\w*))")
"""A word before another one, which starts no call: it was meant as a device."""
_WORD = re.compile(r"""(?:[^\s"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+""")


@dataclass(frozen=True)
class Command:
    """The parsed command."""

    call: str
    """The call's source text; empty where it is in the cell, or with `load`."""
    mode: str = "non-strict"
    """`strict`, `non-strict` or `both`."""
    dynamic: str | None = None
    """Shapes in the short language."""
    expression: str | None = None
    """Python source of `dynamic_shapes`."""
    name: str | None = None
    into: str | None = None
    """The variable that holds a set of programs."""
    program: str | None = None
    """The program's name in it."""
    save: str | None = None
    html: str | None = None
    load: str | None = None
    model: str | None = None
    """Which program of that file; all of them, as a set, by default."""
    trusted: bool = False
    """Whether the program of that file may be made."""
    decompose: str | None = None
    display: bool = True
    fix: bool = False
    spec: bool = False
    """Whether the shapes are a ShapesSpec."""
    contracts: bool = False
    """Whether to export it in both forms, and compare."""
    guide: bool = False
    verify: bool = False
    generate: bool = False
    """Whether the call is of a model that generates, to be cut into programs."""
    joint: bool = False
    """Whether the call returns a loss whose backward pass is also wanted."""
    without_weights: bool = False
    """Whether to export a copy of the model on the meta device."""
    vs_compile: bool = False
    sizes: str | None = None
    """What `--vs-compile` calls at."""
    run: str | None = None
    """The device to run on."""
    on: str | None = None
    """The variable that holds a client."""
    backend: str | None = None
    """Names of backends, with commas between."""
    profile: bool = False
    delegate: str | None = None
    stages: str | None = None
    """The compiler whose kernels are shown."""
    diff: str | None = None
    """The program to compare with: a variable or a file."""


def parse_command(line: str) -> Command:
    """The command of a line.

    Raises:
        ExportUsageError: an unknown option, one without its value, or some that exclude each other.
    """
    entries: dict[str, str] = {}
    flags: list[str] = []
    at = _skip_space(line, 0)
    while line.startswith("-", at):
        word, end = _word(line, at)
        option, equals, value = word.partition("=")
        if option in FLAGS and not equals:
            flags.append(option)
        elif option == RUN:
            device = DEVICE.match(line, end) or _find_mistake(line, end)
            entries["run"] = value or (device["name"] if device else "cpu")
            end = device.end() if device and not equals else end
        elif option == STAGES:
            entries["stages"] = value or "inductor"
        elif option in _VALUED:
            start = at + len(option) + 1
            if not equals:
                start = _skip_space(line, end)
                value, end = _word(line, start)
            if not value or (not equals and value in OPTIONS):
                raise pointing(f"{option} needs a value: {OPTIONS[option]}", line, start)
            if _VALUED[option] in entries:
                raise pointing(f"{option} appears twice", line, at)
            entries[_VALUED[option]] = _strip_quotes(value, line, start)
        else:
            raise pointing(_make_unknown_option_error(option), line, at)
        at = _skip_space(line, end)
    return _command(line[at:].rstrip(), entries, flags)


def _find_mistake(line: str, at: int) -> re.Match[str] | None:
    """A device that there is not: `--run tpu model(x)`."""
    match = _MISTAKEN.match(line, at)
    if match is None or keyword.iskeyword(match["name"]) or keyword.iskeyword(match["next"]):
        return None
    return match


def _command(call: str, given: dict[str, str], flags: list[str]) -> Command:
    modes = [flag for flag in flags if flag in _MODES]
    if len(set(modes)) > 1:
        raise ExportUsageError(f"{' and '.join(modes)} cannot be combined; choose one.")
    if "dynamic" in given and "expression" in given:
        raise ExportUsageError("-d and -D cannot be combined; choose one.")
    name = given.get("name", "name")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ExportUsageError(f"--as {name}: not a valid variable name.")
    if ("into" in given) != ("program" in given):
        raise ExportUsageError("--into and --name go together: --into kit --name decode model(x).")
    into = given.get("into", "into")
    if not into.isidentifier() or keyword.iskeyword(into):
        raise ExportUsageError(f"--into {into}: not a valid variable name.")
    if "into" in given and {"--vs-compile", "--guide"} & {*flags}:
        raise ExportUsageError(
            "--into works only with a plain export: leave out --vs-compile, --guide."
        )
    _check_generate(given, flags)
    _check_joint(given, flags)
    if "diff" in given and ("into" in given or {"--vs-compile", "--guide"} & {*flags}):
        raise ExportUsageError(
            "--diff compares one program: leave out --into, --vs-compile and --guide."
        )
    if "sizes" in given and "--vs-compile" not in flags:
        raise ExportUsageError("--sizes needs --vs-compile: the sizes to call both sides at.")
    if "--vs-compile" in flags and ("--both" in modes or "--fix" in flags):
        raise ExportUsageError("--vs-compile shows one export: leave out --both and --fix.")
    if "--spec" in flags and {"--vs-compile", "--guide"} & set(flags):
        raise ExportUsageError(
            "--spec works only with a plain export; with --vs-compile and --guide write "
            '`; unbacked` at the end of the shapes: -d "x: batch, _; unbacked".'
        )
    if "--contracts" in flags and {"--vs-compile", "--guide", "--both"} & {*flags, *modes}:
        raise ExportUsageError("--contracts works only with one plain export, in one mode.")
    _check_without_weights(given, flags)
    for flag in ("--spec", "--contracts"):
        if flag in flags and not {"dynamic", "expression"} & given.keys():
            raise ExportUsageError(f'{flag} needs dynamic shapes: {flag} -d "x: batch, _".')
    exports = bool(call or modes or {"--fix", "--vs-compile"} & set(flags))
    if "load" in given and (exports or given.keys() & {"dynamic", "expression", "save", "into"}):
        raise ExportUsageError(
            "--load opens a saved program. It works only with --model, --trusted, --as, --html, "
            "--verify, --decompose, --run, --backend, --profile, --stages, --delegate, --diff "
            "and --no-display, without a call."
        )
    if "model" in given and "load" not in given:
        raise ExportUsageError("--model works only with --load: it names a program of that file.")
    if "--trusted" in flags and "load" not in given:
        raise ExportUsageError(
            "--trusted works only with --load: use it if you know who made the file."
        )
    if "--guide" in flags and (
        given.keys() & {"load", "decompose"} or {"--both", "--no-display"} & {*flags}
    ):
        raise ExportUsageError("--guide works only with -d, -D, --strict, --as, --save and --html.")
    if given.keys() & {"backend", "on"}:
        given.setdefault("run", "cpu")
    return Command(
        call=call,
        mode=modes[0].removeprefix("--") if modes else "non-strict",
        display="--no-display" not in flags,
        fix="--fix" in flags,
        spec="--spec" in flags,
        contracts="--contracts" in flags,
        guide="--guide" in flags,
        trusted="--trusted" in flags,
        verify="--verify" in flags,
        generate="--generate" in flags,
        joint="--joint" in flags,
        vs_compile="--vs-compile" in flags,
        without_weights="--without-weights" in flags,
        profile="--profile" in flags,
        **given,
    )


def _check_joint(given: dict[str, str], flags: list[str]) -> None:
    """Raises ExportUsageError for what --joint does not go with."""
    if "--joint" not in flags:
        return
    wrong = [flag for flag in flags if flag not in ("--joint", "--no-display")]
    wrong += [
        text for text, to in _VALUED.items() if to in given and to not in ("name", "html", "diff")
    ]
    if wrong or "run" in given:
        raise ExportUsageError(
            "--joint traces a training step, which is not an exported program: leave out "
            f"{(wrong or [_find_run_option(given)])[0]}. It works with --as, --html, --diff, "
            "--stages and --no-display."
        )


def _check_without_weights(given: dict[str, str], flags: list[str]) -> None:
    """Raises ExportUsageError for what needs values, which --without-weights leaves out."""
    if "--without-weights" not in flags:
        return
    wrong = [flag for flag in flags if flag in {"--profile", "--vs-compile", "--guide"}]
    wrong += ["--load"] if "load" in given else []
    if wrong or given.keys() & {"run", "stages"}:
        raise ExportUsageError(
            f"--without-weights exports a model that has no values: leave out "
            f"{(wrong or [_find_run_option(given)])[0]}."
        )


def _check_generate(given: dict[str, str], flags: list[str]) -> None:
    """Raises ExportUsageError for what --generate does not go with."""
    if "--generate" not in flags:
        return
    wrong = [flag for flag in flags if flag not in _WITH_GENERATE]
    wrong += [text for text, name in _VALUED.items() if name in given and name not in _KEPT]
    if wrong or given.keys() & {"run", "stages"}:
        raise ExportUsageError(
            "--generate finds dynamic sizes itself, and makes several programs: leave out "
            f"{(wrong or [_find_run_option(given)])[0]}. It works with -d for bounds of dynamic "
            "sizes, --verify, --as, --save, --html."
        )


def _find_run_option(given: dict[str, str]) -> str:
    """The option that runs the program, of those that were given."""
    return RUN if "run" in given else STAGES


_WITH_GENERATE = {"--generate", "--verify", "--no-display", "--non-strict"}
_KEPT = {"dynamic", "name", "save", "html"}


def _skip_space(line: str, at: int) -> int:
    while at < len(line) and line[at].isspace():
        at += 1
    return at


def _word(line: str, at: int) -> tuple[str, int]:
    """The word that starts at a column, quotes and all, and the column after it."""
    match = _WORD.match(line, at)
    end = match.end() if match else at
    if line[end : end + 1] in ("'", '"'):
        raise pointing("This quote is not closed", line, end)
    return (match.group() if match else ""), end


def _strip_quotes(value: str, line: str, start: int) -> str:
    if value[0] not in "\"'":
        return value
    try:
        return "".join(shlex.split(value))
    except ValueError as error:
        raise pointing("This quote is not closed", line, start) from error


def _make_unknown_option_error(option: str) -> str:
    if option in FLAGS:
        return f"{option} does not take a value"
    near = difflib.get_close_matches(option, OPTIONS, n=1, cutoff=0.7)
    hint = f"Did you mean {near[0]}?" if near else f"Options: {', '.join(OPTIONS)}"
    return f"There is no option {option}. {hint}"
