"""An einsum as the products of matrices that torch makes of it: two operands at a time."""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import NamedTuple

from export_engine.cost.op_call import OpCall
from export_engine.record import Size


class Contraction(NamedTuple):
    """An einsum, read. Dims are letters; what `...` stands for has letters of its own."""

    operands: tuple[str, ...]
    result: str
    sizes: dict[str, Size]

    def steps(self) -> list[tuple[str, str, str]]:
        """Per product of two: the letters of both operands, and of what it gives."""
        steps, left = list[tuple[str, str, str]](), self.operands[0]
        for at, right in enumerate(self.operands[1:], 1):
            after = {*self.result, *"".join(self.operands[at + 1 :])}
            kept = "".join(letter for letter in dict.fromkeys(left + right) if letter in after)
            steps.append((left, right, kept))
            left = kept
        return steps

    def sizes_per_product(self) -> list[list[Size]]:
        """Per product of two, the sizes that are multiplied: those kept, and those summed."""
        return [
            self._of(dict.fromkeys([*kept, *(letter for letter in left if letter in right)]))
            for left, right, kept in self.steps()
        ]

    @property
    def intermediates(self) -> list[list[Size]]:
        """The shape of each product but the last."""
        return [self._of(kept) for _, _, kept in self.steps()[:-1]]

    @property
    def is_sum(self) -> bool:
        """Whether a product sums over a dim: else, torch multiplies element by element."""
        return any(
            letter not in kept
            for left, right, kept in self.steps()
            for letter in left
            if letter in right
        )

    def dims_merging(self, at: int) -> list[list[int]]:
        """Of two operands: the dims of one that become one dim of a matrix, in their order."""
        own, other = self.operands[at], self.operands[1 - at]
        batch = [letter for letter in self.result if letter in own and letter in other]
        alone = [letter for letter in self.result if letter in own and letter not in other]
        summed = [letter for letter in own if letter in other and letter not in self.result]
        return [[own.index(letter) for letter in part] for part in (batch, alone, summed)]

    @property
    def matrix(self) -> tuple[list[Size], list[Size], list[Size]]:
        """Of two operands: the sizes of rows, of what is summed over, and of columns."""
        left, right = self.operands
        both = {letter for letter in left if letter in right}
        return (
            self._of(letter for letter in self.result if letter in left and letter not in both),
            self._of(letter for letter in both if letter not in self.result),
            self._of(letter for letter in self.result if letter in right and letter not in both),
        )

    def _of(self, letters: Iterable[str]) -> list[Size]:
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
