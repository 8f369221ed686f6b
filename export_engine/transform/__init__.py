"""Exported → Exported: a decomposed program, with the origin of each new op.

Also the ops outside an opset. `DecompositionTable`, in `attempt`, selects the decompositions.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.transform.opset import outside as outside
    from export_engine.transform.run_decompositions import DecomposeError as DecomposeError
    from export_engine.transform.run_decompositions import decompose as decompose
    from export_engine.transform.run_decompositions import shrink_table as shrink_table
else:
    __getattr__, __dir__ = lazy_names(__name__)
