"""The front end: anywidget classes, and their TypeScript under `frontend/`.

It receives Records as bytes and sends requests back; it knows neither torch nor the engine.
"""

from widgets.bundle import FrontEndMissing
from widgets.bundle import bundle as front_end
from widgets.bundle import bundle_file as front_end_file
from widgets.bundle import layout as front_end_layout
from widgets.bundle import notices as front_end_notices
from widgets.explorer_widget import Answer, ExplorerWidget, Refusal
from widgets.library_widget import LibraryWidget

__all__ = [
    "Answer",
    "ExplorerWidget",
    "FrontEndMissing",
    "LibraryWidget",
    "Refusal",
    "front_end",
    "front_end_file",
    "front_end_layout",
    "front_end_notices",
]
