"""The top level of a program's graph, from its Record: scopes, ops and edges.

Shared by the static picture and the DOT text. A node inside a scope counts for the outermost scope
below the root, one that a helper made for the helper; sizes-only ops and held tensors are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from export_engine.record import OPS, Graph, Record

_PLACEHOLDER, _GET_ATTR, _OUTPUT = (OPS.index(op) for op in ("placeholder", "get_attr", "output"))

_COMFORTABLE = 12
"""How many blocks are shown without folding."""


@dataclass
class Block:
    """A box of the picture."""

    title: str
    subtitle: str
    kind: str
    """`input`, `op`, `scope` (a module, or what a helper made) or `output`."""
    type: str = ""
    """The type of its output; of a scope, its last op's."""
    ops: int = 0
    inputs: dict[int, str] = field(default_factory=dict)
    """Number of the block it reads, and the type on that edge.

    A module that runs several times reads what was made of its own results: a later block.
    """


def top_blocks(record: Record) -> list[Block]:
    """The blocks in execution order."""
    if not record.graphs:
        return []
    return _Blocks(record, record.graphs[0]).made


def few_blocks(record: Record) -> list[Block]:
    """A copy with chains of ops folded, if there are many."""
    blocks = top_blocks(record)
    return join_chains(blocks) if len(blocks) > _COMFORTABLE else blocks


def full_blocks(record: Record) -> list[Block]:
    """One block for each op, whatever scope it is in."""
    if not record.graphs:
        return []
    return _Blocks(record, record.graphs[0], fold=False).made


def join_chains(blocks: list[Block]) -> list[Block]:
    """The blocks with each chain of ops that feed only one another as one block."""
    readers = Counter(source for block in blocks for source in block.inputs)
    items: list[Block] = []
    place: list[int] = []
    for number, block in enumerate(blocks):
        source = next(iter(block.inputs), number)
        earlier = max(block.inputs, default=number) < number
        alone = earlier and len({place[source] for source in block.inputs}) == 1
        if alone and block.kind == blocks[source].kind == "op" and readers[source] == 1:
            head = items[place[source]]
            items[place[source]] = replace(
                head,
                title=f"{head.title.split(' → ')[0]} → {block.title}",
                type=block.type,
                ops=head.ops + block.ops,
            )
            place.append(place[source])
        else:
            items.append(block)
            place.append(len(items) - 1)
    return [
        replace(block, inputs={place[source]: text for source, text in block.inputs.items()})
        for block in items
    ]


class _Blocks:
    def __init__(self, record: Record, graph: Graph, fold: bool = True) -> None:
        self._record = record
        self._graph = graph
        self._fold = fold
        self._of_scope: dict[int, int] = {}
        self._of_group: dict[int, int] = {}
        self._callers = {
            scope: number for number, group in enumerate(graph.groups) for scope in group.scopes
        }
        self._of_node: dict[int, int] = {}
        self._user_inputs = {
            entry.node: entry for entry in record.signature.inputs if entry.kind == "user_input"
        }
        self.made: list[Block] = []
        for node in range(len(graph.name)):
            self._add(node)

    def _add(self, node: int) -> None:
        op = self._graph.op[node]
        if op == _GET_ATTR or self._graph.housekeeping[node]:
            return
        block = self._block(node, op)
        if block is None:
            return
        self._of_node[node] = block
        self.made[block].type = self._record.types[self._graph.type[node]].text
        starts = self._graph.inputs.starts
        for source in self._graph.inputs.items[starts[node] : starts[node + 1]]:
            origin = self._of_node.get(source)
            if origin is not None and origin != block:
                text = self._record.types[self._graph.type[source]].text
                self.made[block].inputs.setdefault(origin, text)

    def _block(self, node: int, op: int) -> int | None:
        if op == _PLACEHOLDER:
            entry = self._user_inputs.get(node)
            if entry is None:
                return None
            text = entry.constant or self._record.types[entry.type].text
            return self._new(Block(entry.path or entry.name, text, "input"))
        if op == _OUTPUT:
            return self._new(Block("output", "", "output"))
        scope = self._top_scope(self._graph.scope[node]) if self._fold else -1
        group = self._top_group(node, scope) if self._fold else -1
        if group >= 0:
            return self._add_to_group(group, node)
        if scope < 0:
            name = self._record.strings[self._graph.name[node]]
            title = self._record.targets[self._graph.target[node]].label
            return self._new(Block(title, name if name != title else "", "op", ops=1))
        number = self._of_scope.get(scope)
        if number is None:
            entry_scope = self._record.scopes[scope]
            cls = entry_scope.cls.rpartition(".")[2]
            number = self._of_scope[scope] = self._new(Block(entry_scope.name, cls, "scope"))
        self.made[number].ops += 1
        return number

    def _add_to_group(self, group: int, node: int) -> int:
        label = self._record.targets[self._graph.target[node]].label
        name = self._graph.groups[group].function
        number = self._of_group.get(group)
        if number is None:
            number = self._of_group[group] = self._new(Block(name or label, "", "scope"))
        elif not name:
            first = self.made[number].title.partition(" … ")[0]
            self.made[number].title = f"{first} … {label}"
        self.made[number].ops += 1
        return number

    def _top_group(self, node: int, scope: int) -> int:
        """The outermost group that a node, or the scope it counts for, is in; -1 for none."""
        of_node = self._graph.group[node] if len(self._graph.group) > 0 else -1
        group = of_node if scope < 0 else self._callers.get(scope, -1)
        while group >= 0 and self._graph.groups[group].parent >= 0:
            group = self._graph.groups[group].parent
        return group

    def _new(self, block: Block) -> int:
        self.made.append(block)
        return len(self.made) - 1

    def _top_scope(self, scope: int) -> int:
        """The outermost scope below the root that a scope is in; -1 for the root itself."""
        scopes = self._record.scopes
        if scope < 0 or scopes[scope].parent < 0:
            return -1
        while scopes[scopes[scope].parent].parent >= 0:
            scope = scopes[scope].parent
        return scope
