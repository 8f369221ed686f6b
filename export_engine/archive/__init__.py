"""Archives: programs in `.pt2` files.

`read` gives the Record of a file, as data: it imports no torch and runs nothing. `load` has torch
make a program of one; `save` writes one. `read_set` and `save_set` do so of several in one file.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.archive.copying import Content as Content
    from export_engine.archive.copying import private_copy as private_copy
    from export_engine.archive.errors import ArchiveError as ArchiveError
    from export_engine.archive.etrecord import LoweredOp as LoweredOp
    from export_engine.archive.etrecord import read_lowered_ops as read_lowered_ops
    from export_engine.archive.reading import ReadArchive as ReadArchive
    from export_engine.archive.reading import read as read
    from export_engine.archive.same_program import find_difference as find_difference
    from export_engine.archive.set_reading import KeptSet as KeptSet
    from export_engine.archive.set_reading import ReadProgram as ReadProgram
    from export_engine.archive.set_reading import ReadSet as ReadSet
    from export_engine.archive.set_reading import constants_in as constants_in
    from export_engine.archive.set_reading import program_names as program_names
    from export_engine.archive.set_reading import read_set as read_set
    from export_engine.archive.set_reading import weights_in as weights_in
    from export_engine.archive.set_saving import NAME as NAME
    from export_engine.archive.set_saving import save_set as save_set
    from export_engine.archive.several_files import list_programs as list_programs
    from export_engine.archive.several_files import unpack_programs as unpack_programs
    from export_engine.archive.torch_archive import RECORD as RECORD
    from export_engine.archive.torch_archive import load as load
    from export_engine.archive.torch_archive import save as save
    from export_engine.archive.transformers_export import ExportMetadata as ExportMetadata
    from export_engine.archive.transformers_export import holds_export as holds_export
    from export_engine.archive.transformers_export import read_export as read_export
    from export_engine.archive.transformers_export import unpack_export as unpack_export
    from export_engine.archive.weights import HeldWeight as HeldWeight
    from export_engine.archive.zip_members import read_members as read_members
else:
    __getattr__, __dir__ = lazy_names(__name__)
