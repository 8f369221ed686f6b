"""The errors that Export Explorer raises, for `except`; each says what to do in its message."""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from explorer.exploration import ExportFailed as ExportFailed
    from explorer.lessons.lesson import LessonError as LessonError
    from explorer.session.session import FixError as FixError
    from explorer.session.session import NotTrusted as NotTrusted
    from explorer.surveys import SurveyError as SurveyError
    from explorer.text.dot import DotMissing as DotMissing
    from export_engine.archive import ArchiveError as ArchiveError
    from export_engine.exportdb import NoSuchCase as NoSuchCase
    from export_engine.generation import CutError as CutError
    from export_engine.missing_packages import MissingPackage as MissingPackage
    from export_engine.plain_errors import PlainError as PlainError
    from export_engine.plain_errors import WrongArgument as WrongArgument
    from export_engine.pte import PteError as PteError
    from export_engine.query import QueryError as QueryError
    from export_engine.reproduce import NoScript as NoScript
    from export_engine.shapes import ShapesError as ShapesError
else:
    __getattr__, __dir__ = lazy_names(__name__)
