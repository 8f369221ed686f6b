"""Exported attempt → Findings: what is wrong or surprising about an export that succeeded.

One module per family; `providers` lists them. Each reads the program and its Record and runs
nothing: what has to be run to be known is a guarantee, in `verify`.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.findings.baked_values import momentary_values as momentary_values
    from export_engine.findings.finding import Finding as Finding
    from export_engine.findings.program_ops import Op as Op
    from export_engine.findings.program_ops import ops_of as ops_of
    from export_engine.findings.providers import find_findings as find_findings
else:
    __getattr__, __dir__ = lazy_names(__name__)
