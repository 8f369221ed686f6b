"""With which code the command line exits."""

OK, BAD, USAGE, UNCHECKED, DEFECT = 0, 1, 2, 3, 4
"""All is well; an export or a run failed, programs differ or a guarantee is broken; misuse; nothing
is wrong as far as was checked, and something that could be checked was not; Export Explorer itself
failed."""
