"""A failed attempt → a short script with the same failure; a program → a script that exports it.

`script` writes the call as a script; `reduction` makes it shorter; `trials` runs each version in a
separate process; `export_script` adds everything that the export needs. The user's objects do not
change, and no weight is written. The user's own code, and parts of it, run in those processes.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.reproduce.export_script import NoScript as NoScript
    from export_engine.reproduce.export_script import write_export_script as write_export_script
    from export_engine.reproduce.reproduction import NotReproduced as NotReproduced
    from export_engine.reproduce.reproduction import Reproduction as Reproduction
    from export_engine.reproduce.reproduction import reproduce as reproduce
else:
    __getattr__, __dir__ = lazy_names(__name__)
