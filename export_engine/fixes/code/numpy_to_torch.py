"""Rewrites NumPy calls with torch, for functions with the same meaning in both.

Arrays are followed through one function, name by name. An array that escapes, or is used in a way
without a torch equivalent, makes the whole rewrite unclear.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.text_edits import CannotRewrite, Piece, Rewritten, Source
from export_engine.fixes.rules.factories import by_arange

_SAME = (
    *("abs", "absolute", "add", "arccos", "arcsin", "arctan", "ceil", "cos", "cosh"),
    *("cumsum", "divide", "exp", "expm1", "floor", "isfinite", "isinf", "isnan", "log"),
    *("log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "matmul"),
    *("maximum", "minimum", "multiply", "negative", "power", "prod", "reciprocal"),
    *("sign", "sin", "sinh", "sqrt", "square", "subtract", "sum", "mean", "tan", "tanh"),
    *("where", "zeros_like", "ones_like", "stack", "outer", "einsum", "trunc"),
    *("amax", "amin", "arctan2", "argmax", "argmin", "cumprod", "deg2rad", "diff", "dstack"),
    *("hstack", "hypot", "kron", "logaddexp", "moveaxis", "rad2deg", "ravel", "round", "sinc"),
    *("squeeze", "swapaxes", "tril", "triu", "vstack"),
)
_CALLED = {name: name for name in _SAME} | {
    "clip": "clamp",
    "max": "amax",
    "min": "amin",
    "concatenate": "cat",
    "power": "pow",
    "rint": "round",
    "expand_dims": "unsqueeze",
}
_FORMULAS = {
    "interp": "(lambda *given: (lambda x, xp, fp: (lambda at: fp[at - 1] + (fp[at] - fp[at - 1]) "
    "* ((x - xp[at - 1]) / (xp[at] - xp[at - 1])).clamp(0, 1))"
    "({torch}.searchsorted(xp, x).clamp(1, xp.shape[0] - 1)))"
    "(*[{torch}.as_tensor(one, dtype={torch}.float64) for one in given]))",
    "ptp": "(lambda x, dim=(), keepdim=False: x.amax(dim, keepdim) - x.amin(dim, keepdim))",
}
"""Functions that torch does not have: what is called in their place, with `{torch}`."""
_BOUNDS = {"maximum": "min", "minimum": "max"}
"""What `torch.clamp` calls the number that one of these is given beside an array."""
_KEYWORDS = {"axis": "dim", "keepdims": "keepdim", "a_min": "min", "a_max": "max"}
_METHODS = {
    name: name
    for name in (
        *("sum", "mean", "prod", "cumsum", "reshape", "all", "any", "argmax", "argmin", "cumprod"),
        *("flatten", "ravel", "round", "squeeze", "swapaxes"),
    )
} | {"clip": "clamp", "copy": "clone", "max": "amax", "min": "amin"}
_WINDOWS = {"hanning": "hann", "hamming": "hamming", "blackman": "blackman", "bartlett": "bartlett"}
_MADE = {name: (f"{ours}_window", "{0}, False") for name, ours in _WINDOWS.items()} | {
    "kaiser": ("kaiser_window", "{0}, False, {1}"),
    "linspace": ("linspace", "{0}, {1}, {2}"),
}
"""Of functions that make an array of a size, torch's and what it is given."""
_TAKES_DTYPE = ("zeros", "ones", "arange", "linspace")
_DTYPES = {
    **{text: text for text in ("float16", "float32", "float64", "complex64", "complex128")},
    **{text: text for text in ("int8", "int16", "int32", "int64", "uint8", "bool")},
    "bool_": "bool",
    "int": "int64",
    "int_": "int64",
    "half": "float16",
    "single": "float32",
    **dict.fromkeys(("float", "float_", "double"), "float64"),
}
"""torch's dtype by NumPy's name of it, or Python's class. That `int` has 64 bits also holds on
Windows since NumPy 2."""
_CAST = {"FloatTensor": "float32", "DoubleTensor": "float64", "LongTensor": "int64"}
"""Classes that make a tensor of an array, and the dtype of each."""
_BACK = ("from_numpy", "as_tensor", "tensor")
_PLACED = ("dtype", "device")
"""Keywords that `Tensor.to` also accepts."""
_ATTRIBUTES = ("shape", "ndim", "T")


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
        self.source, self.of, self.torch = source, source.of, source.torch
        self.numpy = source.names_of("numpy")
        self.names: set[str] = set()
        self.pieces: list[Piece] = []

    def statement(self, node: ast.stmt) -> None:
        """Follows one statement; those in its blocks too."""
        match node:
            case ast.Assign([target], value):
                array = self.is_array(value)
                if isinstance(target, ast.Name):
                    (self.names.add if array else self.names.discard)(target.id)
                elif array or self._uses_array(target):
                    raise CannotRewrite(f"`{self.of(target)}` may be an array")
            case ast.Return(value) | ast.Expr(value):
                if value is not None and self.is_array(value):
                    raise CannotRewrite(
                        "the function returns an array, or calls NumPy only for a side effect"
                    )
            case _ if self._uses_array(node):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    raise CannotRewrite("an array is used in an inner function")
                raise CannotRewrite(
                    f"the use of an array on line {node.lineno} cannot be rewritten"
                )

    def _uses_array(self, node: ast.AST) -> bool:
        """Whether an array is used anywhere in a piece of code."""
        return any(
            (isinstance(inner, ast.Name) and inner.id in (self.names | self.numpy))
            or (isinstance(inner, ast.Attribute) and inner.attr == "numpy")
            for inner in ast.walk(node)
        )

    def is_array(self, node: ast.expr) -> bool:
        """Whether an expression is an array; records its replacement."""
        match node:
            case ast.Name(id=name):
                return name in self.names
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.UnaryOp(op, inner) if not isinstance(op, ast.Not):
                return self.is_array(inner)
            case ast.Subscript(of, index):
                if self._uses_array(index):
                    raise CannotRewrite("an index is an array")
                return self.is_array(of)
            case ast.BinOp(left, _, right):
                parts = [left, right]
            case ast.Compare(left, _, others):
                parts = [left, *others]
            case ast.Tuple(parts) | ast.List(parts):
                pass
            case _ if self._uses_array(node):
                raise CannotRewrite(
                    f"`{self.of(node)}` uses an array in a way that cannot be rewritten"
                )
            case _:
                return False
        return self._is_any_array(parts)

    def _is_any_array(self, parts: list[ast.expr]) -> bool:
        arrays = [self.is_array(part) for part in parts]  # each records its replacement
        return any(arrays)

    def _attribute(self, node: ast.Attribute) -> bool:
        if isinstance(node.value, ast.Name) and node.value.id in self.numpy:
            if node.attr not in ("pi", "e", "inf", "nan"):
                raise CannotRewrite(f"`{self.of(node)}` has no torch equivalent here")
            self._replace(node.value, self.torch)
            return False
        array = self.is_array(node.value)
        if array and node.attr not in _ATTRIBUTES:
            raise CannotRewrite(f"`.{node.attr}` of an array has no torch equivalent here")
        return array and node.attr == "T"

    def _call(self, node: ast.Call) -> bool:
        function, values = node.func, [*node.args, *(k.value for k in node.keywords)]
        if not isinstance(function, ast.Attribute):
            if self._uses_array(node):
                raise CannotRewrite(f"`{self.of(function)}` receives a NumPy result")
            return False
        owner, name = function.value, function.attr
        if name == "numpy" and not values:
            if self.is_array(owner):
                raise CannotRewrite("an array has no `.numpy()`")
            self.pieces.append(Piece(self.source.end(owner), self.source.end(node), ""))
            return True
        if isinstance(owner, ast.Name) and owner.id in self.numpy:
            return self._numpy_function(node, function)
        if self.of(owner) in self.source.names_of("torch") and name in (*_BACK, *_CAST):
            self._back(node, function)
            return False
        if self.is_array(owner):
            return (
                self._astype(node, function) if name == "astype" else self._method(node, function)
            )
        if self._is_any_array(values):
            raise CannotRewrite(f"`{self.of(function)}` receives an array")
        return False

    def _numpy_function(self, node: ast.Call, function: ast.Attribute) -> bool:
        text = self._replace_constructor(node, function.attr)
        if text is not None:
            self._replace(node, text)
            return True
        called, formula = _CALLED.get(function.attr), _FORMULAS.get(function.attr)
        if called is None and formula is None:
            raise CannotRewrite(f"`{self.of(function)}` has no torch equivalent here")
        arrays = [self.is_array(argument) for argument in node.args]
        if not any(arrays):
            raise CannotRewrite(f"`{self.of(node)}` computes with NumPy's own values")
        bound = _BOUNDS.get(function.attr)
        if bound and len(arrays) == 2 and not all(arrays):
            called = "clamp"
            for argument, array in zip(node.args, arrays, strict=True):
                start = self.source.start(argument)
                self.pieces.append(Piece(start, start, "input=" if array else f"{bound}="))
        self._replace(
            function, formula.format(torch=self.torch) if formula else f"{self.torch}.{called}"
        )
        self._keywords(node)
        return True

    def _replace_constructor(self, node: ast.Call, name: str) -> str | None:
        """An expression equal to a call that creates an array of a given size, or None."""
        names = [keyword.arg for keyword in node.keywords]
        if names == ["dtype"] and name in _TAKES_DTYPE:
            dtype = self._dtype(node.keywords[0].value)
            text = self._replace_constructor(ast.Call(node.func, node.args, []), name)
            rounds = name == "linspace" and "float" not in f"{dtype}"  # down, and not towards 0
            return None if text is None or dtype is None or rounds else f"{text}.to({dtype})"
        if any(self._uses_array(part) for part in [*node.args, *node.keywords]):
            return None
        texts, torch = [self.of(argument) for argument in node.args], self.torch
        if name == "linspace" and len(texts) == 3 and names == ["endpoint"]:
            if ast.unparse(node.keywords[0].value) != "False":
                return None
            start, end, steps = (f"({text})" for text in texts)
            width = f"({end} - {start}) / {torch}.sym_max({steps}, 1)"
            return f"({start} + {width} * {torch}.arange({steps}, dtype={torch}.float64))"
        if names:
            return None
        function, form = _MADE.get(name, ("", ""))
        if form and len(texts) == form.count("{"):
            text = f"f({form.format(*texts)}, dtype={torch}.float64)"
            call = ast.parse(text, mode="eval").body
            assert isinstance(call, ast.Call)
            return by_arange(call, function, torch, ast.unparse)
        if name in ("zeros", "ones") and len(texts) == 1:
            return f"{torch}.{name}({texts[0]}, dtype={torch}.float64)"
        floats = [n for n in node.args if isinstance(n, ast.Constant) and type(n.value) is float]
        return f"{torch}.arange({', '.join(texts)})" if name == "arange" and not floats else None

    def _back(self, node: ast.Call, function: ast.Attribute) -> None:
        """An array made a tensor again, which it is one already, perhaps of another dtype."""
        if len(node.args) != 1 or not self.is_array(node.args[0]):
            return
        name, texts = function.attr, [self.of(keyword) for keyword in node.keywords]
        if any(k.arg not in _PLACED or self._uses_array(k.value) for k in node.keywords):
            raise CannotRewrite(f"`{self.of(function)}` does more than convert its value")
        if name in _CAST:
            if texts:
                return
            texts = [f"{self.torch}.{_CAST[name]}"]
        self._replace(function, "")
        start, end = self.source.end(node.args[0]), self.source.end(node)
        copied = ["copy=True"] if name == "tensor" or name in _CAST else []
        if texts:
            self.pieces.append(Piece(start, end, f").to({', '.join([*texts, *copied])})"))
        elif copied:
            self.pieces.append(Piece(end, end, ".clone()"))

    def _astype(self, node: ast.Call, function: ast.Attribute) -> bool:
        """An array of another dtype."""
        dtype = self._dtype(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        if dtype is None:
            raise CannotRewrite(f"`{self.of(node)}` has no torch equivalent here")
        self._rename(function, "to")
        self._replace(node.args[0], dtype)
        return True

    def _dtype(self, node: ast.expr) -> str | None:
        """torch's dtype for NumPy's: `np.float32`, `"float32"`, `float`."""
        match node:
            case ast.Attribute(owner, name) if self.of(owner) in self.numpy:
                pass
            case ast.Name("float" | "int" | "bool" as name) | ast.Constant(str() as name):
                pass
            case _:
                return None
        return f"{self.torch}.{_DTYPES[name]}" if name in _DTYPES else None

    def _method(self, node: ast.Call, function: ast.Attribute) -> bool:
        called = _METHODS.get(function.attr)
        if function.attr == "transpose" and len(node.args) > 1:
            called = "permute"
        if called is None or any(self._uses_array(argument) for argument in node.args):
            raise CannotRewrite(f"`.{function.attr}()` of an array has no torch equivalent here")
        self._rename(function, called)
        self._keywords(node)
        return True

    def _keywords(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            name = keyword.arg or ""
            if name not in _KEYWORDS or self._uses_array(keyword.value):
                raise CannotRewrite(f"`{name}` of a NumPy function has no torch equivalent here")
            start = self.source.start(keyword)
            self.pieces.append(Piece(start, start + len(name), _KEYWORDS[name]))

    def _rename(self, function: ast.Attribute, name: str) -> None:
        end = self.source.end(function)
        self.pieces.append(Piece(end - len(function.attr), end, name))

    def _replace(self, node: ast.expr, text: str) -> None:
        self.pieces.append(self.source.put(node, text))
