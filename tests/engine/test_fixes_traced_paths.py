"""Code that goes another way while it is traced, and modules that `forward` casts: eager's path."""

from __future__ import annotations

import pytest

from export_engine.attempt import Exported, Failed
from export_engine.fixes.code.line_rules import answer_as_eager, drop_conversion
from export_engine.fixes.code.text_edits import CannotRewrite

from .test_fixes_checks import fixed

ASKS = {
    "left out": """
        mask = None
        if not torch.compiler.is_compiling():
            mask = torch.ones(x.shape[0], 1)
        return self.up(x) * mask[:1]
    """,
    "another value": """
        scale = () if torch.jit.is_tracing() or torch.compiler.is_exporting() else (2.0,)
        return self.up(x) * scale[0]
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("form", ASKS)
def test_a_path_of_the_trace_that_fails_is_left_for_eagers(form: str, strict: bool) -> None:
    found = fixed(ASKS[form], f"asks_{form.replace(' ', '_')}_{strict}", strict=strict)
    assert isinstance(found.attempt, Exported)
    assert found.steps[-1].fix.title.startswith("Take eager's path on line ")
    assert found.attempt.agreement is not None
    assert found.attempt.agreement.verdict == "agrees"


def test_only_questions_are_answered() -> None:
    text = (
        "def f(x):\n    if x.is_tracing('now') or is_compiling():\n        return 1\n    return 2\n"
    )
    made = answer_as_eager(text, 3)
    assert made.text == text.replace("is_compiling()", "False")
    with pytest.raises(CannotRewrite):
        answer_as_eager("def f(x):\n    return x\n", 2)


CASTS = {
    "alone": "self.up.float()\nreturn self.up(x)",
    "kept": "self.up = self.up.to(x.device)\nreturn self.up(x)",
    "called": "return self.up.to(x.dtype).cpu()(x.float())",
}


@pytest.mark.slow
@pytest.mark.parametrize("form", CASTS)
def test_a_cast_that_changes_nothing_is_left_out(form: str) -> None:
    first = fixed(CASTS[form], f"casts_{form}").first
    assert isinstance(first, Failed)
    left_out = [each for each in first.fixes if each.title.startswith("Drop the conversion")]
    assert len(left_out) == 1
    assert not left_out[0].lossy
    assert left_out[0].leads_to is not None
    assert left_out[0].leads_to.agreement is not None
    assert left_out[0].leads_to.agreement.verdict == "agrees"


@pytest.mark.slow
def test_a_cast_that_changes_the_answer_stays() -> None:
    first = fixed("return self.up.double()(x.double())", "casts_up").first
    assert isinstance(first, Failed)
    assert not [each for each in first.fixes if "conversion" in each.title]
    assert "Cannot drop the conversion: without it, the model returns a different result." in (
        first.refusals
    )


def test_what_is_converted_at_a_place_alone_is_left_out() -> None:
    text = "def f(self, x):\n    return self.up.to(x.dtype).cpu()(x.float())\n"
    made = drop_conversion(text, 2, len("    return "))
    assert made.text == "def f(self, x):\n    return self.up(x.float())\n"
    with pytest.raises(CannotRewrite):
        drop_conversion(text, 2, 4)
