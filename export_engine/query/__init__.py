"""Queries over a graph: `op:linear & dtype:f32 & value.max > 100` → the nodes that match.

One grammar for the search box and for Python: `fields.py` lists the fields of a node, the front
end's table is generated from it, and both sides are tested on the same cases. A query reads only
the Record; nothing is run.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.query.evaluating import query as query
    from export_engine.query.fields import FIELDS as FIELDS
    from export_engine.query.fields import Field as Field
    from export_engine.query.parsing import QueryError as QueryError
    from export_engine.query.parsing import parse as parse
else:
    __getattr__, __dir__ = lazy_names(__name__)
