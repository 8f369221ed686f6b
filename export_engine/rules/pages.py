"""All rules, and the page on a code."""

from __future__ import annotations

from difflib import get_close_matches

from export_engine.rules import (
    baked_findings,
    control_flow_failures,
    guarantees,
    input_findings,
    op_findings,
    operator_failures,
    python_failures,
    pytree_failures,
    set_caches,
    set_connections,
    set_weights,
    size_failures,
    size_findings,
    state_findings,
    tracing_findings,
    value_failures,
)
from export_engine.rules.kinds import CODES
from export_engine.rules.rule import CodePage, Rule

_MODULES = (
    size_failures,
    value_failures,
    operator_failures,
    control_flow_failures,
    pytree_failures,
    python_failures,
    baked_findings,
    input_findings,
    size_findings,
    state_findings,
    op_findings,
    tracing_findings,
    guarantees,
    set_connections,
    set_caches,
    set_weights,
)


class NoSuchCode(LookupError):
    """There is no such code."""


def _rules_in(module: object) -> list[type[Rule]]:
    return [
        held
        for held in vars(module).values()
        if isinstance(held, type) and issubclass(held, Rule) and held is not Rule
    ]


RULES: dict[str, type[Rule]] = {
    rule.kind.code: rule
    for rule in sorted(
        (rule for module in _MODULES for rule in _rules_in(module)),
        key=lambda rule: rule.kind.code,
    )
}
"""Per code, its rule."""


def page_on(code: str) -> CodePage:
    """The page on a code.

    Args:
        code: `EX111`, in any case.

    Raises:
        NoSuchCode: says which codes there are.
    """
    wanted = code.strip().upper()
    if wanted not in CODES:
        near = get_close_matches(wanted, CODES, 1)
        hint = f"Did you mean {near[0]}?" if near else f"The codes begin with {min(CODES)}."
        raise NoSuchCode(f"There is no code {code[:40]!r}. {hint}")
    return RULES[wanted].page()
