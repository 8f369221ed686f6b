"""The other mode, if the call exports in it, or gets past what strict mode cannot trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from export_engine.attempt import Diagnosis, Exported, Failed, Fix, Kind, Request
from export_engine.diagnose import SizeLookedUp, SizesViolated, diagnose, is_unrolled
from export_engine.fixes.try_fixes import read_failure, tell, try_request
from export_engine.source import Stack, code_of

_ABOUT_SIZES = frozenset({Kind.EXAMPLE_OUT_OF_RANGE, Kind.ZERO_ONE, Kind.SHAPES_MISMATCH})
"""Sentences for both modes."""


def suggest_mode(attempt: Failed) -> Iterator[Fix]:
    """The other mode, tried."""
    request, diagnosis = read_failure(attempt)
    if diagnosis.kind in _ABOUT_SIZES:
        return
    if not request.strict and _is_asked_by_python(diagnosis):
        return
    if isinstance(diagnosis.facts, SizesViolated) and is_unrolled(diagnosis.stack, request.target):
        return
    tell(f"trying {_OTHER[request.mode]} mode")
    yield from _other(request, diagnosis)


def of_program(attempt: Exported) -> Iterator[Fix]:
    """The other mode for a program that differs from eager or rejects its calls, tried."""
    if attempt.request is not None:
        yield from _other(attempt.request)


def _other(request: Request, diagnosis: Diagnosis | None = None) -> Iterator[Fix]:
    stack = diagnosis.stack if diagnosis else ()
    other = request.with_changes(strict=not request.strict)
    attempt = try_request(other)
    if isinstance(attempt, Failed):
        got_past = _OF_STRICT if request.strict else _OF_NON_STRICT
        if diagnosis is not None and diagnosis.kind in got_past:
            yield from _further(request, attempt, stack)
        return
    assert isinstance(attempt, Exported)
    verdict, strict = attempt.verdict, other.strict
    yield Fix(
        kind="mode",
        title=f"Export in {other.mode} mode",
        why=_WHY[other.mode] if stack else _WHY_WRONG,
        lossy=verdict in ("refused", "differs"),
        gives_up=_find_differences(attempt, verdict),
        change=lambda request: request.with_changes(strict=strict),
        before=request.mode,
        after=other.mode,
        stack=stack,
        leads_to=attempt,
    )


def _further(request: Request, found: Failed, stack: Stack) -> Iterator[Fix]:
    """The other mode where it gets past what this one cannot trace, and then fails."""
    now, strict = diagnose(found), not request.strict
    other = _OTHER[request.mode]
    if now.kind not in _CURABLE or not now.stack:
        return
    yield Fix(
        kind="mode",
        title=f"Export in {other} mode",
        why=f"{_WHY[other]} It then fails on line {now.stack[-1].line}: {now.sentence}",
        gives_up="" if strict else _TAKEN,
        change=lambda request: request.with_changes(strict=strict),
        before=request.mode,
        after=other,
        stack=stack,
    )


_CURABLE = frozenset(
    {Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED, Kind.ASSERT_ON_DATA, Kind.SHAPES_VIOLATED}
)
"""Kinds of failures that mostly have a fix."""
_OF_STRICT = frozenset({Kind.GRAPH_BREAK})
_OF_NON_STRICT = frozenset({Kind.OWN_ERROR, Kind.NUMPY})
"""Kinds of one mode that the other often gets past."""
_TAKEN = "Arguments that are not tensors are fixed at the example's values"
_OTHER = {"strict": "non-strict", "non-strict": "strict"}
_WHY_WRONG = (
    "In that mode, the program accepts what eager accepts and matches it; in this mode, it does "
    "not."
)
_WHY = {
    "strict": "Strict mode interprets the bytecode of your Python instead of running it, and "
    "gets past this line.",
    "non-strict": "Non-strict mode runs your Python with fake tensors, and gets past this line.",
}


def _is_asked_by_python(diagnosis: Diagnosis) -> bool:
    """Whether Python itself asks what strict mode does not know either.

    That is a statement or a comprehension that depends on data, and a size as the key of a dict; a
    cached function, which takes a size as a key too, strict mode looks into.
    """
    code = code_of(diagnosis.stack[-1].file) if diagnosis.stack else None
    statement = code.statement(diagnosis.stack[-1].line) if code else None
    if statement is None:
        return False
    if isinstance(diagnosis.facts, SizeLookedUp):
        return any(map(_is_lookup, ast.walk(statement)))
    loops = [node for node in ast.walk(statement) if isinstance(node, _LOOPS)]
    if diagnosis.kind is Kind.LOOP_ON_DATA:
        return bool(loops)
    if diagnosis.kind is Kind.OUTPUT_FROM_DATA:
        return any(not isinstance(loop, ast.While) and _counts(loop.iter) for loop in loops)
    return diagnosis.kind is Kind.BRANCH_ON_DATA and isinstance(statement, ast.If | ast.While)


_LOOPS = (ast.While, ast.For, ast.comprehension)


def _counts(iterated: ast.expr) -> bool:
    """Whether a loop has a data-dependent number of iterations."""
    called = [ast.unparse(node.func) for node in ast.walk(iterated) if isinstance(node, ast.Call)]
    return "range" in called and any(text == "int" or text.endswith(".item") for text in called)


def _is_lookup(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return isinstance(node.ops[0], ast.In | ast.NotIn)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "get"


def _find_differences(found: Exported, verdict: str) -> str:
    """The difference in the other mode, as far as known."""
    texts = []
    if verdict == "refused":
        texts.append("The program rejects some of the requested sizes")
    if verdict == "differs" and found.agreement:
        trial = next(t for t in found.agreement.trials if t.outcome == "differs")
        baked = found.agreement.baked.rstrip(".")
        texts.append(
            f"It exports, but matches eager only by chance: {baked}"
            if baked
            else f"It exports, but the outputs differ from eager: {trial.detail.rstrip('.')}"
        )
    checks = sum(guard.kind == "runtime_assert" for guard in found.recording.guards)
    if checks:
        texts.append("Data-dependent conditions become runtime assertions")
    effects = [text for text in found.warnings if "side effect" in text.lower()]
    if effects:
        texts.append(effects[0].splitlines()[0][:200])
    if not found.request or not found.request.strict:
        texts.append(_TAKEN)
    return ". ".join(texts)
