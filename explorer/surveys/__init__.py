"""Many exports, each in a process of its own: which models export, what cures the others.

A survey is a table of trials: model × mode × shapes × Python. Each trial's row goes into a journal
as soon as it is there, so a survey that was stopped goes on where it was.
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
