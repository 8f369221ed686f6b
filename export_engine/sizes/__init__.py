"""What a trace found out about the sizes of the inputs, and the Shapes that follow from it.

`facts` reads an attempt, `ranges` solves conditions on one size, `problems` says what of the shapes
asked for does not hold, `solution` writes others. Nothing here exports: one trace tells all of it,
also one that failed in the end.
"""

from export_engine.sizes.facts import InputDim, SizeFacts, size_facts
from export_engine.sizes.problems import Problem
from export_engine.sizes.solution import Solution, solve

__all__ = ["InputDim", "Problem", "SizeFacts", "Solution", "size_facts", "solve"]
