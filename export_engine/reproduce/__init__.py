"""A failed attempt → a short script that fails alike; a program → a script that makes it again.

`script` writes the call as a script of its own; `reduction` makes that shorter; `trials` runs each
version in another process; `export_script` adds all that an export was made with. Nothing of the
user's is changed, and no weight is written down. The user's own code runs there, and parts of it.
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
