"""ExecuTorch's `.pte` files as data: plans, operators, delegates, memory. No torch, no code run.

A file is untrusted: each offset is checked, and reads are limited. `delegate` makes such
files; `archive` reads torch's own.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.pte.etdump import Timed as Timed
    from export_engine.pte.etdump import is_etdump as is_etdump
    from export_engine.pte.etdump import read_etdump as read_etdump
    from export_engine.pte.flatbuffer import PteError as PteError
    from export_engine.pte.program import Placed as Placed
    from export_engine.pte.program import Plan as Plan
    from export_engine.pte.program import PteProgram as PteProgram
    from export_engine.pte.reading import is_pte as is_pte
    from export_engine.pte.reading import read_pte as read_pte
else:
    __getattr__, __dir__ = lazy_names(__name__)
