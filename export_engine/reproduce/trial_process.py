"""The process that runs scripts, each in a fork of its own, and says how they end.

A request is a line of JSON on standard input, `{"file": ..., "compared": ..., "seconds": ...}`; the
answer is a line on standard output. Where the system cannot fork, each process answers one request.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from export_engine.defects import log_internal_error
from export_engine.source import TORCH

WRONG = "wrong answer"
"""How a script ends whose program gave another answer than its model."""


class _Ended(BaseException):
    """The call of torch.export in a script was made, and how it ends is known."""


def main() -> None:
    """Answers until standard input ends; a request as an argument is answered, and that is all.

    `diagnosed` says how its script ends, `raised` what it raises when it is run as a user would.
    These are two processes: a script may register an operator, which goes once in a process.
    """
    answers = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if len(sys.argv) > 1:
        asked, request = sys.argv[1], json.loads(sys.argv[2])
        if asked == "raised":
            entries = {"raised": _run_script(request["file"], request["compared"])}
        else:
            entries = outcome(**request)
        answers.write(json.dumps(entries) + "\n")
        answers.flush()
        return
    _warm()
    gc.freeze()  # collecting what was imported would copy it into each fork
    for line in sys.stdin:
        answers.write(_ask_fork(json.loads(line)) + "\n")
        answers.flush()


def outcome(file: str, compared: bool, seconds: float = 0) -> dict[str, str]:
    """How a script ends.

    Args:
        file: the script.
        compared: whether it runs its program and holds that against the model.
        seconds: unused here; the time it was given.

    Returns:
        `code`, of its diagnosis, or `WRONG`; and `error`, the class of the exception. Both are
        empty where the script ends otherwise.
    """
    if compared:
        code = WRONG if _run_script(file, compared) == "AssertionError" else ""
        return {"code": code, "error": "AssertionError" if code else ""}
    import torch

    result = {"code": "", "error": ""}
    export = torch.export.export

    def record_call(
        mod: Any,
        args: Any,
        kwargs: Any = None,
        *,
        dynamic_shapes: Any = None,
        strict: bool = False,
    ) -> NoReturn:
        torch.export.export = export
        result.update(_diagnose_call(mod, args, kwargs, dynamic_shapes, strict))
        raise _Ended

    torch.export.export = record_call  # type: ignore[assignment]
    try:
        runpy.run_path(file, run_name="__main__")
    except _Ended:
        pass
    except Exception as error:  # noqa: BLE001 - a script that is cut may end in any way
        log_internal_error(error, "running a script")
        return {"code": "", "error": ""}
    finally:
        torch.export.export = export
    return result


def _diagnose_call(mod: Any, args: Any, kwargs: Any, shapes: Any, strict: bool) -> dict[str, str]:
    from export_engine.attempt import Failed, Request
    from export_engine.capture import capture
    from export_engine.diagnose import diagnose

    request = Request(
        target=mod,
        args=tuple(args),
        kwargs=dict(kwargs or {}),
        dynamic_shapes=shapes,
        strict=strict,
    )
    attempt = capture(request)
    if not isinstance(attempt, Failed):
        return {"code": "", "error": ""}
    return {"code": diagnose(attempt).kind.code, "error": type(attempt.error).__name__}


def _run_script(file: str, compared: bool) -> str:
    """The class of the error of an unchanged script; empty if it raises nothing.

    Where results are compared, only what `torch.testing` says of them counts of AssertionErrors.
    """
    try:
        runpy.run_path(file, run_name="__main__")
    except Exception as error:  # noqa: BLE001 - a script may raise anything
        log_internal_error(error, "running a script")
        last = traceback.extract_tb(error.__traceback__)[-1].filename
        tested = Path(last).is_relative_to(Path(TORCH) / "testing")
        counts = tested or not compared or type(error) is not AssertionError
        return type(error).__name__ if counts else ""
    return ""


def _warm() -> None:
    """Imports what an export needs, so that forks need not."""
    import torch

    torch.set_num_threads(1)
    for strict in (False, True):
        torch.export.export(torch.nn.ReLU(), (torch.ones(2, device="cpu"),), strict=strict)
    from export_engine.attempt import Request
    from export_engine.capture import capture
    from export_engine.diagnose import diagnose

    refused = capture(Request(target=torch.nn.Linear(2, 2), args=(torch.ones(3, device="cpu"),)))
    diagnose(refused)  # type: ignore[arg-type] # its sizes do not fit


def _ask_fork(request: dict[str, Any]) -> str:
    """An answer from a fork; that of a script that ends otherwise where it takes too long."""
    nothing = json.dumps({"code": "", "error": ""})
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            os.write(write, json.dumps(outcome(**request)).encode())
        finally:
            os.kill(os.getpid(), signal.SIGKILL)  # nothing of this process's is to run at its end
    os.close(write)
    ready, _, _ = select.select([read], [], [], request["seconds"])
    text = os.read(read, 4096).decode() if ready else ""
    os.close(read)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return text or nothing


if __name__ == "__main__":
    main()
