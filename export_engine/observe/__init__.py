"""Real calls of a model → the sizes that vary: a spec to export with, and an example.

`hooks` watches calls, `seen_calls` stores them, `variation` finds the sizes that vary or are equal,
`checking` runs a program on every stored call. It exports nothing.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.observe.checking import CheckedCall as CheckedCall
    from export_engine.observe.checking import check_calls as check_calls
    from export_engine.observe.examples import example_of as example_of
    from export_engine.observe.hooks import Watch as Watch
    from export_engine.observe.seen_calls import MOST_BYTES as MOST_BYTES
    from export_engine.observe.seen_calls import SeenCalls as SeenCalls
    from export_engine.observe.variation import Group as Group
    from export_engine.observe.variation import difference as difference
    from export_engine.observe.variation import groups_of as groups_of
else:
    __getattr__, __dir__ = lazy_names(__name__)
