"""Whether outputs have the dtypes that the program declares.

They do not where a context held around the export that a program has no op for, as autocast.
"""

from __future__ import annotations

from dataclasses import replace

from export_engine import rules
from export_engine.defects import log_internal_error
from export_engine.listing import join_names
from export_engine.verify import contract_soundness
from export_engine.verify.guarantee import Guarantee
from export_engine.verify.program_under_test import Subject


def check_sound(subject: Subject) -> Guarantee:
    """Soundness, of which the declared dtypes are a part."""
    guarantee = contract_soundness.check_contract(subject)
    if subject.eager is None:
        _run_once(subject)
    contexts = join_names([context.name for context in subject.exported.recording.contexts])
    text = f"the export ran in {contexts}" if contexts else ""
    if subject.mistyped:
        context = f": {text}" if text else ""
        sentence = rules.GuaranteeSound.DTYPE(dtypes=subject.mistyped, context=context)
        evidence = (sentence, *guarantee.evidence)
        return replace(
            guarantee, verdict="broken", sentence=sentence, evidence=evidence, lacking=""
        )
    patches = join_names([patch.name for patch in subject.exported.recording.patches])
    if patches:
        text = f"{text}{', and ' if text else 'the export '}called a replaced {patches}"
    if text and guarantee.verdict == "broken":
        return replace(guarantee, evidence=(*guarantee.evidence, text))
    return guarantee


def _run_once(subject: Subject) -> None:
    try:
        subject.run(subject.module, subject.request)
    except Exception as error:  # noqa: BLE001 - whether it runs, others say
        log_internal_error(error, "running the program on its example")
