"""An einsum as the products of matrices that torch makes of it: two operands at a time."""

from __future__ import annotations

import string
from typing import NamedTuple

from export_engine.cost.op_call import OpCall
from export_engine.record import Size


class Step(NamedTuple):
    """A product of two operands, as letters."""

    left: str
    right: str
    kept: str
    """The letters of the product."""

    @property
    def is_sum(self) -> bool:
        """Whether it sums over a dim: else, torch multiplies element by element."""
        return bool(self.summed)

    @property
    def batch(self) -> str:
        """The letters that both operands have and the product keeps."""
        return "".join(
            letter for letter in self.kept if letter in self.left and letter in self.right
        )

    @property
    def rows(self) -> str:
        """The letters of the product that only the left operand has."""
        return "".join(letter for letter in self.kept if letter not in self.right)

    @property
    def columns(self) -> str:
        """The letters of the product that only the right operand has."""
        return "".join(letter for letter in self.kept if letter not in self.left)

    @property
    def summed(self) -> str:
        """The letters that are summed over."""
        both = (letter for letter in self.left if letter in self.right)
        return "".join(sorted(letter for letter in both if letter not in self.kept))

    @property
    def layout(self) -> str:
        """The letters of the product in the order in which it is in memory."""
        return self.batch + self.rows + self.columns if self.is_sum else self.kept


class Contraction(NamedTuple):
    """An einsum, read. Dims are letters; what `...` stands for has letters of its own."""

    operands: tuple[str, ...]
    result: str
    sizes: dict[str, Size]

    def steps(self) -> list[Step]:
        """The products of two, each of what was computed so far and the next operand."""
        steps, left = list[Step](), self.operands[0]
        order = [*dict.fromkeys(self.result), *sorted({*"".join(self.operands)} - {*self.result})]
        for at, right in enumerate(self.operands[1:], 1):
            after = {*self.result, *"".join(self.operands[at + 1 :])}
            kept = "".join(item for item in order if item in left + right and item in after)
            steps.append(Step(left, right, kept))
            left = kept
        return steps

    def sizes_per_product(self) -> list[list[Size]]:
        """Per product of two, the sizes that are multiplied: those kept, and those summed."""
        return [self.sizes_of(step.kept + step.summed) for step in self.steps()]

    def sizes_of(self, letters: str) -> list[Size]:
        """The size of each letter."""
        return [self.sizes.get(letter, 1) for letter in letters]


def read_einsum(call: OpCall) -> Contraction | None:
    """An `einsum`; None for one that repeats a letter in an operand, or is not read."""
    equation = call.value("equation")
    shapes = [call.type_of(node).shape for node in call.nodes("tensors")]
    if not isinstance(equation, str) or not shapes:
        return None
    inputs, arrow, result = equation.replace(" ", "").partition("->")
    operands = inputs.split(",")
    if len(operands) != len(shapes):
        return None
    if not arrow:  # letters that occur once, in their order
        letters = inputs.replace(",", "").replace("...", "")
        result = "..." + "".join(sorted(item for item in letters if letters.count(item) == 1))
    hidden = [
        len(shape) - len(operand.replace("...", ""))
        for operand, shape in zip(operands, shapes, strict=True)
    ]
    free = [letter for letter in string.ascii_letters if letter not in inputs]
    if not 0 <= min(hidden) <= max(hidden) <= len(free):
        return None
    dots = "".join(free[: max(hidden)])
    written = [
        operand.replace("...", dots[len(dots) - count :])
        for operand, count in zip(operands, hidden, strict=True)
    ]
    sizes: dict[str, Size] = {}
    for operand, shape in zip(written, shapes, strict=True):
        if len(operand) != len(shape) or len(set(operand)) < len(operand):
            return None
        sizes |= {letter: size for letter, size in zip(operand, shape, strict=True) if size != 1}
    return Contraction(tuple(written), result.replace("...", dots), sizes)
