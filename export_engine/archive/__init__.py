"""Archives: programs in `.pt2` files.

`read` gives the Record of a file, as data: it imports no torch and runs nothing. `load` has torch
make a program of one; `save` writes one.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.archive.copying import Content as Content
    from export_engine.archive.copying import private_copy as private_copy
    from export_engine.archive.errors import ArchiveError as ArchiveError
    from export_engine.archive.reading import ReadArchive as ReadArchive
    from export_engine.archive.reading import read as read
    from export_engine.archive.torch_archive import RECORD as RECORD
    from export_engine.archive.torch_archive import load as load
    from export_engine.archive.torch_archive import save as save
else:
    __getattr__, __dir__ = lazy_names(__name__)
