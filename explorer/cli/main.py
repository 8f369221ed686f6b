"""The command line: `export-explorer model.pt2`, for a terminal and for CI."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from explorer.cli.sets import opening, run_set_command
from explorer.cli.skipped_options import left_undone
from explorer.comparing.comparison import Comparison
from explorer.comparing.contracts import compare_contracts
from explorer.exploration import Exploration
from explorer.opening.diffing import diff
from explorer.opening.exporting import explore
from explorer.opening.loading import load
from explorer.opening.named_call import run_named_call
from explorer.opening.places import find_path, is_address, standard_input
from explorer.results.environment_report import doctor
from explorer.session.internal_errors import OURS, find_defect
from explorer.session.session import FixError
from explorer.sets.programs import Programs
from explorer.text.escape import escape_log, harmless
from explorer.text.exit_codes import BAD, DEFECT, OK, UNCHECKED, USAGE
from explorer.text.explaining import explain
from explorer.text.validate_options import check_ahead
from export_engine.missing_packages import missing_package
from export_engine.pte import is_pte

__all__ = ["BAD", "DEFECT", "OK", "UNCHECKED", "USAGE", "main"]

_EPILOG = """\
examples:
  export-explorer model.pt2                        show its inputs, outputs, sizes
  export-explorer model.pte                        methods, delegates, kernels, memory plan
  export-explorer model.pt2 --verify               check the guarantees of torch.export
  export-explorer model.pt2 --ready                check that it is ready to ship: exit code 0, 1, 3
  export-explorer model.pt2 --html report.html     write the whole view to one offline file
  export-explorer model.pt2 --run --backend all    run it on every backend and compare
  export-explorer old.pt2 --diff new.pt2           list differences, up to names; with --html, a
                                                   page of both
  export-explorer check                            check the models of pyproject.toml: check --help
  export-explorer package.module:make -d "x: batch, _"
                                                   export what make() returns: (model, args) or
                                                   (model, args, kwargs)

A failing export as a short script, for an issue: export-explorer reproduce --help.
To show a file in an editor: export-explorer page --help.
To export many models into one table: export-explorer survey --help.
The same before a torch upgrade: export-explorer upgrade --help.
Tools for an assistant, over the Model Context Protocol: export-explorer mcp --help.

exit codes:
  0  every requested check ran, and nothing is wrong
  1  the export failed, the programs differ, a guarantee is broken, a run failed or differs, a
     finding shows a wrong program, programs of a set do not match, or --ready fails
  2  the command could not be carried out
  3  nothing failed, but a check of --verify that could run was skipped, the program of --fix was
     not compared with eager, a backend or a device of --run cannot run here, eager itself fails
     with the inputs, or --ready has checks left; an impossible check does not count
  4  Export Explorer itself failed, with a report to send

Opening a .pt2 file runs nothing in it. --verify, --run, --profile, --stages, --delegate,
--decompose and --save load its program, and loading a hostile file runs its code. They load files
that you saved here yourself; other files need --trusted.
"""


_COMMANDS = {
    "check": "explorer.cli.check",
    "mcp": "explorer.mcp.command",
    "page": "explorer.cli.page",
    "reproduce": "explorer.cli.reproduce",
    "survey": "explorer.surveys.command",
    "upgrade": "explorer.surveys.upgrade_command",
}
"""The module of each sub-command; its `main` takes the arguments after the name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    texts = list(sys.argv[1:] if arguments is None else arguments)
    _print_anything()
    if texts and (home := _COMMANDS.get(texts[0])):
        return _run_guarded(texts, lambda: int(import_module(home).main(texts[1:])))
    parser = _parser()
    asked = parser.parse_args(texts)
    if asked.schema:
        from export_engine.record import record_schema

        _say(json.dumps(record_schema(), indent=1))
        return OK
    if asked.explain:
        return _explain(asked.explain)
    if asked.doctor:
        _say(doctor())
        return OK
    if asked.program is None:
        parser.error("pass a .pt2 file, or module:function; --help has examples")
    return _run_guarded(texts, lambda: _run(asked))


def _run_guarded(given: Sequence[str], run: Callable[[], int]) -> int:
    """Runs a command; a command that cannot be carried out prints one sentence."""
    try:
        return run()
    except (*OURS, ImportError, ValueError, OSError, FixError) as error:
        missing = missing_package(error) if isinstance(error, ImportError) else None
        if missing is not None:
            _complain(missing)
            return USAGE
        defect = find_defect(error, f"carrying out `{' '.join(map(str, given))}`")
        if defect is not None:
            _complain(f"{defect}\n\n{defect.report}")
            return DEFECT
        _complain(error)
        return USAGE


def _explain(code: str) -> int:
    """Prints the page on a code."""
    try:
        _say(explain(code))
    except LookupError as error:
        _complain(error)
        return USAGE
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-explorer",
        description="Inspect an exported program, check it, and compare it with another.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "program",
        nargs="?",
        help="a .pt2 or .pte file, a folder or .zip of several, - for standard input, a file: or "
        "hf: address (huggingface_hub's local cache), or module:function",
    )
    parser.add_argument(
        "-d", "--dynamic", metavar="SHAPES", help='dynamic shapes: "x: batch, _" (module:function)'
    )
    parser.add_argument("--strict", action="store_true", help="strict mode (module:function)")
    parser.add_argument(
        "--fix", action="store_true", help="if it fails, apply fixes that are not lossy"
    )
    parser.add_argument("--spec", action="store_true", help="ShapesSpec in place of Dims")
    parser.add_argument(
        "--contracts", action="store_true", help="export with Dims and a ShapesSpec, and compare"
    )
    parser.add_argument("--decompose", metavar="TABLE", help="core, none, 'core -linear'")
    parser.add_argument(
        "--trusted", action="store_true", help="you trust the .pt2 file: load its program"
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="program to open in a .pt2 file with several (default: all, as a set)",
    )
    parser.add_argument("--diff", metavar="OTHER", help="compare with another program")
    parser.add_argument("--verify", action="store_true", help="check the guarantees")
    parser.add_argument(
        "--run", metavar="DEVICE", nargs="?", const="cpu", help="run it and compare: --run cuda"
    )
    parser.add_argument(
        "--backend", metavar="NAMES", help="backends: program,inductor,onnx, ..., or all"
    )
    parser.add_argument(
        "--ready",
        action="store_true",
        help="verify it, run it, and print whether it is ready to ship",
    )
    parser.add_argument("--profile", action="store_true", help="measure each op")
    parser.add_argument(
        "--delegate",
        metavar="BACKEND",
        help="list ops that a backend accepts, and why it rejects others: xnnpack",
    )
    parser.add_argument(
        "--stages",
        metavar="BACKEND",
        nargs="?",
        const="inductor",
        help="compile it, and print its kernels with their lines and times: inductor or aoti",
    )
    parser.add_argument("--save", metavar="FILE.pt2", help="write the program")
    parser.add_argument("--html", metavar="FILE.html", help="write a report")
    parser.add_argument("--json", metavar="FILE.json", help="write the Record, for other tools")
    parser.add_argument(
        "--doctor",
        action="store_true",
        help="print versions, backends and devices, for a bug report",
    )
    parser.add_argument("--explain", metavar="CODE", help="explain a code such as EX111")
    parser.add_argument("--schema", action="store_true", help="print the Record's JSON Schema")
    return parser


_WITH_TORCH = (
    "ready",
    "verify",
    "run",
    "backend",
    "profile",
    "stages",
    "delegate",
    "decompose",
    "save",
    "fix",
)
"""Options that need the program itself, not only what a file says of it."""


def _check_torch(asked: argparse.Namespace) -> None:
    """Raises MissingPackage for a command that needs torch, before anything is read."""
    if find_spec("torch") is not None:
        return
    options = [f"--{option}" for option in _WITH_TORCH if getattr(asked, option)]
    functions = [
        program for program in (asked.program, asked.diff) if program and not _is_file(program)
    ]
    for purpose in [*options, *(f"Exporting {program}" for program in functions)]:
        missing = ModuleNotFoundError(name="torch")
        raise missing_package(missing, purpose) or missing


def _find_files(asked: argparse.Namespace, held: ExitStack) -> None:
    """Puts paths in the place of addresses and of `-`, standard input."""
    if asked.program == asked.diff == "-":
        raise ValueError("Standard input holds one program: only one of the two can be -.")
    for option in ("program", "diff"):
        place: str | None = getattr(asked, option)
        if place == "-":
            setattr(asked, option, str(held.enter_context(standard_input())))
        elif place is not None and is_address(place):
            setattr(asked, option, str(find_path(place)))


def _run(asked: argparse.Namespace) -> int:
    with ExitStack() as held:
        _find_files(asked, held)
        return _run_with_files(asked)


def _run_with_files(asked: argparse.Namespace) -> int:
    if str(asked.program).endswith(".pte") or is_pte(asked.program):
        return _read_pte(asked)
    _check_torch(asked)
    check_ahead(asked.decompose, [asked.save, asked.html, asked.json], asked.run, asked.backend)
    first = _open(asked.program, asked)
    if asked.diff:
        return _compare(first, asked)
    if isinstance(first, Programs):
        return run_set_command(first, asked, _say)
    code = OK if first.ok else BAD
    if asked.contracts and first.ok:
        contracts = compare_contracts(first.session)
        _say(contracts)
        code = _worse(code, OK if contracts.ok else BAD)
    if asked.decompose and first.ok:
        first.decompose(asked.decompose)
    if (asked.verify or asked.ready) and first.ok:
        first.verify()
    _measure(first, asked)
    _say(first)
    release = first.release_report()
    if asked.ready:
        _say(f"\n{release.called(opening(asked))}")
    code = _worse(code, release.exit_code(_claims(asked)))
    if asked.save and first.ok:
        _say(f"written: {first.save(asked.save, kind='.pt2')}")
    if asked.html:
        _say(f"written: {first.save(asked.html, kind='.html')}")
    if asked.json:
        _say(f"written: {first.save(asked.json, kind='.json')}")
    if not first.ok:
        _say_what_is_left(first, asked)
    return code


def _read_pte(asked: argparse.Namespace) -> int:
    """Print the contents of an ExecuTorch file; with --json, also write them."""
    from explorer.results.pte import PteFile

    options = (*_WITH_TORCH, "diff", "html", "dynamic", "strict", "spec", "contracts", "model")
    wrong = [option for option in options if getattr(asked, option, None)]
    if wrong:
        raise ValueError(f"A .pte file is read as data: leave out --{wrong[0]}.")
    file = PteFile(asked.program)
    _say(file)
    if asked.json:
        _say(f"written: {file.to_json(asked.json)}")
    return OK


def _compare(first: Exploration | Programs, asked: argparse.Namespace) -> int:
    more = (
        asked.ready,
        asked.verify,
        asked.save,
        asked.json,
        asked.decompose,
        asked.profile,
        asked.delegate,
        asked.stages,
    )
    if any((*more, asked.run, asked.backend)):
        raise ValueError("--diff works only with --html.")
    if asked.html and isinstance(first, Programs):
        raise ValueError("--diff writes a page of two programs: choose one with --model.")
    comparison = diff(first, _open(asked.diff, asked))
    _say(comparison)
    if asked.html and isinstance(comparison, Comparison):
        _say(f"written: {comparison.save(asked.html)}")
    return OK if comparison.ok else BAD


def _say_what_is_left(failed: Exploration, asked: argparse.Namespace) -> None:
    """Lines on options that a failed export skips, and on the option that applies its fixes."""
    if not asked.fix and failed.fixes:
        _say("In a shell: --fix applies fixes that are not lossy until it exports.")
    if undone := left_undone(asked):
        _say(undone)


def _claims(asked: argparse.Namespace) -> list[str] | None:
    """The claims of a verdict that a command asks for; None for all of them."""
    if asked.ready:
        return None
    verification = ["verification", "sizes"] if asked.verify else []
    return ["export", *verification, *(["runs"] if asked.run or asked.backend else [])]


def _worse(one: int, other: int) -> int:
    """The more serious of two exit codes."""
    return BAD if BAD in (one, other) else max(one, other)


def _measure(explored: Exploration, asked: argparse.Namespace) -> None:
    """Runs and profiles if asked to."""
    device = asked.run or "cpu"
    if explored.ok and (asked.run or asked.backend or asked.ready):
        explored.run(device, asked.backend)
    if explored.ok and asked.profile:
        explored.cost().measure(device)
    if explored.ok and asked.delegate:
        _say(explored.delegate(asked.delegate))
    if explored.ok and asked.stages:
        _say(explored.stages(asked.stages, device=device))


def _say(what: object) -> None:
    sys.stdout.write(f"{escape_log(what)}\n")


def _print_anything() -> None:
    """Lets a terminal or a log that has no `→` show a question mark in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _complain(what: object) -> None:
    sys.stderr.write(f"export-explorer: {escape_log(harmless(what))}\n")


def _is_file(program: str) -> bool:
    """Whether an argument names a file, not a function."""
    return ":" not in program or Path(program).exists() or program.endswith(".pt2")


def _open(program: str, asked: argparse.Namespace) -> Exploration | Programs:
    """A file, or what a function gives."""
    if _is_file(program):
        if asked.dynamic or asked.strict or asked.fix or asked.contracts:
            raise ValueError(
                f"{program} is already exported: leave out -d, --strict, --fix and --contracts."
            )
        named: str | None = asked.model
        return load(program, model=named, trusted=bool(asked.trusted))
    if asked.model:
        raise ValueError(f"--model names a program in a .pt2 file; {program} is not one.")
    call = run_named_call(program)
    return explore(
        call.model,
        call.args,
        call.kwargs,
        dynamic_shapes=asked.dynamic,
        strict=asked.strict,
        fix=asked.fix,
        spec=asked.spec,
        title=f"{program}()",
    )
