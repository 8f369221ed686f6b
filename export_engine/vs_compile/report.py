"""Runs a call under torch.compile, and compares it with the export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch

from export_engine.attempt import NO_MODEL, Attempt, Request, signature_of
from export_engine.capture import in_eval_mode, model_kept
from export_engine.defects import log_internal_error
from export_engine.process import raise_if_interrupted, sandbox
from export_engine.progress import Progress
from export_engine.record import CompiledCall, CompileReport, Record
from export_engine.shapes import Named
from export_engine.torch_internals import compile_watched
from export_engine.trace import Seen, SeenCall
from export_engine.verify import call
from export_engine.vs_compile.code_places import Places
from export_engine.vs_compile.export_side import at_sizes, contract, failing_place
from export_engine.vs_compile.steps import steps_of
from export_engine.vs_compile.trial_sizes import SizesToTry
from export_engine.vs_compile.wording import gap, graph, recompiles


def compare_with_compile(
    attempt: Attempt,
    record: Record,
    sizes: SizesToTry | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> CompileReport:
    """Compares torch.compile with torch.export on an attempt's call.

    The model is run; it, its inputs, the random numbers and what torch has compiled are as before.

    Args:
        attempt: made from a request, whether or not it exported.
        record: the attempt, described.
        sizes: calls it at each of them, in order; without them, once as in the example.
        progress: called before each call.

    Raises:
        ValueError: the program was opened without its model.
        KeyboardInterrupt: interrupted; everything is as before.
    """
    request = attempt.request
    if request is None:
        raise ValueError(NO_MODEL)
    named = [f"{sizes.name} = {size}" for size in sizes.sizes] if sizes else [""]
    requests = [sizes.request_at(request, size) for size in sizes.sizes] if sizes else [request]
    seen = Seen(names=_names(request), dims=_dims(request))
    failures = _run(request, requests, named, seen, progress)
    places = Places(request.cells)
    gaps = [gap(seen_break, places) for seen_break in seen.breaks]
    calls = []
    for number, (name, at, text) in enumerate(zip(named, requests, failures, strict=True)):
        verdict, rule, place = at_sizes(record, at)
        calls.append(
            CompiledCall(
                sizes=name,
                outcome=_outcome(seen, number, text),
                made=[graph_number + 1 for graph_number in seen.calls[number].made],
                recompiles=recompiles(seen, seen.calls[number], places),
                steps=steps_of(seen, number),
                detail=text or _limit(seen, number),
                export=verdict,
                rule=rule,
                rule_place=place,
            )
        )
    failure = record.failure
    return CompileReport(
        title=record.title,
        torch_version=str(torch.__version__),
        graphs=[graph(seen, seen_graph, places) for seen_graph in seen.graphs],
        gaps=gaps,
        calls=calls,
        verdict=record.verdict,
        exported=failure is None,
        contract=contract(record),
        sentence=failure.sentence if failure else "",
        sentence_place=failing_place(record),
    )


def _run(
    request: Request,
    requests: list[Request],
    names: list[str],
    seen: Seen,
    progress: Callable[[Progress], None] | None,
) -> list[str]:
    """Calls at every size; per call, what it raised, or nothing."""
    failures = []
    with (
        sandbox(),
        in_eval_mode(request.target, request.eval_mode),
        model_kept(request.target) as restore,
        compile_watched(request.target, seen) as compiled,
    ):
        for number, sized_request in enumerate(requests):
            raise_if_interrupted()
            if progress:
                progress(Progress(number, len(requests), names[number], "compile"))
            seen.calls.append(SeenCall())
            text = ""
            try:
                call(compiled, sized_request, seed=0, compiled=True)
            except Exception as error:  # noqa: BLE001 - what a call raises is its outcome
                log_internal_error(error, "calling what torch.compile made")
                text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            failures.append(text)
            restore()
    return failures


def _outcome(
    seen: Seen, number: int, said: str
) -> Literal["compiled", "recompiled", "reused", "interpreted", "failed"]:
    done = seen.calls[number]
    if said:
        return "failed"
    if done.made:
        return "recompiled" if done.recompiles or number else "compiled"
    return "reused" if done.ran else "interpreted"


def _limit(seen: Seen, number: int) -> str:
    """Why a call falls back to the interpreter, if a function has too many graphs."""
    limit = next(
        (earlier_call.limit for earlier_call in seen.calls[: number + 1] if earlier_call.limit), 0
    )
    if not limit or seen.calls[number].ran:
        return ""
    return (
        f"torch.compile makes at most {limit} graphs of one function "
        "(torch._dynamo.config.recompile_limit), then stops compiling it"
    )


def _dims(request: Request) -> dict[str, str]:
    shapes = request.shapes
    return {
        f"{path}.shape[{position}]": spec.name
        for path, specs in (shapes.leaves if shapes else {}).items()
        for position, spec in enumerate(specs)
        if isinstance(spec, Named) and not spec.derived
    }


def _names(request: Request) -> dict[str, str]:
    """torch knows the arguments of a function of its own, such as that of Sequential, by number."""
    names = {}
    parameters = signature_of(request.target).parameters
    for number, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind is parameter.VAR_POSITIONAL:
            break
        names[f"args[{number}]"] = names[f"kwargs['{name}']"] = name
    return names
