"""Every founding case, taken from its failure to a fix: what is offered, and where it ends.

In one of the modes, in turn; in both with `--thorough`, and where they end differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from export_engine.attempt import Exported, Failed
from export_engine.describe import describe
from export_engine.fixes import AutofixReport, autofix, explain

from ..seed_cases import SeedCase, attempted, seed_cases

CASES = seed_cases()
IN_BOTH = ("all-relaxed",)


class Row(NamedTuple):
    case: SeedCase
    mode: str
    first: Exported | Failed
    report: AutofixReport | None

    @property
    def end(self) -> str:
        if self.report is None:
            return "exports"
        last = self.report.attempt
        if isinstance(last, Failed):
            return "reason" if not any(fix.lossy for fix in last.fixes) else "to decide"
        assert isinstance(last, Exported)
        return last.agreement.verdict if last.agreement else "not checked"


def followed(case: SeedCase, strict: bool) -> Row:
    first = attempted(case.name, strict)
    report = None
    if isinstance(first, Failed):
        first = explain(first)
        report = autofix(first)
    assert isinstance(first, Exported | Failed)
    return Row(case, "strict" if strict else "non-strict", first, report)


@pytest.fixture(scope="module")
def rows(one_of: Callable[[int], int]) -> list[Row]:
    step = one_of(2)
    return [
        followed(case, strict)
        for number, case in enumerate(CASES)
        for strict in (False, True)
        if case.name in IN_BOTH or (number + strict) % step == 0
    ]


@pytest.mark.slow
def test_the_table_of_founding_cases(rows: list[Row], capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{'row':4} {'case':34} {'mode':10} {'outcome':38} {'line':>5}  fixes → end"]
    for row in rows:
        if isinstance(row.first, Exported):
            lines.append(f"{row.case.row:4} {row.case.name:34} {row.mode:10} exports")
            continue
        diagnosis = row.first.diagnosis
        assert diagnosis is not None
        place = str(diagnosis.stack[-1].line) if diagnosis.stack else "call"
        offered = ", ".join(
            f"{fix.kind}{' (lossy)' if fix.lossy else ''}" for fix in row.first.fixes
        )
        lines.append(
            f"{row.case.row:4} {row.case.name:34} {row.mode:10} {diagnosis.kind.name.lower():38} "
            f"{place:>5}  {offered or 'none'} → {row.end}"
        )
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert all(row.end != "differs" for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["non-strict", "strict"])
def test_what_is_fixed_agrees_with_eager_and_names_its_fixes(
    rows: list[Row], mode: str, one_of: Callable[[int], int]
) -> None:
    fixed = [row for row in rows if row.mode == mode and row.report and row.report.kept]
    assert len(fixed) >= 8 // one_of(2)
    for row in fixed:
        assert row.report is not None
        if not isinstance(row.report.attempt, Exported):
            continue
        assert row.end in ("agrees", "not checked"), row.case.name
        record = describe(row.report.attempt)
        assert record.fixed_by == [step.fix.title for step in row.report.kept]
        assert record.check is not None


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["non-strict", "strict"])
def test_all_dims_relaxed_converges_with_all_of_them_dynamic(rows: list[Row], mode: str) -> None:
    found = [row for row in rows if row.case.name == "all-relaxed" and row.mode == mode]
    assert found
    for row in found:
        assert row.report is not None
        attempt = row.report.attempt
        assert isinstance(attempt, Exported)
        record = describe(attempt)
        inputs = [record.types[each.type].shape for each in record.signature.inputs]
        assert all(isinstance(size, str) for shape in inputs for size in shape)
        ranges = {symbol.name: (symbol.lower, symbol.upper) for symbol in record.symbols}
        bounded = mode == "strict"  # non-strict mode traces the branch as a torch.cond
        high = [high for _, high in ranges.values() if high is not None]
        assert high == ([16] if bounded else [])
        assert any(low in (16, 17) for low, _ in ranges.values()) == bounded
        assert row.end == "agrees"
