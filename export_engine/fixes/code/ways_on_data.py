"""What may help at a line that depends on data: a table of rewrites, by the kind of failure."""

from __future__ import annotations

from functools import partial

from export_engine.attempt import (
    Attempt,
    Diagnosis,
    Exported,
    Kind,
)
from export_engine.diagnose import DataDependent
from export_engine.fixes.code.branches.branch_copies import copied
from export_engine.fixes.code.branches.branch_to_cond import branch_to_cond
from export_engine.fixes.code.branches.number_states import numbers_as_tensors
from export_engine.fixes.code.branches.plain_flags import without_bool
from export_engine.fixes.code.branches.raise_to_check import checked
from export_engine.fixes.code.branches.select_after import kept_where
from export_engine.fixes.code.branches.select_number import numbers_are_whole, selected_number
from export_engine.fixes.code.branches.select_to_where import (
    chooses_numbers,
    selected,
    selects_alike,
)
from export_engine.fixes.code.branches.tensor_questions import (
    copied_by_torch,
    decided,
)
from export_engine.fixes.code.branches.tests_of_each import summed
from export_engine.fixes.code.calls.data_writes import write_in_the_open
from export_engine.fixes.code.calls.distributions import unvalidated
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.ways import (
    NOTE,
    TENSOR,
    UNSAID,
    Way,
    appended_apart,
    asked_not_zeros,
    asked_of_tensors,
    matched,
    states_kept,
    without_notes,
)

COND = Way(
    "Rewrite the branch in line {line} with torch.cond",
    "torch.cond puts both branches into the program, and the predicate selects one at run time.",
    branch_to_cond,
)
APART = Way(
    "Rewrite the branch in line {line} with torch.cond, given clones of what shares memory",
    "torch.cond puts both branches into the program, and does not take tensors that share memory, "
    "such as two views of one tensor.",
    partial(branch_to_cond, apart=True),
)
WHERE = Way(
    "Select with torch.where in line {line}",
    "torch.where computes both values and selects one at run time.",
    selected,
    selects=selects_alike,
)
AFTER = Way(
    "Always run the branch in line {line}, and keep its values with torch.where",
    "torch.where keeps what the branch computes if its test holds, and the earlier value if not.",
    kept_where,
    gives_up="The branch also runs where eager skips it.",
    selects=selects_alike,
)
_FLAG = Way(
    "Keep the flag in line {line} a tensor",
    "A flag that stays a tensor is evaluated at run time.",
    without_bool,
)
_WRITE = Way(
    "Write through detach() in line {line}",
    "Like `.data`, `detach()` shares memory and records no gradient; unlike it, tracing sees "
    "the write.",
    write_in_the_open,
)
_COPY = Way(
    "Clone in line {line}",
    "A branch of torch.cond returns new tensors and mutates none of its inputs.",
    copied,
)
_BOOL = Way(
    "Make the flag in line {line} a plain bool",
    "The op does not take a symbolic bool. Python then decides it for all sizes in the range.",
    decided,
)
_UNCHECKED = Way(
    "Set validate_args=False in `{function}`",
    "torch.distributions then does not read the values of its arguments to validate them.",
    unvalidated,
    gives_up="The program accepts arguments that the distribution rejects.",
)

_SUMMED = [
    Way(
        "Sum with torch.where in line {line}",
        "torch.where gives each value, or 0 where the filter's test does not hold; their sum is "
        "computed at run time.",
        partial(summed, as_number=as_number),
        gives_up="Every value is computed, including those that the filter leaves out.",
    )
    for as_number in (False, True)
]
_COPIED = Way(
    "Let torch make the tensor copies of `{function}`",
    "`view_as` shares memory as `copy.copy` does, and `clone` copies it; both are traced.",
    copied_by_torch,
)


def _number(facts: object) -> Way:
    return Way(
        "Select the number with torch in line {line}",
        "torch.sym_ite, sym_min and sym_max select one of two numbers at run time.",
        partial(selected_number, whole=isinstance(facts, DataDependent) and facts.whole),
        selects=numbers_are_whole,
    )


def _check(tensor: bool, strict: bool) -> Way:
    return Way(
        "Make the check in line {line} a runtime assertion",
        "The check becomes an op of the program, which raises where it does not hold.",
        partial(checked, tensor=tensor, plain=strict),
    )


def rewrites(diagnosis: Diagnosis, text: str, line: int, strict: bool) -> list[Way]:
    """What may help, the likeliest first; each refuses code that it does not fit."""
    facts = diagnosis.facts
    tensor = not (isinstance(facts, DataDependent) and facts.condition)
    match diagnosis.kind:
        case Kind.BRANCH_ON_DATA | Kind.BRANCH_ON_UNBACKED:
            ways = choosing(text, line)
            if not tensor:  # torch.where takes no symbol, but the tensor that `.item()` reads
                reads = ".item()" in text.split("\n")[line - 1]
                ways = [_number(facts), *(ways if reads else [COND])]
            asked = asked_of_tensors(choosing(text, line))
            checks = [_check(tensor, strict), NOTE]
            noted = without_notes(ways)
            chosen = [*appended_apart(ways), *matched(ways)]
            states = of_states([WHERE, AFTER, COND] if tensor else [COND])
            states += asked_of_tensors(states)
            if strict and _changes_numbers(text, line):  # of which torch.cond would make symbols
                ways = [*[each for each in ways if each is not COND], *states, COND]
            ways = [*checks, *ways, APART, AFTER, *noted, *chosen, *states]
            ways += asked_not_zeros([*choosing(text, line), AFTER, *states]) if tensor else []
            return [*ways, _FLAG, _UNCHECKED, *asked, *_SUMMED]
        case Kind.LOOP_ON_DATA:
            return []
        case Kind.UNBACKED_SIZE:
            return [_check(False, strict), COND, UNSAID]
        case Kind.SHAPES_VIOLATED:
            return [UNSAID]
        case Kind.ASSERT_ON_DATA:
            return [_check(tensor, strict), _check(not tensor, strict)]
        case Kind.DATA_WRITE:
            return [_WRITE]
        case Kind.COND_ALIASES | Kind.COND_MUTATES:
            return [_COPY]
        case Kind.OUTPUT_FROM_DATA:
            asked = [_check(True, strict), NOTE, *choosing(text, line)]
            return [UNSAID, _COPIED, *asked_of_tensors(asked), _UNCHECKED, TENSOR]
        case Kind.GRAPH_BREAK:
            return [UNSAID, _UNCHECKED, _BOOL, _COPIED]
        case Kind.TENSOR_LEAK:
            return [_COPIED]
        case Kind.OWN_ERROR | Kind.OPERATOR_FAILED:
            # a symbol's text is a key that no dict has
            return [_BOOL]
    return []


def of_states(ways: list[Way]) -> list[Way]:
    """The rewrites of a branch that changes plain numbers, and may continue a loop."""
    ways = [
        each._replace(selects=_alike_if_known) if each.selects is selects_alike else each
        for each in ways
    ]
    return states_kept(ways)


def _alike_if_known(found: Attempt, file: str) -> bool:
    """Whether nothing is known against what is selected: it is tried in eager besides."""
    return not isinstance(found, Exported) or selects_alike(found, file)


def _changes_numbers(text: str, line: int) -> bool:
    try:
        numbers_as_tensors(text, line)
    except Unclear:
        return False
    return True


def choosing(text: str, line: int) -> list[Way]:
    """How a choice at a line is made by torch, the likelier way first."""
    return [WHERE, COND] if chooses_numbers(text, line) else [COND, WHERE]
