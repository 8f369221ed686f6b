"""The user's code: stacks, files, cells, syntax trees, what functions refer to, printed graphs.

Reads source and runs none of it. Rewrites of it are in `fixes.code`.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.source.edited_copies import make_edited_name as make_edited_name
    from export_engine.source.edited_copies import original_file as original_file
    from export_engine.source.file_owner import LIBRARIES as LIBRARIES
    from export_engine.source.file_owner import MADE_UP as MADE_UP
    from export_engine.source.file_owner import TORCH as TORCH
    from export_engine.source.file_owner import is_own as is_own
    from export_engine.source.functions import closure_of as closure_of
    from export_engine.source.functions import function_behind as function_behind
    from export_engine.source.functions import globals_in as globals_in
    from export_engine.source.functions import has_own_methods as has_own_methods
    from export_engine.source.functions import names_in as names_in
    from export_engine.source.graph_text import items_of as items_of
    from export_engine.source.graph_text import print_graph as print_graph
    from export_engine.source.highlighting import Token as Token
    from export_engine.source.highlighting import alike_lines as alike_lines
    from export_engine.source.highlighting import python_lines as python_lines
    from export_engine.source.highlighting import spent_seconds as spent_seconds
    from export_engine.source.notebook_cells import as_typed as as_typed
    from export_engine.source.syntax import Code as Code
    from export_engine.source.syntax import Position as Position
    from export_engine.source.syntax import Question as Question
    from export_engine.source.syntax import Span as Span
    from export_engine.source.syntax import code_of as code_of
    from export_engine.source.text import SourceMissing as SourceMissing
    from export_engine.source.text import find_last_frame as find_last_frame
    from export_engine.source.text import find_last_user_frame as find_last_user_frame
    from export_engine.source.text import source_line as source_line
    from export_engine.source.text import source_lines as source_lines
    from export_engine.source.text import source_text as source_text
    from export_engine.source.text import with_sources as with_sources
    from export_engine.source.unified_diff import format_diff as format_diff
    from export_engine.source.user_errors import error_location as error_location
    from export_engine.source.user_errors import is_container_error as is_container_error
    from export_engine.source.user_errors import raise_if_users as raise_if_users
    from export_engine.source.user_errors import user_error as user_error
    from export_engine.source.user_frames import Location as Location
    from export_engine.source.user_frames import Stack as Stack
    from export_engine.source.user_frames import format_stack as format_stack
    from export_engine.source.user_frames import in_the_model as in_the_model
    from export_engine.source.user_frames import is_shown as is_shown
    from export_engine.source.user_frames import outside_helpers as outside_helpers
    from export_engine.source.user_frames import parse_stack_trace as parse_stack_trace
    from export_engine.source.user_frames import user_stack as user_stack
    from export_engine.source.user_frames import without_repeats as without_repeats
else:
    __getattr__, __dir__ = lazy_names(__name__)
