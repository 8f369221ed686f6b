"""Many exports, each in its own process: which models export, and which fixes help the others.

A survey is a table of trials: model × mode × shapes × Python. Each finished trial is appended to a
journal, so a stopped survey resumes.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from explorer.surveys.comparison import SurveyComparison as SurveyComparison
    from explorer.surveys.plan import Survey as Survey
    from explorer.surveys.plan import SurveyError as SurveyError
    from explorer.surveys.plan import read_survey as read_survey
    from explorer.surveys.result import SurveyResult as SurveyResult
    from explorer.surveys.rows import Row as Row
    from explorer.surveys.running import survey as survey
    from explorer.surveys.upgrading import Upgrade as Upgrade
    from explorer.surveys.upgrading import upgrade as upgrade
else:
    __getattr__, __dir__ = lazy_names(__name__)
