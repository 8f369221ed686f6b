"""The front end: anywidget classes, and their TypeScript under `frontend/`.

It receives Records as bytes and sends requests back; it knows neither torch nor the engine. The
bundle is read without anywidget: a report needs no notebook.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from widgets.answers import Answer, Refusal
from widgets.bundle import FrontEndMissing
from widgets.bundle import bundle as front_end
from widgets.bundle import bundle_file as front_end_file
from widgets.bundle import layout as front_end_layout
from widgets.bundle import notices as front_end_notices

if TYPE_CHECKING:
    from widgets.explorer_widget import ExplorerWidget
    from widgets.guide_widget import GuideWidget
    from widgets.library_widget import LibraryWidget

__all__ = [
    "Answer",
    "ExplorerWidget",
    "FrontEndMissing",
    "GuideWidget",
    "LibraryWidget",
    "Refusal",
    "front_end",
    "front_end_file",
    "front_end_layout",
    "front_end_notices",
]

_HOMES = {
    "ExplorerWidget": "explorer_widget",
    "GuideWidget": "guide_widget",
    "LibraryWidget": "library_widget",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in {"anywidget", "ipywidgets", "traitlets"}:
            raise
        raise FrontEndMissing(
            f"The interactive view needs {error.name}, which is not installed: "
            'pip install "export-explorer[notebook]"'
        ) from error
