"""Kinds of failures, findings and guarantees, each with a code that is never given to another.

A kind may be added, with the next code of its group. Its page and its sentences are a Rule.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Group = Literal["diagnosis", "finding", "guarantee", "set"]
Severity = Literal["wrong", "surprising", "note"]
SEVERITIES: tuple[Severity, ...] = ("wrong", "surprising", "note")
"""Most severe first."""

_GROUPS: dict[str, Group] = {
    "EX1": "diagnosis",
    "EX2": "finding",
    "EX3": "guarantee",
    "EX4": "set",
}


class Kind(StrEnum):
    """A kind of failure, finding or guarantee. The value is the view's heading."""

    _value_: str
    code: str
    """Its stable code: `EX111`."""

    def __new__(cls, code: str, heading: str) -> Kind:
        """A kind whose value is its heading, and which has a code."""
        kind = str.__new__(cls, heading)
        kind._value_ = heading
        kind.code = code
        return kind

    # Sizes
    EXAMPLE_OUT_OF_RANGE = "EX101", "The example is outside the range"
    SHAPES_VIOLATED = "EX102", "The requested dynamic shapes do not hold"
    ZERO_ONE = "EX103", "A size of 0 or 1 is specialized"
    UNBACKED_SIZE = "EX104", "A condition on an unbacked size"
    SHAPES_MISMATCH = "EX105", "The shapes do not fit the call"
    # Values
    BRANCH_ON_DATA = "EX111", "A branch on data"
    BRANCH_ON_UNBACKED = "EX112", "A branch on a data-dependent number"
    ASSERT_ON_DATA = "EX113", "An assert on data"
    OUTPUT_FROM_DATA = "EX114", "A data-dependent Python value"
    LOOP_ON_DATA = "EX115", "A loop over a data-dependent length"
    # Operators
    NO_FAKE_KERNEL = "EX121", "An operator without a fake kernel"
    DEVICE_MISMATCH = "EX122", "Tensors on different devices"
    OPERATOR_FAILED = "EX123", "An op rejected its inputs"
    # Control flow operators
    COND_BRANCHES_DIFFER = "EX131", "The branches of torch.cond differ"
    COND_MUTATES = "EX132", "A branch mutates its input"
    COND_ALIASES = "EX133", "A branch returns its input"
    COND_SIDE_EFFECT = "EX134", "A branch has a side effect"
    # Inputs and outputs
    UNKNOWN_INPUT_TYPE = "EX141", "An unsupported input type"
    UNKNOWN_OUTPUT_TYPE = "EX142", "An unsupported output type"
    NOT_A_MODULE = "EX143", "This cannot be exported"
    # Python
    NUMPY = "EX151", "A call into NumPy"
    DATA_WRITE = "EX152", "A write through .data"
    TENSOR_LEAK = "EX153", "A fake tensor leaks out of the trace"
    GRAPH_BREAK = "EX154", "Python that strict mode cannot trace"
    MODULE_CHANGED = "EX156", "A module is converted while traced"
    OWN_ERROR = "EX155", "The model's code raised an error"
    UNKNOWN = "EX199", "An unknown failure"
    # Findings, most important first
    BAKED_VALUE = "EX201", "A Python value baked in"
    OUTSIDE_VALUE = "EX202", "A value from outside the model"
    BAKED_ARGUMENT = "EX203", "An argument baked in"
    UNUSED_INPUT = "EX204", "An input that nothing reads"
    FIXED_SIZE = "EX205", "A dynamic size was specialized"
    HIDDEN_CONDITION = "EX206", "A guard that the ranges do not show"
    OVERLAPPING_INPUTS = "EX207", "Inputs that overlap in memory"
    WRITTEN_INPUT = "EX208", "An input that is mutated"
    SHARED_INPUT = "EX209", "One tensor passed as several inputs"
    STATE_CHANGED = "EX210", "A side effect that the program lacks"
    FROZEN_TENSOR = "EX211", "A tensor baked in"
    WRITTEN_CONSTANT = "EX212", "A write into a constant"
    FROZEN_PARAMETER = "EX213", "A parameter turned into a constant"
    TIED_WEIGHTS = "EX214", "Weight tying is lost"
    TRAINING_MODE = "EX215", "Left in training mode"
    DEVICE_BAKED = "EX216", "A device baked in"
    DTYPE_BAKED = "EX217", "A dtype baked in"
    RUNTIME_CHECK = "EX218", "A check at run time"
    RANDOM = "EX219", "Random numbers"
    SYNCHRONISES = "EX220", "A device synchronization"
    PREDICATE = "EX221", "A predicate of several elements"
    CAUGHT_ERROR = "EX222", "A tracing error that the code caught"
    NAME_TAKEN = "EX223", "A name that GraphModule reserves"
    WRONG_SIZE = "EX224", "Wrong result at a size"
    CONTEXT = "EX225", "A context around the export"
    ALIASED_BUFFERS = "EX228", "A buffer under several names that is written"
    UNTRACED_BRANCH = "EX229", "A branch decided for sizes of 2 or more"
    TWIN_DIFFERS = "EX230", "A small twin with different layers"
    # Guarantees, named as Verify names them
    GUARANTEE_FLAT = "EX301", "The graph is flat"
    GUARANTEE_FUNCTIONAL = "EX302", "The graph is functional"
    GUARANTEE_LIFTED = "EX303", "State is lifted"
    GUARANTEE_MAPPED = "EX304", "Ops are mapped to source"
    GUARANTEE_OPS = "EX305", "Custom ops are as declared"
    GUARANTEE_SOUND = "EX306", "Agrees with eager"
    GUARANTEE_REFUSES = "EX307", "Rejects calls outside its shapes"
    GUARANTEE_CHECKS = "EX308", "Conditions on values are asserted"
    GUARANTEE_STATE = "EX309", "State changes as in eager"
    GUARANTEE_SAVED = "EX310", "Survives saving"
    GUARANTEE_UNFLATTENED = "EX311", "Survives unflattening"
    GUARANTEE_RE_EXPORTED = "EX312", "Survives exporting again"
    GUARANTEE_DECOMPOSED = "EX313", "Survives decomposition"
    # Findings of sets of programs
    SET_SIZES = "EX401", "Sizes that disagree"
    SET_DTYPES = "EX402", "Dtypes that disagree"
    SET_RANGES = "EX403", "Ranges that do not match"
    SET_STATE = "EX404", "A buffer that one program updates and another does not see"
    SET_MUTATED = "EX405", "A tensor that one program mutates and another reads"
    SET_IN_PLACE = "EX406", "A cache that a program writes in place and does not return"
    SET_MISSING = "EX407", "A cache tensor that no program returns"
    SET_LOST = "EX408", "A cache that a program adds to and does not return"
    SET_UNUSED = "EX409", "A cache tensor that no program accepts"
    SET_ORDER = "EX410", "Cache tensors that change places"
    SET_ROUNDED = "EX411", "A tensor that is rounded between programs"
    SET_WEIGHTS = "EX412", "A weight that differs between programs"
    SET_TIED = "EX413", "Weights that are tied in one program and not in another"
    SET_COPIES = "EX414", "Weights that are stored more than once"
    SET_CONSTANT = "EX415", "A constant that differs between programs"
    SET_LENGTH = "EX416", "A length baked in"
    SET_POSITION = "EX417", "A position baked in"
    SET_SHIFT = "EX418", "Positions that do not continue the last call"
    SET_ARGUMENT = "EX419", "An argument baked in that calls change"
    SET_QUANTIZATION = "EX420", "Quantization parameters that disagree"

    @property
    def group(self) -> Group:
        """Its family."""
        return _GROUPS[self.code[:3]]

    @property
    def slug(self) -> str:
        """Its name in data: `baked-value`; of a guarantee as Verify shows it: `re-exported`."""
        return self.name.removeprefix("GUARANTEE_").removeprefix("SET_").lower().replace("_", "-")


def kinds_of(group: Group) -> list[Kind]:
    """The kinds of a group, in the order of the list."""
    return [kind for kind in Kind if kind.group == group]


CODES: dict[str, Kind] = {kind.code: kind for kind in sorted(Kind, key=lambda kind: kind.code)}
"""Per code, its kind."""


def code_of(group: Group, name: str) -> str:
    """The code of a kind; empty if it does not have one.

    Args:
        group: what it is a kind of.
        name: in data, its slug: `re-exported`.
    """
    return next((kind.code for kind in kinds_of(group) if kind.slug == name), "")
