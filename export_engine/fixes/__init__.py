"""Failed attempt → Fixes: one module per kind of fix; `providers` lists them.

Each is tried before it is offered. Rewrites of the user's source are in `code`.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.fixes.automatic import AutofixReport as AutofixReport
    from export_engine.fixes.automatic import Step as Step
    from export_engine.fixes.automatic import autofix as autofix
    from export_engine.fixes.providers import explain as explain
    from export_engine.fixes.try_fixes import apply_fixes as apply_fixes
    from export_engine.fixes.try_fixes import try_request as try_request
    from export_engine.fixes.wrong_programs import find_wrong_size as find_wrong_size
else:
    __getattr__, __dir__ = lazy_names(__name__)
