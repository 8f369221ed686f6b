"""The ops that a backend takes or leaves, with reasons: Exported → Delegation.

A copy of the program is lowered; nothing runs on a device. `run` runs programs; here they are read.
Fixes that bring an op into a delegate are also here, since each is tried by lowering again.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.delegate.assemble import Delegated as Delegated
    from export_engine.delegate.assemble import delegate as delegate
    from export_engine.delegate.assemble import find_places as find_places
    from export_engine.delegate.backend import DelegationBackend as DelegationBackend
    from export_engine.delegate.backend import Lowered as Lowered
    from export_engine.delegate.backend import LoweringError as LoweringError
    from export_engine.delegate.backend import Placement as Placement
    from export_engine.delegate.backend import Verdict as Verdict
    from export_engine.delegate.backend_registry import delegation_backends as delegation_backends
    from export_engine.delegate.backend_registry import find_backend as find_backend
    from export_engine.delegate.backend_registry import why_missing as why_missing
    from export_engine.delegate.fixes import DelegationFix as DelegationFix
    from export_engine.delegate.fixes import find_fixes as find_fixes
    from export_engine.delegate.fixes import fix_all as fix_all
    from export_engine.delegate.fixes import try_kinds as try_kinds
    from export_engine.delegate.op_table import make_op_table as make_op_table
    from export_engine.delegate.titles import title_partitions as title_partitions
else:
    __getattr__, __dir__ = lazy_names(__name__)
