"""Every limit on what an archive may hold, in one place.

Content beyond them is rejected with a sentence, or shown as text, and never computed. They are
far above what torch writes for the largest models, and low enough that any file is read or rejected
within seconds.
"""

MEMBERS = 100_000
"""Files in an archive."""
DIRECTORY_BYTES = 2**24
"""Bytes of the zip file's central directory."""
NAME = 1_000
"""Characters of the name of a member."""
JSON_BYTES = 2**28
"""Bytes of a member that is read: a program, or our Record."""
CONFIG_BYTES = 2**26
"""Bytes of a member that lists weights."""
PLAN_BYTES = 2**22
"""Bytes of a generation plan."""
SMALL_BYTES = 2**12
"""Bytes of a member that holds a version."""
RATIO = 200
"""The largest compression ratio of a member, beyond `UNPACKED_FREELY`."""
UNPACKED_FREELY = 2**22
"""Bytes; torch packs without compressing."""
UNPACKED = 2**28
"""Unpacked bytes allowed in any file."""
UNPACKED_RATIO = 100
"""Unpacked bytes allowed in a larger file, as a multiple of its size."""

JSON_DEPTH = 400
"""Nesting of lists and objects. A nested graph takes about ten levels."""
JSON_VALUES = 6_000_000
"""Values in one document. A program of 4,000 ops has 300,000."""

GRAPH_DEPTH = 32
"""Nesting of graphs."""
GRAPHS = 20_000
PROGRAMS = 64
"""Programs of a file that are read together."""
NODES = 500_000
"""Nodes of all graphs together."""
ITEMS = 100_000
"""Entries of one list in a node: arguments, results, elements of a list argument."""
ARGUMENT_DEPTH = 16
"""Nesting of dicts in an argument."""
ENTRIES = 200_000
"""Inputs, or outputs, of a program."""
MODULES = 500_000
"""Entries of the table of modules."""
RANK = 64
"""Dims of a tensor, as torch itself allows."""
INTEGER = 2**63 - 1
"""The largest magnitude of a size, a stride or a number."""
LINE = 2**31 - 1
"""The largest number of a line."""
TEXT = 1_000
"""Characters of a name, a path or a class; the rest is cut."""
STACK_TEXT = 100_000
"""Characters of a stack trace or of a module stack; more are left out."""
FRAMES = 500
"""Lines of one stack."""
SCOPES = 200
"""Nesting of modules."""
TREE_DEPTH = 64
"""Nesting of containers in an argument of the call or in a result."""
TREE_LEAVES = 200_000
SOURCE_CHARACTERS = 20_000_000
"""Of all source files in our Record together."""

FORMULA_CHARACTERS = 4_000
"""Characters of a guard that is parsed as a formula, and shown."""
SYMBOLS = 100_000
GUARDS = 20_000
"""Guards that travel with a program."""
UNKNOWN = 50
"""Fields of later versions that are kept."""
LOOKED_THROUGH = 1_000_000
"""Values of a document that is looked through for them, of which torch writes 75 an op."""
