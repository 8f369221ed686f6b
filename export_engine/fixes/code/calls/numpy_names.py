"""What NumPy's functions, methods, keywords and dtypes are called in torch."""

from __future__ import annotations

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
