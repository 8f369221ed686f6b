"""Failures because Python needs a data-dependent value.

Branches, loops, asserts, conversions to a number, and operators that return a plain value.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, Link
from export_engine.diagnose.errors import break_type, cause, find, message, operator_of
from export_engine.diagnose.explanations import exportdb, graph_break_page
from export_engine.diagnose.facts import DataDependent, UnbackedSize
from export_engine.diagnose.failing_line import Place, failing_place
from export_engine.diagnose.size_reasons import gives_pieces
from export_engine.diagnose.torch_messages import COUNTED, COUNTED_LATER, reads_in_vmap
from export_engine.diagnose.value_origin import is_drawn, origin_of_symbol, origin_of_tensor
from export_engine.source import Question
from export_engine.torch_internals import is_relation, is_truth_value, symbol_printer
from export_engine.traced_sizes import find_unbacked_places, plain_text, symbol_names

_BREAKS = ("Data-dependent branching", "Data dependent operator", "sort with non-constant keys")


def diagnose_data_dependent(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a data-dependent value."""
    unknown = find(attempt.error, "GuardOnDataDependentSymNode")
    if unknown is not None:
        condition = getattr(unknown, "cond", None)
        return None if is_drawn(attempt, condition) else _about_symbols(attempt, condition)
    operator = find(
        attempt.error, "DataDependentOutputException", "DynamicOutputShapeException"
    ) and operator_of(attempt.error)
    if operator is not None:
        return _from_operator(attempt, operator)
    if reads_in_vmap(message(cause(attempt.error))):
        return _in_vmap(attempt, failing_place(attempt.error))
    broken = break_type(attempt.error)
    if broken in _BREAKS or (broken and COUNTED.search(message(attempt.error))):
        return _about_tensor(attempt, failing_place(attempt.error))
    if broken and COUNTED_LATER in message(attempt.error):
        place = failing_place(attempt.error)
        if place.question is not None and place.question.construct == "for":
            return _about_tensor(attempt, place)
    return None


def _in_vmap(attempt: Failed, place: Place) -> Diagnosis:
    """A value that is read inside torch.vmap, where it is one per element of the batch."""
    diagnosis = _about_tensor(attempt, place)
    if place.question is not None:
        return diagnosis
    called = f"`{place.text}`" if place.text else "This line"
    return replace(
        diagnosis,
        sentence=rules.BranchOnData.IN_VMAP(called=called),
    )


def _about_symbols(attempt: Failed, condition: Any) -> Diagnosis:
    place = failing_place(attempt.error)
    if is_truth_value(attempt.recording.shape_env, condition):
        return _about_tensor(attempt, place)
    names = symbol_names(attempt)
    text = symbol_printer(names)(condition)
    if condition.free_symbols and {*map(str, condition.free_symbols)} <= {
        *find_unbacked_places(attempt)
    }:
        return _about_sizes(attempt, condition, plain_text(condition, names) or text, place)
    question = place.question
    origin = origin_of_symbol(attempt, condition, names, place)
    asked = place.text_of(question.asked) if question else place.text
    computed = [names.get(str(symbol), "") for symbol in condition.free_symbols]
    kind = _kind(question, is_relation(condition))
    return Diagnosis(
        kind=kind,
        sentence=_number_sentence(kind, question, asked, text, sorted(filter(None, computed))),
        why=rules.BranchOnUnbacked.WHY(),
        stack=place.stack,
        span=_span(place),
        related=origin,
        links=_links(attempt, kind),
        facts=DataDependent(
            text, whole=all(free_symbol.is_integer for free_symbol in condition.free_symbols)
        ),
    )


def _about_sizes(attempt: Failed, condition: Any, text: str, place: Place) -> Diagnosis:
    """A decision on input sizes that a ShapesSpec made unbacked."""
    question = place.question
    asked = place.text_of(question.asked) if question else place.text
    names = symbol_names(attempt)
    sizes = sorted({names.get(str(symbol), str(symbol)) for symbol in condition.free_symbols})
    listed = " and ".join(f"`{name}`" for name in sizes)
    unbacked = f"{listed} {'is' if len(sizes) == 1 else 'are'} unbacked"
    said = f"`{asked}`" if asked else "This line"
    unknown = not is_relation(condition) or getattr(condition, "rhs", None) == 0
    cut = unknown and gives_pieces(question.asked if question else place.expression)
    if cut:
        sentence = rules.UnbackedSize.PIECES(code=said, sizes=listed, unbacked=unbacked)
    elif is_relation(condition):
        who = _DECIDES.get(question.construct if question else "", said)
        sentence = rules.UnbackedSize.CONDITION(code=who, text=text, unbacked=unbacked)
    elif question is not None and question.construct == "for":
        sentence = rules.UnbackedSize.LOOP(code=said, text=text, unbacked=unbacked)
    else:
        sentence = rules.UnbackedSize.NUMBER(code=said, text=text, unbacked=unbacked)
    return Diagnosis(
        kind=Kind.UNBACKED_SIZE,
        sentence=sentence,
        why=rules.ShapesViolated.PIECES_WHY() if cut else rules.UnbackedSize.WHY(),
        stack=place.stack,
        span=_span(place),
        facts=UnbackedSize(condition),
    )


def _kind(question: Question | None, relation: bool) -> Kind:
    construct = question.construct if question else ""
    if construct == "for":
        return Kind.LOOP_ON_DATA
    if construct == "assert":
        return Kind.ASSERT_ON_DATA
    if construct == "unpack" or (construct in ("call", "") and not relation):
        return Kind.OUTPUT_FROM_DATA
    return Kind.BRANCH_ON_UNBACKED


def _number_sentence(
    kind: Kind, question: Question | None, asked: str, condition: str, computed: list[str]
) -> str:
    texts = [n for n in computed if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", asked)]
    where = f"where `{texts[0]}` is data-dependent" if texts else "which is data-dependent"
    kind_of = "" if texts else " a number that is"
    number = f"where `{computed[0]}` is{kind_of} data-dependent" if computed else where
    if kind is Kind.LOOP_ON_DATA:
        return rules.LoopOnData.NUMBER(asked=asked)
    if kind is Kind.ASSERT_ON_DATA:
        return rules.AssertOnData.NUMBER(asked=asked, where=where)
    if question is not None and question.construct == "unpack":
        return rules.OutputFromData.UNPACKING(asked=asked)
    if kind is Kind.OUTPUT_FROM_DATA and question is not None:
        return rules.OutputFromData.CONCRETE_HERE(asked=asked)
    if kind is Kind.OUTPUT_FROM_DATA:
        text = f"`{asked}`" if asked else "This line"
        return rules.OutputFromData.CONCRETE(code=text)
    if question is None or question.construct == "call":
        text = f"`{asked}`" if asked else "This line"
        compared = _simplify_comparison(condition, computed) if not texts else None
        if compared:
            return rules.BranchOnUnbacked.UNNAMED(code=text, compared=compared)
        return rules.BranchOnUnbacked.CONDITION(code=text, condition=condition, number=number)
    also = f" (whether `{condition}`)" if question.construct == "match" else ""
    return rules.BranchOnUnbacked.DEPENDS(
        construct=_what_depends(question), asked=asked, also=also, where=where
    )


_COMPARED = {
    ">": "is greater than",
    ">=": "is at least",
    "<": "is less than",
    "<=": "is at most",
    "==": "is",
    "!=": "is not",
}


def _simplify_comparison(condition: str, computed: list[str]) -> str | None:
    """A comparison of one number that the user's code has no name for, without its name."""
    if len(computed) != 1:
        return None
    match = re.fullmatch(rf"{re.escape(computed[0])} ([<>=!]+) (-?[\d.]+)", condition)
    return f"{_COMPARED[match[1]]} {match[2]}" if match and match[1] in _COMPARED else None


def _about_tensor(attempt: Failed, place: Place) -> Diagnosis:
    question = place.question
    asked = _smallest_asked(place, question)
    text = place.text_of(asked)
    construct = question.construct if question else ""
    kind = {"assert": Kind.ASSERT_ON_DATA, "for": Kind.LOOP_ON_DATA}.get(
        construct, Kind.BRANCH_ON_DATA
    )
    if question is None and isinstance(place.expression, ast.Call):
        kind = Kind.OUTPUT_FROM_DATA
    return Diagnosis(
        kind=kind,
        sentence=_tensor_sentence(question, text),
        why=rules.BranchOnData.WHY(),
        stack=place.stack,
        span=place.span_of(asked),
        related=origin_of_tensor(attempt, place, asked),
        links=_links(attempt, kind),
        facts=DataDependent(""),
    )


def _smallest_asked(place: Place, question: Question | None) -> ast.expr | None:
    """The part of `n > 2 and x.sum() > 0` that Python was evaluating."""
    expression = place.expression
    if question is None or question.construct in ("match", "for"):
        return question.asked if question else expression
    return question.asked if isinstance(expression, ast.IfExp) else expression


def _tensor_sentence(question: Question | None, text: str) -> str:
    if question is None:
        said = f"`{text}`" if text else "This line"
        return rules.OutputFromData.NEEDS_VALUE(code=said)
    if question.construct == "assert":
        return rules.AssertOnData.TENSOR(text=text)
    if question.construct == "call":
        return rules.BranchOnData.CALL(text=text)
    return rules.BranchOnData.DEPENDS(construct=_what_depends(question), text=text)


_DECIDES = {
    "if": "This `if`",
    "conditional": "This conditional expression",
    "while": "This `while` loop",
    "filter": "The filter of this comprehension",
    "match": "This `match`",
    "assert": "This `assert`",
}


def _what_depends(question: Question) -> str:
    return {**_DECIDES, "for": "The length of this loop"}.get(question.construct, "This line")


def _from_operator(attempt: Failed, operator: Any) -> Diagnosis:
    place = failing_place(attempt.error)
    name = operator.name().partition(".")[0]
    sized = find(attempt.error, "DynamicOutputShapeException") is not None
    return Diagnosis(
        kind=Kind.OUTPUT_FROM_DATA,
        sentence=_of_operator(place.text or name, name.rpartition("::")[2], sized=sized),
        why=rules.BranchOnData.WHY(),
        stack=place.stack,
        span=place.span,
        links=_links(attempt, Kind.OUTPUT_FROM_DATA),
        facts=DataDependent(""),
    )


def _of_operator(called: str, op: str, *, sized: bool) -> str:
    """The data-dependent value: a call's result, or an operator that torch calls internally."""
    inner = "" if op.rpartition("_")[2] in called else f" calls `{op}`, which"
    if sized:
        return rules.OutputFromData.RETURNED_SIZE(called=called, inner=inner)
    return rules.OutputFromData.RETURNED_VALUE(called=called, inner=inner)


def _span(place: Place) -> Any:
    question = place.question
    return place.span_of(question.asked) if question else place.span


def _links(attempt: Failed, kind: Kind) -> tuple[Link, ...]:
    return exportdb(kind) + graph_break_page(break_type(attempt.error))
