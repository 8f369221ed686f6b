"""Sizes: expressions of torch's symbols, read, printed and evaluated without torch and sympy.

A live program's sizes come from sympy by `torch_internals.read_sympy`, those of a file from their
text by `parse_size`; from there on they are the same.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.sizes.evaluate import ARITHMETIC as ARITHMETIC
    from export_engine.sizes.evaluate import evaluate_size as evaluate_size
    from export_engine.sizes.evaluate import find_line as find_line
    from export_engine.sizes.evaluate import has_tower as has_tower
    from export_engine.sizes.evaluate import real_power as real_power
    from export_engine.sizes.evaluate import value_of as value_of
    from export_engine.sizes.expression import Expression as Expression
    from export_engine.sizes.expression import UnreadableError as UnreadableError
    from export_engine.sizes.expression import is_negative as is_negative
    from export_engine.sizes.expression import make_expression as make_expression
    from export_engine.sizes.expression import name_symbol as name_symbol
    from export_engine.sizes.expression import negate as negate
    from export_engine.sizes.expression import number as number
    from export_engine.sizes.expression import order_terms as order_terms
    from export_engine.sizes.expression import strip_minus as strip_minus
    from export_engine.sizes.expression import substitute as substitute
    from export_engine.sizes.formula import OPERATORS as OPERATORS
    from export_engine.sizes.formula import Evaluator as Evaluator
    from export_engine.sizes.formula import Formula as Formula
    from export_engine.sizes.formula import compile_formula as compile_formula
    from export_engine.sizes.formula import evaluate_formula as evaluate_formula
    from export_engine.sizes.formula import make_formula as make_formula
    from export_engine.sizes.formula import sizes_in as sizes_in
    from export_engine.sizes.linear_constraints import Linear as Linear
    from export_engine.sizes.linear_constraints import add_linear as add_linear
    from export_engine.sizes.linear_constraints import is_impossible as is_impossible
    from export_engine.sizes.linear_constraints import linear as linear
    from export_engine.sizes.parse import parse_code as parse_code
    from export_engine.sizes.parse import parse_size as parse_size
    from export_engine.sizes.piecewise import Pieces as Pieces
    from export_engine.sizes.piecewise import solve_by_residue as solve_by_residue
    from export_engine.sizes.polynomials import Unsolved as Unsolved
    from export_engine.sizes.print_python import print_size as print_size
    from export_engine.sizes.range_solver import Condition as Condition
    from export_engine.sizes.range_solver import Progression as Progression
    from export_engine.sizes.range_solver import compile_condition as compile_condition
    from export_engine.sizes.range_solver import solve_sizes as solve_sizes
else:
    __getattr__, __dir__ = lazy_names(__name__)
