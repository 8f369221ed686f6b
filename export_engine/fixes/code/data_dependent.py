"""Code fixes: rewrites of the function at the failing line, in memory, and tried.

Only sound rewrites: what cannot keep its meaning is refused, with the reason. A rewrite is offered
if the call then exports and agrees with eager, or fails somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from export_engine.attempt import (
    Attempt,
    Diagnosis,
    Edit,
    Exported,
    Failed,
    Fix,
    Kind,
    NoFix,
    Request,
    text_in_effect,
)
from export_engine.diagnose import DataDependent
from export_engine.fixes.code.branches.branch_copies import copied
from export_engine.fixes.code.branches.branch_to_cond import branch_to_cond
from export_engine.fixes.code.branches.list_choice import in_a_stack, stacks_alike
from export_engine.fixes.code.branches.module_choice import all_run
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
    listed_for,
    truncated,
)
from export_engine.fixes.code.calls.data_writes import write_in_the_open
from export_engine.fixes.code.calls.distributions import unvalidated
from export_engine.fixes.code.calls.index_writes import written_by_number
from export_engine.fixes.code.calls.math_of_tensors import computed_by_torch
from export_engine.fixes.code.calls.number_index import selected_by_number
from export_engine.fixes.code.calls.sorted_by_data import sorted_by_torch
from export_engine.fixes.code.calls.tensor_index import indexed_by_list, indexed_by_tensors
from export_engine.fixes.code.calls.typed_tensors import made_by_tensor
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees, takes_what_eager_takes
from export_engine.fixes.code.editing.rewrite import NO_STATEMENT, Rewritten
from export_engine.fixes.code.editing.statements import is_while
from export_engine.fixes.code.editing.try_edit import (
    edited_file,
    is_dynamic,
    leads_on,
    tried,
    with_edit,
)
from export_engine.fixes.code.loops.listed_rows import listed_at_once
from export_engine.fixes.code.loops.loop_breaks import run_to_end
from export_engine.fixes.code.loops.loop_returns import returned_at_end
from export_engine.fixes.code.loops.loop_to_while import as_while_loop
from export_engine.fixes.code.loops.loops_of_choices import (
    kept_in_scan,
    scans_symbols,
    selected_at_once,
)
from export_engine.fixes.code.loops.most_rows import cut_to_the_best
from export_engine.fixes.code.loops.padded_hits import hits_padded
from export_engine.fixes.code.loops.row_writes import written_by_mask
from export_engine.fixes.code.ways import (
    NOTE,
    TENSOR,
    UNSAID,
    Way,
    appended_apart,
    asked_not_zeros,
    asked_of_tensors,
    matched,
    not_continued,
    numbers_kept,
    states_kept,
    without_notes,
)
from export_engine.progress import Progress
from export_engine.source import unedited

__all__ = ["offered"]

_COND = Way(
    "Rewrite the branch in line {line} with torch.cond",
    "torch.cond puts both branches into the program, and the predicate selects one at run time.",
    branch_to_cond,
)
_WHERE = Way(
    "Select with torch.where in line {line}",
    "torch.where computes both values and selects one at run time.",
    selected,
    selects=selects_alike,
)
_AFTER = Way(
    "Always run the branch in line {line}, and keep its values with torch.where",
    "torch.where keeps what the branch computes where its test holds, and else what was before.",
    kept_where,
    gives_up="The branch runs also where eager skips it.",
    selects=selects_alike,
)
_PADDED = "Pad the rows that the test in line {line} counts"
"""What is done before another way, so that the rows that it guards can be read for all data."""
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
    "The op takes no symbolic bool. Python then decides it for all sizes of the range.",
    decided,
)
_UNCHECKED = Way(
    "Set validate_args=False in `{function}`",
    "torch.distributions then does not read the values of its arguments to check them.",
    unvalidated,
    gives_up="The program does not reject arguments that the distribution rejects.",
)

_EVERY = Way(
    "Run every module of the list in line {line}, and select an output",
    "Which module data choose is unknown while tracing; an index of their stacked outputs need not "
    "be known.",
    all_run,
    gives_up="Every module runs, also those that eager does not choose.",
)
_KEYED = _EVERY._replace(rewrite=partial(all_run, keyed=True))
_STACKED = Way(
    "Stack the list in line {line}, and index the tensor",
    "Which tensor of a list data choose is unknown while tracing; an index of their stack need not "
    "be known.",
    in_a_stack,
    selects=stacks_alike,
)
_SELECT = Way(
    "Take the index from data in line {line} by select",
    "`select` takes one index, which may be a number from data; the others follow it.",
    selected_by_number,
)
_INDEXED = Way(
    "Index with a tensor of one element in line {line}",
    "An index that is a tensor is an op of the program; Python asks for no number.",
    indexed_by_tensors,
)
_TRUNCATED = Way(
    "Truncate the number in line {line} with torch",
    "`.long()` truncates as int() does, and `.item()` reads it as a number of the program.",
    truncated,
    selects=lambda found, _: isinstance(found, Exported),
)
_ELEMENTS_TRUNCATED = _TRUNCATED._replace(
    rewrite=partial(truncated, listed=True), selects=None, is_tentative=True
)
"""What an index asks of the list is said where it is."""
_ALL_TRUNCATED = _TRUNCATED._replace(
    title="Truncate the numbers in `{function}` with torch",
    rewrite=partial(truncated, all_of_them=True),
)
_AT_ONCE = Way(
    "Select with torch.where in line {line}, and run its loop at once with torch.vmap",
    "torch.where selects for each iteration; vmap computes them all with ops over the whole "
    "tensors, so the length stays dynamic.",
    selected_at_once,
    gives_up="Both values are computed, and all iterations are in memory at once.",
    selects=selects_alike,
)
_IN_SCAN = [
    Way(
        "Select with torch.where in line {line}, and rewrite its loop as a scan",
        "torch.where keeps what an iteration computes where its test holds, and else what was "
        "before; scan is one op for any number of iterations.",
        partial(kept_in_scan, unrolled=unrolled),
        gives_up="The branch runs also where eager skips it. The program rejects a length of 0, "
        "and runs only in a backend that has the operator scan.",
        selects=scans_symbols,
    )
    for unrolled in (False, True)
]
_LISTED = Way(
    "Index with a tensor of the list in line {line}",
    "torch reads the numbers of a list that indexes; those of a tensor are part of the program.",
    indexed_by_list,
)
_LISTED_TENSORS = _LISTED._replace(rewrite=partial(indexed_by_list, how="stack"))
_MATH = Way(
    "Compute the function of math in line {line} with torch",
    "Python's math needs a plain number. torch computes the same of a double, which a Python float "
    "is, and `.item()` reads it as a number of the program.",
    computed_by_torch,
    gives_up="Where math raises an error, as for the root of a negative number, the program goes "
    "on with NaN or an infinity.",
)
_ROWS_AT_ONCE = Way(
    "Compute the list in line {line} as one tensor",
    "Python reads a number of each element, which is unknown while tracing; torch computes all of "
    "them with ops over the whole tensor.",
    listed_at_once,
    room=listed_at_once,
)
_SORTED = Way(
    "Sort the indices in line {line} with torch.argsort",
    "Python has to know the numbers that it sorts by; torch.argsort, where it is stable, gives the "
    "same order at run time.",
    sorted_by_torch,
    room=sorted_by_torch,
)
_TYPED = Way(
    "Make the tensor in line {line} with torch.tensor",
    "torch.tensor takes numbers from data; a type of tensors, called, needs plain ones.",
    made_by_tensor,
)
_MASKED = [
    Way(
        "Write the rows in line {line} by a mask",
        "A comparison of all columns says which of them are in the part of each row, so the loop "
        "over the rows is one op, and their number stays dynamic.",
        partial(written_by_mask, behind=behind),
        selects=lambda found, _: isinstance(found, Exported),
    )
    for behind in (0, 1, 2)
]
"""Of tensors with so many dims behind that of the part."""
_WRITTEN = Way(
    "Read the index in line {line} with item()",
    "A tensor that indexes what is written to is read by Python; a number from `.item()` is not.",
    written_by_number,
)
_COPIED = Way(
    "Let torch make the tensor copies of `{function}`",
    "`view_as` shares memory as `copy.copy` does, and `clone` copies it; both are traced.",
    copied_by_torch,
)
_TO_END = Way(
    "Run the loop to its end, and keep what it has where line {line} breaks",
    "torch.where then drops what the iterations after it compute.",
    run_to_end,
    gives_up="Every iteration runs, also those that eager skips.",
)
_RETURNED = Way(
    "Run the loop to its end, and select what line {line} returns",
    "torch.where selects what the first iteration whose test holds would return.",
    returned_at_end,
    gives_up="Every iteration runs, also those that eager skips.",
    selects=selects_alike,
)
_WHILE = Way(
    "Rewrite the loop in line {line} with while_loop",
    "while_loop keeps the test and one iteration as subgraphs, and runs them as long as the test "
    "holds.",
    as_while_loop,
    gives_up="The program runs only in a backend that has the operator while_loop.",
)


_MOST = Way(
    "Select the indices of the rows that line {line} cuts to",
    "Both ways have at most as many rows, so torch.where selects the indices of the best ones, or "
    "of all.",
    cut_to_the_best,
    gives_up="The best rows are looked for also where there are few.",
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


def _rewrites(diagnosis: Diagnosis, text: str, line: int, strict: bool) -> list[Way]:
    """What may help, the likeliest first; each refuses code that it does not fit."""
    facts = diagnosis.facts
    tensor = not (isinstance(facts, DataDependent) and facts.condition)
    match diagnosis.kind:
        case Kind.BRANCH_ON_DATA | Kind.BRANCH_ON_UNBACKED:
            ways, padded = _ways(text, line), list[Way]()
            if not tensor:  # torch.where takes no symbol, but the tensor that `.item()` reads
                reads = ".item()" in text.split("\n")[line - 1]
                ways = [_number(facts), *(ways if reads else [_COND])]
                padded = [
                    each.behind(_PADDED).after(hits_padded) for each in (_number(facts), _COND)
                ]
                padded += appended_apart(padded)
            asked = asked_of_tensors(_ways(text, line))
            checks = [_check(tensor, strict), NOTE, _TO_END, _RETURNED, _WHILE, _MOST]
            noted = without_notes(ways)
            chosen = [*appended_apart(ways), *not_continued([*ways, _AFTER]), *matched(ways)]
            states = _of_states([_WHERE, _AFTER, _COND] if tensor else [_COND])
            states += asked_of_tensors(states)
            if strict and _changes_numbers(text, line):  # of which torch.cond would make symbols
                ways = [*[each for each in ways if each is not _COND], *states, _COND]
            ways = [*padded, *ways]
            ways = [*checks, *ways, _AFTER, *noted, *chosen, *states]
            ways += asked_not_zeros([*_ways(text, line), _AFTER, *states]) if tensor else []
            return [*ways, _FLAG, _UNCHECKED, *asked, _EVERY, _ROWS_AT_ONCE, _SORTED]
        case Kind.LOOP_ON_DATA:
            return [_WHILE]
        case Kind.UNBACKED_SIZE:
            return [_check(False, strict), _COND, UNSAID]
        case Kind.SHAPES_VIOLATED:
            return [UNSAID]
        case Kind.ASSERT_ON_DATA:
            return [_check(tensor, strict), _check(not tensor, strict)]
        case Kind.DATA_WRITE:
            return [_WRITE]
        case Kind.COND_ALIASES | Kind.COND_MUTATES:
            return [_COPY]
        case Kind.OUTPUT_FROM_DATA:
            asked = [_check(True, strict), NOTE, _TO_END, _RETURNED, *_ways(text, line)]
            made = [UNSAID, _EVERY, _STACKED, _COPIED, *asked_of_tensors(asked), _UNCHECKED, TENSOR]
            return [
                *made,
                _ELEMENTS_TRUNCATED,
                _TRUNCATED,
                _ALL_TRUNCATED,
                _LISTED_TENSORS,
                _LISTED,
                _ROWS_AT_ONCE,
                _SORTED,
                _TYPED,
                _MATH,
                _INDEXED,
                _WRITTEN,
            ]
        case Kind.GRAPH_BREAK:
            return [UNSAID, _UNCHECKED, _BOOL, _COPIED, _STACKED, _SELECT, _INDEXED]
        case Kind.TENSOR_LEAK:
            return [_COPIED]
        case Kind.OWN_ERROR | Kind.OPERATOR_FAILED:
            return [_BOOL, _MATH, _SELECT, _KEYED]  # a symbol's text is a key that no dict has
    return []


def _of_states(ways: list[Way]) -> list[Way]:
    """The rewrites of a branch that changes plain numbers, and may continue a loop."""
    ways = [
        each._replace(selects=_alike_if_known) if each.selects is selects_alike else each
        for each in ways
    ]
    states = states_kept(ways)
    return [*states, *not_continued(states)]


def _alike_if_known(found: Attempt, file: str) -> bool:
    """Whether nothing is known against what is selected: it is tried in eager besides."""
    return not isinstance(found, Exported) or selects_alike(found, file)


def _takes_both_ways(request: Request, edit: Edit, found: Attempt) -> bool:
    """Whether a program takes what eager takes; of an export that failed that is not known."""
    if not isinstance(found, Exported):
        return True
    return takes_what_eager_takes(request, edit, found.program.module())


def _changes_numbers(text: str, line: int) -> bool:
    try:
        numbers_as_tensors(text, line)
    except Unclear:
        return False
    return True


def _is_tried_at_once(made: str, text: str) -> bool:
    """Whether a text only selects more with torch.where: eager compiles what operators take."""
    more = [made.count(each) > text.count(each) for each in ("torch.where(", *_OPERATORS)]
    return more[0] and not any(more[1:])


def _room_agrees(request: Request, edit: Edit, room: Rewritten, known: dict[str, bool]) -> bool:
    """Whether what is done before a way answers as eager does, on inputs that go either way."""
    if room.text not in known:
        known[room.text] = agrees(request, replace(edit, after=room.text))
    return known[room.text]


_OPERATORS = ("torch.cond(", "scan(", "while_loop(", "vmap(")


def _read_line(attempt: Failed, file: str) -> tuple[int, int] | None:
    """The line of a file that reads the number that a branch is about: as written, and now.

    In strict mode it may be the branch's own.
    """
    request, diagnosis = attempt.request, attempt.diagnosis
    assert request is not None
    assert diagnosis is not None
    facts = diagnosis.facts
    if not isinstance(facts, DataDependent) or not facts.condition:
        return None
    for each in diagnosis.related:
        place = each.stack[-1]
        if place.file == file:
            return place.line, text_in_effect(request.edits, place.file, place.line)[1]
    own = diagnosis.stack[-1]
    return own.line, text_in_effect(request.edits, own.file, own.line)[1]


def _ways(text: str, line: int) -> list[Way]:
    return [_WHERE, _COND] if chooses_numbers(text, line) else [_COND, _WHERE]


def offered(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix | NoFix]:
    """Rewrites for a diagnosed attempt, or why a branch has none."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    ways = _rewrites(diagnosis, text, line, request.strict)
    read = _read_line(attempt, place.file)
    if read is not None and diagnosis.kind is Kind.BRANCH_ON_UNBACKED:
        whole = isinstance(diagnosis.facts, DataDependent) and diagnosis.facts.whole
        kept = numbers_kept(_ways(text, line), read[1], whole=whole)
        if whole:  # a number that is a size, too, is better left one
            kept = [each._replace(is_tentative=True) for each in kept]
            at = ways.index(_COND) if _COND in ways else len(ways)
            ways = [*ways[:at], *kept, *ways[at:]]
        else:
            ways = [*ways, *kept] if read[1] == line else [*kept, *ways]
        ways += numbers_kept(_of_states([_WHERE, _AFTER, _COND]), read[1], whole=whole)
    listed = listed_for(text, line) if diagnosis.kind is Kind.BRANCH_ON_DATA else None
    if listed is not None:
        ways += numbers_kept([*_ways(text, line), _AFTER], listed)
        read = listed, listed
    if is_dynamic(request):
        choice = diagnosis.kind is Kind.BRANCH_ON_DATA
        unread = diagnosis.kind in (Kind.OUTPUT_FROM_DATA, Kind.SHAPES_VIOLATED)
        ways = [_AT_ONCE, *_IN_SCAN, *ways] if choice else [*_MASKED, *ways] if unread else ways
    known, refused, looped = {text}, "", ""
    rooms = dict[str, bool]()
    tentative: Fix | None = None
    for way in ways:
        title = way.title.format(
            line=place.line, function=place.function, read=read[0] if read else 0
        )
        try:
            made = way.rewrite(text, line)
        except Unclear as reason:
            is_there = str(reason) != NO_STATEMENT
            refused = str(reason) if way is _COND and is_there else refused
            looped = str(reason) if way is _WHILE and is_while(text, line) else looped
            continue
        if made.text in known:
            continue
        known.add(made.text)
        edit = Edit(unedited(place.file), text, made.text, (made.function,))
        if way.room is not None and not _room_agrees(request, edit, way.room(text, line), rooms):
            continue
        if progress:
            progress(Progress(0, 0, title, "fix"))
        found = tried(request, edit)
        if found is None or not leads_on(found, diagnosis, edit):
            continue
        if way.selects and not way.selects(found, edited_file(request, edit)):
            continue
        chooses = diagnosis.kind is Kind.BRANCH_ON_UNBACKED and "torch.cond(" in made.text
        if chooses and not _takes_both_ways(request, edit, found):
            continue
        if _is_tried_at_once(made.text, text) and not agrees(request, edit):
            continue
        fix = Fix(
            kind="code",
            title=title,
            why=way.why,
            gives_up=way.gives_up,
            change=partial(with_edit, edit=edit),
            edits=with_edit(request, edit).edits,
            stack=diagnosis.stack,
            leads_to=found if isinstance(found, Exported) else None,
        )
        if fix.leads_to is None and way.is_tentative:
            tentative = tentative or fix
            continue
        yield fix if tentative is None or fix.leads_to is not None else tentative
        return
    if tentative is not None:
        yield tentative
        return
    if looped:
        yield NoFix(f"The loop in line {place.line} is not rewritten with while_loop: {looped}.")
    if refused and not looped and diagnosis.kind is Kind.BRANCH_ON_DATA:
        yield NoFix(f"The branch in line {place.line} is not rewritten with torch.cond: {refused}.")
