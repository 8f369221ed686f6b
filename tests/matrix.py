"""Runs the tests on another torch, in an environment of its own: `make test-torch TORCH=2.15.0`.

    python -m tests.matrix 2.15.0             # one torch, one line of result
    python -m tests.matrix newest             # the newest that is supported
    python -m tests.matrix --all --write      # all that are supported, into the docs' table
    python -m tests.matrix 2.14.1 --write -- fast
    python -m tests.matrix "torch @ file:///torch-2.16.0.dev-cp311.whl" -- -m "not slow"

What follows `--` goes to pytest, or is `fast` or `slow`; without it, all tests but the browser's
run. An environment is made once, below `.venv-torch`, with the package's wheel in it; what the
tests need besides is what this environment has, where the Python is the same. Tests are run from a
copy of `tests/`, so that what is tested is what is installed. The line names what the torch lacks.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.matrix_table import ALL, HEAD, SUITES, SUPPORTED, Result, with_results
from tests.requirements import requirements
from tests.shared_packages import share

ROOT = Path(__file__).parents[1]
HOMES = ROOT / ".venv-torch"
TABLE = ROOT / "docs" / "reference" / "versions.md"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
BOUND_TO_TORCH = ("torch", "torchao", "executorch", "pytorch_tokenizers", "coremltools")
"""Packages of `constraints.txt` that come in a version for one torch alone."""
TESTED_WITH = (
    "hatchling",
    "hypothesis",
    "import-linter",
    "ipykernel",
    "ipyparallel",
    "jsonschema",
    "jupyterlab",
    "nbclient",
    "nbconvert",
    "onnxruntime",
    "onnxscript",
    "playwright",
    "pytest",
    "pytest-xdist[psutil]",
    "transformers",
)
"""What the tests need; those of backends that are not here are skipped, and say so."""
READ_BY_TESTS = (
    "tests",
    "notebooks",
    "docs",
    "widgets/frontend/src",
    "widgets/frontend/package-lock.json",
    "hatch_build.py",
    "README.md",
    "CONTRIBUTING.md",
    "Makefile",
    "constraints.txt",
    "pyproject.toml",
)
INSTALL_SECONDS = 600
"""How long pip may take for torch."""
IN_PARALLEL = ("-n", "logical", "--maxprocesses", "4", "--dist", "worksteal")
SUMMARY = re.compile(r"(\d+) (passed|failed|skipped|errors?)\b")


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    parser.add_argument(
        "torch", nargs="*", help="versions, `newest`, or any requirement that pip takes"
    )
    parser.add_argument("--all", action="store_true", help=f"all of {', '.join(SUPPORTED)}")
    parser.add_argument("--python", action="append", default=[], help="3.12, or a path")
    parser.add_argument("--index", help="where pip finds it: the index of torch's nightly builds")
    parser.add_argument("--write", action="store_true", help="put it into the table of the docs")
    parser.add_argument(
        "--if-installable",
        action="store_true",
        help="succeed where pip does not give this torch: what failed is a test, or nothing",
    )
    parser.add_argument("--remove", action="store_true", help="delete each environment afterwards")
    ours, theirs = _split(sys.argv[1:])
    asked = parser.parse_args(ours)
    named = [SUPPORTED[-1] if each == "newest" else each for each in asked.torch]
    wanted = [(each, asked.python or ["3.11"]) for each in named]
    if asked.all:
        wanted = [(each, ["3.11"]) for each in SUPPORTED[:-1]]
        wanted.append((SUPPORTED[-1], list(asked.python or PYTHONS)))
    results = []
    for torch, pythons in wanted:
        for python in pythons:
            result = tested(torch, python, asked.index, theirs, asked.remove)
            results.append(result)
            sys.stdout.write(f"{result.row()}\n")
            sys.stdout.flush()
    if len(results) > 1:
        sys.stdout.write("\n".join(["", HEAD, *(each.row() for each in results), ""]))
    if asked.write:
        text = TABLE.read_text(encoding="utf-8")
        TABLE.write_text(with_results(text, results), encoding="utf-8")
    for each in results:
        if not each.ran:
            sys.stderr.write(f"Nothing ran on torch {each.torch}: {each.left_out}\n")
    if any(each.ran and not each.ok for each in results):
        return 1
    return 0 if asked.if_installable or any(each.ok for each in results) else 1


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    cut = arguments.index("--")
    return arguments[:cut], arguments[cut + 1 :]


def tested(torch: str, python: str, index: str | None, pytest: list[str], remove: bool) -> Result:
    """Makes the environment if it is not there, runs the tests in it.

    Args:
        torch: a version, or a requirement that pip takes.
        python: a version, or the path of an interpreter.
        index: an index to look in before others.
        pytest: arguments; without any, all tests but those that need the clone.
        remove: whether the environment is deleted in the end.
    """
    command = interpreter(python)
    if command is None:
        return Result(torch, python, "", 0, 0, f"there is no Python {python} on this machine")
    home = HOMES / re.sub(r"[^\w.]+", "-", f"{torch}-{python}")
    try:
        return _tested(home, command, torch, python, index, pytest)
    except subprocess.TimeoutExpired:
        why = f"it could not be installed within {INSTALL_SECONDS / 60:.0f} minutes"
        return Result(torch, python, "", 0, 0, why)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()
        why = next((line for line in said if line.startswith("ERROR")), said[-1] if said else "")
        return Result(torch, python, "", 0, 0, f"it could not be installed: {why[:120]}")
    finally:
        if remove:
            shutil.rmtree(home, ignore_errors=True)
            shutil.rmtree(_links(home), ignore_errors=True)


def interpreter(python: str) -> str | None:
    """The command of a Python; of several of one version the first that runs."""
    candidates = [python, f"python{python}"]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    if not Path(python).is_absolute():
        candidates += [str(each / "bin" / "python") for each in sorted(versions.glob(f"{python}*"))]
    for each in candidates:
        found = shutil.which(each)
        if found and not subprocess.run([found, "-c", ""], check=False).returncode:
            return found
    return None


def _tested(
    home: Path, command: str, torch: str, python: str, index: str | None, pytest: list[str]
) -> Result:
    started = time.monotonic()
    made = not (home / ".made").exists()
    if made:
        install(home, command, torch, index)
    _install_wheel(home)
    said = _run(home / "bin" / "python", "-c", "import torch; print(torch.__version__)")
    sys.stderr.write(
        f"torch {said.strip()}, Python {python}: "
        f"{'installed' if made else 'there'} after {time.monotonic() - started:.0f} s\n"
    )
    missing = lacking(home)
    passed, failed, skipped = run_tests(home, pytest)
    ran = _suite(pytest) or shlex.join(pytest)
    version = said.strip().partition("+")[0]
    said_once = [each.rstrip(".") for each in missing if each.rstrip(".") not in skipped]
    left_out = "; ".join(filter(None, [*said_once, skipped]))
    today = dt.datetime.now(dt.UTC).date().isoformat()
    news = sum(not expected for expected in missing.values())
    return Result(version, python, ran, passed, failed, left_out, today, news)


def _suite(pytest: list[str]) -> str:
    """The name of what runs, if it has one."""
    if not pytest:
        return ALL
    return pytest[0] if len(pytest) == 1 and pytest[0] in SUITES else ""


def lacking(home: Path) -> dict[str, bool]:
    """What goes without a private name that the torch of an environment lacks, in sentences.

    Each with whether that torch is known to lack it.
    """
    asked = (
        "from export_engine.torch_internals import all_capabilities\n"
        "for each in all_capabilities():\n"
        "    if each.sentence: print(int(each.expected), each.sentence)"
    )
    said = _run(home / "bin" / "python", "-c", asked, cwd=home)
    pairs = (line.partition(" ") for line in said.splitlines() if line)
    return {sentence: known == "1" for known, _, sentence in pairs}


def install(home: Path, command: str, torch: str, index: str | None) -> None:
    """An environment with that torch and what the tests need, as `constraints.txt` has it."""
    shutil.rmtree(home, ignore_errors=True)
    _run(command, "-m", "venv", home)
    wanted = torch if re.search(r"[^\w.+]", torch) or not torch[0].isdigit() else f"torch=={torch}"
    where = ["--pre", "--extra-index-url", index] if index else []
    pip = [home / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    # Compiling all of torch takes longer than compiling what is imported.
    _run(*pip, "--no-cache-dir", "--no-compile", *where, wanted, timeout=INSTALL_SECONDS)
    if not share(
        home,
        _links(home) / "site-packages",
        ["numpy", *TESTED_WITH, *requirements("torch")],
        BOUND_TO_TORCH,
    ):
        with tempfile.TemporaryDirectory() as folder:
            constraints = Path(folder, "constraints.txt")
            constraints.write_text("\n".join(_constraints()), encoding="utf-8")
            _run(*pip, "--no-compile", "-c", constraints, "numpy", *TESTED_WITH)
    (home / ".made").touch()


def _links(home: Path) -> Path:
    """The folder of the packages that an environment shares."""
    return home.with_name(f"shared-{home.name}")


def _constraints() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [each for each in lines if each.partition("==")[0] not in BOUND_TO_TORCH]


def _install_wheel(home: Path) -> None:
    """The package as it is now; what it needs is there, so that pip leaves torch alone."""
    with tempfile.TemporaryDirectory() as folder:
        python = home / "bin" / "python"
        _run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
        (wheel,) = Path(folder).glob("*.whl")
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        _run(*pip, "-c", "/dev/null", f"export-explorer[torch] @ {wheel.as_uri()}")
        _run(*pip, "--no-deps", "--force-reinstall", wheel)


def run_tests(home: Path, pytest: list[str]) -> tuple[int, int, str]:
    """How many tests passed and failed, and what was left out and why. Failures are printed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in READ_BY_TESTS:
            _copy(ROOT / name, copy / name)
        given = SUITES.get(_suite(pytest), pytest)
        done = subprocess.run(
            [home / "bin" / "python", "-m", "pytest", "-q", *IN_PARALLEL,
             "-rsfE", "--tb=short", "-p", "no:cacheprovider", *given],
            cwd=copy, capture_output=True, text=True, check=False,
            env=_environment(home),
        )  # fmt: skip
    if done.returncode not in (0, 5):
        sys.stderr.write(done.stdout[-20_000:] + done.stderr[-4_000:])
    counts = {kind.rstrip("s"): int(number) for number, kind in SUMMARY.findall(done.stdout[-400:])}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return counts.get("passed", 0), failed, _left_out(done.stdout)


def _environment(home: Path) -> dict[str, str]:
    """The environment's own programs first, and no package but its own."""
    path = os.pathsep.join([str(home / "bin"), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "PATH": path}


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(
            source, target, ignore=shutil.ignore_patterns("__pycache__", "_build", "_made")
        )
    else:
        shutil.copy2(source, target)


def _left_out(output: str) -> str:
    """`5: torch sees no NVIDIA GPU here; 3: openvino is not installed`."""
    reasons: dict[str, int] = {}
    for line in output.splitlines():
        found = re.match(r"SKIPPED \[(\d+)\] \S+: (.*)", line)
        if found:
            reason = found[2].rstrip(".")
            reasons[reason] = reasons.get(reason, 0) + int(found[1])
    # In one order, whichever worker of pytest ended first: rows differ only where the runs did.
    return "; ".join(f"{number}: {reason}" for reason, number in sorted(reasons.items()))


def _run(*command: object, cwd: Path | None = None, timeout: float | None = None) -> str:
    words = [str(each) for each in command]
    return subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, check=True, timeout=timeout
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
