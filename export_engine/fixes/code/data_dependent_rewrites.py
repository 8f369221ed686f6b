"""What may help at a line that depends on data: a table of rewrites, by the kind of failure."""

from __future__ import annotations

from export_engine.attempt import (
    Diagnosis,
    Kind,
)
from export_engine.fixes.code.branches.bool_tests_to_tensors import (
    copy_by_torch,
    pass_plain_bools,
)
from export_engine.fixes.code.branches.branch_copies import clone_branch_results
from export_engine.fixes.code.calls.data_writes import write_in_the_open
from export_engine.fixes.code.calls.distributions import disable_validation
from export_engine.fixes.code.ways import (
    NOTE,
    TENSOR,
    UNSAID,
    Way,
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
    clone_branch_results,
)
_BOOL = Way(
    "Make the flag in line {line} a plain bool",
    "The op does not take a symbolic bool. Python then decides it for all sizes in the range.",
    pass_plain_bools,
)
_UNCHECKED = Way(
    "Set validate_args=False in `{function}`",
    "torch.distributions then does not read the values of its arguments to validate them.",
    disable_validation,
    gives_up="The program accepts arguments that the distribution rejects.",
)

_COPIED = Way(
    "Let torch make the tensor copies of `{function}`",
    "`view_as` shares memory as `copy.copy` does, and `clone` copies it; both are traced.",
    copy_by_torch,
)


def rewrites(diagnosis: Diagnosis) -> list[Way]:
    """What may help, the likeliest first; each refuses code that it does not fit."""
    match diagnosis.kind:
        case Kind.BRANCH_ON_DATA | Kind.BRANCH_ON_UNBACKED:
            return [NOTE, _UNCHECKED]
        case Kind.LOOP_ON_DATA:
            return []
        case Kind.UNBACKED_SIZE:
            return [UNSAID]
        case Kind.SHAPES_VIOLATED:
            return [UNSAID]
        case Kind.DATA_WRITE:
            return [_WRITE]
        case Kind.COND_ALIASES | Kind.COND_MUTATES:
            return [_COPY]
        case Kind.OUTPUT_FROM_DATA:
            return [NOTE, UNSAID, _COPIED, _UNCHECKED, TENSOR]
        case Kind.GRAPH_BREAK:
            return [UNSAID, _UNCHECKED, _BOOL, _COPIED]
        case Kind.TENSOR_LEAK:
            return [_COPIED]
        case Kind.OWN_ERROR | Kind.OPERATOR_FAILED:
            # a symbol's text is a key that no dict has
            return [_BOOL]
    return []
