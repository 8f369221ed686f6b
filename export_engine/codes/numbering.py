"""Which code belongs to which kind. A line may be added, and never changed or removed."""

from __future__ import annotations

from typing import Literal

Group = Literal["diagnosis", "finding", "guarantee"]

CODES: dict[str, tuple[Group, str]] = {
    # Sizes
    "EX101": ("diagnosis", "EXAMPLE_OUT_OF_RANGE"),
    "EX102": ("diagnosis", "SHAPES_VIOLATED"),
    "EX103": ("diagnosis", "ZERO_ONE"),
    "EX104": ("diagnosis", "UNBACKED_SIZE"),
    "EX105": ("diagnosis", "SHAPES_MISMATCH"),
    # Values
    "EX111": ("diagnosis", "BRANCH_ON_DATA"),
    "EX112": ("diagnosis", "BRANCH_ON_UNBACKED"),
    "EX113": ("diagnosis", "ASSERT_ON_DATA"),
    "EX114": ("diagnosis", "OUTPUT_FROM_DATA"),
    "EX115": ("diagnosis", "LOOP_ON_DATA"),
    # Operators
    "EX121": ("diagnosis", "NO_FAKE_KERNEL"),
    "EX122": ("diagnosis", "DEVICE_MISMATCH"),
    "EX123": ("diagnosis", "OPERATOR_FAILED"),
    # Control flow operators
    "EX131": ("diagnosis", "COND_BRANCHES_DIFFER"),
    "EX132": ("diagnosis", "COND_MUTATES"),
    "EX133": ("diagnosis", "COND_ALIASES"),
    "EX134": ("diagnosis", "COND_SIDE_EFFECT"),
    # Inputs and outputs
    "EX141": ("diagnosis", "UNKNOWN_INPUT_TYPE"),
    "EX142": ("diagnosis", "UNKNOWN_OUTPUT_TYPE"),
    "EX143": ("diagnosis", "NOT_A_MODULE"),
    # Python
    "EX151": ("diagnosis", "NUMPY"),
    "EX152": ("diagnosis", "DATA_WRITE"),
    "EX153": ("diagnosis", "TENSOR_LEAK"),
    "EX154": ("diagnosis", "GRAPH_BREAK"),
    "EX155": ("diagnosis", "OWN_ERROR"),
    "EX156": ("diagnosis", "MODULE_CHANGED"),
    "EX199": ("diagnosis", "UNKNOWN"),
    # Findings
    "EX201": ("finding", "BAKED_VALUE"),
    "EX202": ("finding", "OUTSIDE_VALUE"),
    "EX203": ("finding", "BAKED_ARGUMENT"),
    "EX204": ("finding", "UNUSED_INPUT"),
    "EX205": ("finding", "FIXED_SIZE"),
    "EX206": ("finding", "HIDDEN_CONDITION"),
    "EX207": ("finding", "OVERLAPPING_INPUTS"),
    "EX208": ("finding", "WRITTEN_INPUT"),
    "EX209": ("finding", "SHARED_INPUT"),
    "EX210": ("finding", "STATE_CHANGED"),
    "EX211": ("finding", "FROZEN_TENSOR"),
    "EX212": ("finding", "WRITTEN_CONSTANT"),
    "EX213": ("finding", "FROZEN_PARAMETER"),
    "EX214": ("finding", "TIED_WEIGHTS"),
    "EX215": ("finding", "TRAINING_MODE"),
    "EX216": ("finding", "DEVICE_BAKED"),
    "EX217": ("finding", "DTYPE_BAKED"),
    "EX218": ("finding", "RUNTIME_CHECK"),
    "EX219": ("finding", "RANDOM"),
    "EX220": ("finding", "SYNCHRONISES"),
    "EX221": ("finding", "PREDICATE"),
    "EX222": ("finding", "CAUGHT_ERROR"),
    "EX223": ("finding", "NAME_TAKEN"),
    "EX224": ("finding", "WRONG_SIZE"),
    "EX225": ("finding", "CONTEXT"),
    "EX228": ("finding", "ALIASED_BUFFERS"),
    # Guarantees
    "EX301": ("guarantee", "flat"),
    "EX302": ("guarantee", "functional"),
    "EX303": ("guarantee", "lifted"),
    "EX304": ("guarantee", "mapped"),
    "EX305": ("guarantee", "ops"),
    "EX306": ("guarantee", "sound"),
    "EX307": ("guarantee", "refuses"),
    "EX308": ("guarantee", "checks"),
    "EX309": ("guarantee", "state"),
    "EX310": ("guarantee", "saved"),
    "EX311": ("guarantee", "unflattened"),
    "EX312": ("guarantee", "re-exported"),
    "EX313": ("guarantee", "decomposed"),
}
"""Per code, what it is of, and the kind's name there."""

_BY_KIND = {kind: code for code, kind in CODES.items()}


def code_of(group: Group, name: str) -> str:
    """The code of a kind; empty if it does not have one.

    Args:
        group: what it is a kind of.
        name: of the enum's member, or of the guarantee.
    """
    return _BY_KIND.get((group, name), "")
