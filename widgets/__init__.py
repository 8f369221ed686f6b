"""The front end: anywidget classes, and their TypeScript under `frontend/`.

It is handed Records as bytes and sends questions back; it knows neither torch nor the engine.
"""

from widgets.bundle import FrontEndMissing, bundle
from widgets.explorer_widget import Answer, ExplorerWidget, Refusal

__all__ = ["Answer", "ExplorerWidget", "FrontEndMissing", "Refusal", "bundle"]
