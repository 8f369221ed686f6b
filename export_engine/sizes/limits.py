"""Every limit on a size that is read from a text. Sizes beyond them stay text."""

CHARACTERS = 4_000
"""Characters of a size or a guard; a longer one is kept as text."""
CODE_CHARACTERS = 100_000
"""Characters of a guard of a program that is in memory."""
STEPS = 50_000
"""Numbers, symbols and operators of one size or formula."""
DEPTH = 48
POWER = 64
"""The largest exponent that is read as one."""
COMPUTED_POWER = 8
"""The largest exponent of a power that is computed, for the size that an example has."""
INTEGER = 2**63 - 1
"""The largest magnitude of a size, a stride or a number."""
NAME = 1_000
"""Characters of the name of a symbol."""
