"""Whether outputs have the dtypes that the program declares.

They do not where a context held around the export that a program has no op for, as autocast.
"""

from __future__ import annotations

from dataclasses import replace

from export_engine.defects import passed_over
from export_engine.listing import listed
from export_engine.verify import contract_soundness
from export_engine.verify.guarantee import Guarantee
from export_engine.verify.program_under_test import Subject


def sound(subject: Subject) -> Guarantee:
    """Soundness, of which the declared dtypes are a part."""
    found = contract_soundness.sound(subject)
    if subject.eager is None:
        _run_once(subject)
    contexts = listed([each.name for each in subject.exported.recording.contexts])
    said = f"the export ran in {contexts}" if contexts else ""
    if subject.mistyped:
        sentence = f"{subject.mistyped}{f': {said}' if said else ''}."
        evidence = (sentence, *found.evidence)
        return replace(found, verdict="broken", sentence=sentence, evidence=evidence, lacking="")
    patches = listed([each.name for each in subject.exported.recording.patches])
    if patches:
        said = f"{said}{', and ' if said else 'the export '}called a replaced {patches}"
    if said and found.verdict == "broken":
        return replace(found, evidence=(*found.evidence, said))
    return found


def _run_once(subject: Subject) -> None:
    try:
        subject.run(subject.module, subject.request)
    except Exception as error:  # noqa: BLE001 - whether it runs, others say
        passed_over(error, "running the program on its example")
