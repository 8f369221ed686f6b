"""Rewrites NumPy calls with torch, for functions with the same meaning in both.

Arrays are followed through one function, name by name. An array that escapes, or is used in a way
without a torch equivalent, makes the whole rewrite unclear.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.text_edits import CannotRewrite, Piece, Rewritten, Source
from export_engine.fixes.rules.factories import by_arange

SAME = [
    *("abs", "absolute", "add", "arccos", "arcsin", "arctan", "ceil", "cos", "cosh"),
    *("cumsum", "divide", "exp", "expm1", "floor", "isfinite", "isinf", "isnan", "log"),
    *("log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "matmul"),
    *("maximum", "minimum", "multiply", "negative", "power", "prod", "reciprocal"),
    *("sign", "sin", "sinh", "sqrt", "square", "subtract", "sum", "mean", "tan", "tanh"),
    *("where", "zeros_like", "ones_like", "stack", "outer", "einsum", "trunc"),
    *("amax", "amin", "arctan2", "argmax", "argmin", "cumprod", "deg2rad", "diff", "dstack"),
    *("hstack", "hypot", "kron", "logaddexp", "moveaxis", "rad2deg", "ravel", "round", "sinc"),
    *("squeeze", "swapaxes", "tril", "triu", "vstack"),
]
CALLED = {name: name for name in SAME} | {
    "clip": "clamp",
    "max": "amax",
    "min": "amin",
    "concatenate": "cat",
    "power": "pow",
    "rint": "round",
    "expand_dims": "unsqueeze",
}
FORMULAS = {
    "interp": "(lambda *given: (lambda x, xp, fp: (lambda at: fp[at - 1] + (fp[at] - fp[at - 1]) "
    "* ((x - xp[at - 1]) / (xp[at] - xp[at - 1])).clamp(0, 1))"
    "({torch}.searchsorted(xp, x).clamp(1, xp.shape[0] - 1)))"
    "(*[{torch}.as_tensor(one, dtype={torch}.float64) for one in given]))",
    "ptp": "(lambda x, dim=(), keepdim=False: x.amax(dim, keepdim) - x.amin(dim, keepdim))",
}
"""Functions that torch does not have: what is called in their place, with `{torch}`."""
BOUNDS = {"maximum": "min", "minimum": "max"}
"""What `torch.clamp` calls the number that one of these is given beside an array."""
KEYWORDS = {"axis": "dim", "keepdims": "keepdim", "a_min": "min", "a_max": "max"}
METHODS = {
    "sum": "sum",
    "mean": "mean",
    "prod": "prod",
    "cumsum": "cumsum",
    "clip": "clamp",
    "copy": "clone",
    "reshape": "reshape",
    "all": "all",
    "any": "any",
    "max": "amax",
    "min": "amin",
    "argmax": "argmax",
    "argmin": "argmin",
    "cumprod": "cumprod",
    "flatten": "flatten",
    "ravel": "ravel",
    "round": "round",
    "squeeze": "squeeze",
    "swapaxes": "swapaxes",
}
MADE = {
    "hanning": ("hann_window", "{0}, False"),
    "hamming": ("hamming_window", "{0}, False"),
    "blackman": ("blackman_window", "{0}, False"),
    "bartlett": ("bartlett_window", "{0}, False"),
    "kaiser": ("kaiser_window", "{0}, False, {1}"),
    "linspace": ("linspace", "{0}, {1}, {2}"),
}
"""Of functions that make an array of a size, torch's and what it is given."""
TAKES_DTYPE = ("zeros", "ones", "arange", "linspace")
DTYPES = {
    **{text: text for text in ("float16", "float32", "float64", "complex64", "complex128")},
    **{text: text for text in ("int8", "int16", "int32", "int64", "uint8", "bool")},
    "bool_": "bool",
    "float": "float64",
    "int": "int64",
    "half": "float16",
    "single": "float32",
    "double": "float64",
    "float_": "float64",
    "int_": "int64",
}
"""torch's dtype by NumPy's name of it, or Python's class. That `int` has 64 bits also holds on
Windows since NumPy 2."""
CAST = {"FloatTensor": "float32", "DoubleTensor": "float64", "LongTensor": "int64"}
"""Classes that make a tensor of an array, and the dtype of each."""


_BACK = ("from_numpy", "as_tensor", "tensor")
_PLACED = ("dtype", "device")
"""Keywords that `Tensor.to` also accepts."""
_ATTRIBUTES = ("shape", "ndim", "T")


def _is_float(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is float


def _without_its_end(node: ast.Call) -> bool:
    """Whether the only keyword is `endpoint=False`."""
    names = [keyword.arg for keyword in node.keywords]
    values = [keyword.value for keyword in node.keywords if isinstance(keyword.value, ast.Constant)]
    return names == ["endpoint"] and [value.value for value in values] == [False]


def with_torch(text: str, line: int) -> Rewritten:
    """The text with the NumPy code of the function at a line written with torch."""
    source = Source(text, line)
    rewriter = _Arrays(source)
    for statement in source.function.body:
        rewriter.statement(statement)
    if not rewriter.pieces:
        raise CannotRewrite("there is no array in the function at that line")
    return source.replace(rewriter.pieces)


class _Arrays:
    """Finds the arrays of a function and the replacements for their uses."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.numpy = source.names_of("numpy")
        self.names: set[str] = set()
        self.pieces: list[Piece] = []

    def statement(self, node: ast.stmt) -> None:
        """Follows one statement; those in its blocks too."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            array = self.is_array(node.value)
            target = node.targets[0]
            if isinstance(target, ast.Name):
                (self.names.add if array else self.names.discard)(target.id)
            elif array or self._uses_array(target):
                raise CannotRewrite(f"`{self.source.of(target)}` may be an array")
            return
        if isinstance(node, ast.Return | ast.Expr):
            if node.value is not None and self.is_array(node.value):
                raise CannotRewrite(
                    "the function returns an array, or calls NumPy only for a side effect"
                )
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and self._uses_array(node):
            raise CannotRewrite("an array is used in an inner function")
        if self._uses_array(node):
            raise CannotRewrite(f"the use of an array on line {node.lineno} cannot be rewritten")

    def _uses_array(self, node: ast.AST) -> bool:
        """Whether an array is used anywhere in a piece of code."""
        return any(
            (isinstance(inner, ast.Name) and inner.id in (self.names | self.numpy))
            or (isinstance(inner, ast.Attribute) and inner.attr == "numpy")
            for inner in ast.walk(node)
        )

    def is_array(self, node: ast.expr) -> bool:
        """Whether an expression is an array; records its replacement."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.BinOp):
            sides = [self.is_array(node.left), self.is_array(node.right)]
            return any(sides)
        if isinstance(node, ast.Compare):
            sides = [self.is_array(expression) for expression in (node.left, *node.comparators)]
            return any(sides)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self.is_array(node.operand)
        if isinstance(node, ast.Subscript):
            if self._uses_array(node.slice):
                raise CannotRewrite("an index is an array")
            return self.is_array(node.value)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Tuple | ast.List):
            sides = [self.is_array(expression) for expression in node.elts]
            return any(sides)
        if self._uses_array(node):
            raise CannotRewrite(
                f"`{self.source.of(node)}` uses an array in a way that cannot be rewritten"
            )
        return False

    def _attribute(self, node: ast.Attribute) -> bool:
        if isinstance(node.value, ast.Name) and node.value.id in self.numpy:
            if node.attr not in ("pi", "e", "inf", "nan"):
                raise CannotRewrite(f"`{self.source.of(node)}` has no torch equivalent here")
            self._replace(node.value, self.source.torch)
            return False
        array = self.is_array(node.value)
        if array and node.attr not in _ATTRIBUTES:
            raise CannotRewrite(f"`.{node.attr}` of an array has no torch equivalent here")
        return array and node.attr == "T"

    def _call(self, node: ast.Call) -> bool:
        function = node.func
        if not isinstance(function, ast.Attribute):
            if any(self._uses_array(inner) for inner in ast.walk(node)):
                raise CannotRewrite(f"`{self.source.of(function)}` receives a NumPy result")
            return False
        owner = function.value
        if function.attr == "numpy" and not node.args and not node.keywords:
            if self.is_array(owner):
                raise CannotRewrite("an array has no `.numpy()`")
            self.pieces.append(Piece(self.source.end(owner), self.source.end(node), ""))
            return True
        if isinstance(owner, ast.Name) and owner.id in self.numpy:
            return self._numpy_function(node, function)
        if self.source.of(owner) in self.source.names_of("torch") and function.attr in _BACK:
            return self._back(node, function)
        if self.source.of(owner) in self.source.names_of("torch") and function.attr in CAST:
            return self._cast(node, function)
        if self.is_array(owner):
            if function.attr == "astype":
                return self._astype(node, function)
            return self._method(node, function)
        expressions = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(self.is_array(expression) for expression in expressions):
            raise CannotRewrite(f"`{self.source.of(function)}` receives an array")
        return False

    def _numpy_function(self, node: ast.Call, function: ast.Attribute) -> bool:
        text = self._replace_constructor(node, function.attr)
        if text is not None:
            self._replace(node, text)
            return True
        called, formula = CALLED.get(function.attr), FORMULAS.get(function.attr)
        if called is None and formula is None:
            raise CannotRewrite(f"`{self.source.of(function)}` has no torch equivalent here")
        arrays = [self.is_array(expression) for expression in node.args]
        if not any(arrays):
            raise CannotRewrite(f"`{self.source.of(node)}` computes with NumPy's own values")
        bound = BOUNDS.get(function.attr)
        if bound and len(arrays) == 2 and not all(arrays):
            called = "clamp"
            for argument, array in zip(node.args, arrays, strict=True):
                start = self.source.start(argument)
                self.pieces.append(Piece(start, start, "input=" if array else f"{bound}="))
        torch = self.source.torch
        self._replace(function, formula.format(torch=torch) if formula else f"{torch}.{called}")
        self._keywords(node)
        return True

    def _replace_constructor(self, node: ast.Call, name: str) -> str | None:
        """An expression equal to a call that creates an array of a given size, or None."""
        if [keyword.arg for keyword in node.keywords] == ["dtype"] and name in TAKES_DTYPE:
            dtype = self._dtype(node.keywords[0].value)
            message = self._replace_constructor(ast.Call(node.func, node.args, []), name)
            rounds = name == "linspace" and "float" not in f"{dtype}"  # down, and not towards 0
            return None if message is None or dtype is None or rounds else f"{message}.to({dtype})"
        if any(self._uses_array(other_node) for other_node in [*node.args, *node.keywords]):
            return None
        texts, torch = [self.source.of(argument) for argument in node.args], self.source.torch
        function, form = MADE.get(name, ("", ""))
        if form and len(texts) == form.count("{") and not node.keywords:
            text = f"f({form.format(*texts)}, dtype={torch}.float64)"
            call = ast.parse(text, mode="eval").body
            assert isinstance(call, ast.Call)
            return by_arange(call, function, torch, ast.unparse)
        if name in ("zeros", "ones") and len(node.args) == 1 and not node.keywords:
            return f"{torch}.{name}({texts[0]}, dtype={torch}.float64)"
        if name == "arange" and not node.keywords and not any(map(_is_float, node.args)):
            return f"{torch}.arange({', '.join(texts)})"
        if name == "linspace" and len(texts) == 3 and _without_its_end(node):
            start, end, steps = (f"({other_text})" for other_text in texts)
            width = f"({end} - {start}) / {torch}.sym_max({steps}, 1)"
            return f"({start} + {width} * {torch}.arange({steps}, dtype={torch}.float64))"
        return None

    def _cast(self, node: ast.Call, function: ast.Attribute) -> bool:
        """A tensor of a dtype made of an array."""
        if len(node.args) != 1 or node.keywords or not self.is_array(node.args[0]):
            return False
        self._replace(function, "")
        start, end = self.source.end(node.args[0]), self.source.end(node)
        dtype = f"{self.source.torch}.{CAST[function.attr]}"
        self.pieces.append(Piece(start, end, f").to({dtype}, copy=True)"))
        return False

    def _astype(self, node: ast.Call, function: ast.Attribute) -> bool:
        """An array of another dtype."""
        dtype = self._dtype(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        if dtype is None:
            raise CannotRewrite(f"`{self.source.of(node)}` has no torch equivalent here")
        end = self.source.end(function)
        self.pieces.append(Piece(end - len(function.attr), end, "to"))
        self._replace(node.args[0], dtype)
        return True

    def _dtype(self, node: ast.expr) -> str | None:
        """torch's dtype for NumPy's: `np.float32`, `"float32"`, `float`."""
        name = ""
        if isinstance(node, ast.Attribute) and self.source.of(node.value) in self.numpy:
            name = node.attr
        elif isinstance(node, ast.Name) and node.id in ("float", "int", "bool"):
            name = node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value
        return f"{self.source.torch}.{DTYPES[name]}" if name in DTYPES else None

    def _method(self, node: ast.Call, function: ast.Attribute) -> bool:
        called = METHODS.get(function.attr)
        if function.attr == "transpose" and len(node.args) > 1:
            called = "permute"
        if called is None or any(self._uses_array(argument) for argument in node.args):
            raise CannotRewrite(f"`.{function.attr}()` of an array has no torch equivalent here")
        end = self.source.end(function)
        self.pieces.append(Piece(end - len(function.attr), end, called))
        self._keywords(node)
        return True

    def _back(self, node: ast.Call, function: ast.Attribute) -> bool:
        """An array made a tensor again: it is one already."""
        array = len(node.args) == 1 and self.is_array(node.args[0])
        if not array:
            return False
        if any(k.arg not in _PLACED or self._uses_array(k.value) for k in node.keywords):
            raise CannotRewrite(f"`{self.source.of(function)}` does more than convert its value")
        self._replace(function, "")
        start, end = self.source.end(node.args[0]), self.source.end(node)
        copied = function.attr == "tensor"
        if node.keywords:
            texts = [self.source.of(keyword) for keyword in node.keywords]
            after = f").to({', '.join([*texts, *(['copy=True'] if copied else [])])})"
            self.pieces.append(Piece(start, end, after))
        elif copied:
            self.pieces.append(Piece(end, end, ".clone()"))
        return False

    def _keywords(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if (
                keyword.arg is None
                or keyword.arg not in KEYWORDS
                or self._uses_array(keyword.value)
            ):
                raise CannotRewrite(
                    f"`{keyword.arg}` of a NumPy function has no torch equivalent here"
                )
            start = self.source.start(keyword)
            self.pieces.append(Piece(start, start + len(keyword.arg), KEYWORDS[keyword.arg]))

    def _replace(self, node: ast.expr, text: str) -> None:
        self.pieces.append(self.source.put(node, text))
