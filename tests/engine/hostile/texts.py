"""Texts that are more than they should be."""

from __future__ import annotations

RAN = "code-of-the-archive-ran"
"""A folder that there is once code of an archive has run."""
MARKUP = "<img src=x onerror=alert(1)>"

CODE = (
    f"__import__('os').mkdir('{RAN}')",
    f"x=__import__('os').mkdir('{RAN}')",
    f"x: __import__('os').mkdir('{RAN}') = 1",
    f"x):\n    import os; os.mkdir('{RAN}')\ndef g(",
    f"lambda: __import__('os').mkdir('{RAN}')",
    f"exec(\"import os; os.mkdir('{RAN}')\")",
    "().__class__.__mro__[1].__subclasses__()",
    "*args, **kwargs",
    "self.__class__",
    "import antigravity",
    "antigravity.webbrowser",
)
NAMES = (
    *CODE,
    MARKUP,
    f"</script><script>{MARKUP}</script>",
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
    "\r\nexported, non-strict, 1 op",
    "a\x00b",
    "\u202egnp.exe",
    "\u2028\u2029\ufeff",
    "",
    " ",
    "class",
    "__builtins__",
    "../../../../../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "libc.so.6",
    "${HOME}`id`$(id)",
    "%s%n%d {0.__class__} {self}",
    "n" * 200_000,
    "é" * 3_000,
    "1" * 10_000,
)

SIZES = (
    *CODE,
    "9**9**9",
    "9**9**9**9",
    "((9**64)**64)**64",
    "2**(2**100)",
    "s77**s77**s77",
    "10**1000000",
    "-" * 5_000 + "1",
    "(" * 5_000 + "1" + ")" * 5_000,
    "~" * 100_000 + "1",
    "1+" * 50_000 + "1",
    "s77*" * 2_000 + "1",
    "*".join(f"(s77+{n})" for n in range(300)),
    "factorial(10000000)",
    "Pow(Integer(9), Pow(Integer(9), Integer(9)))",
    "Pow(Symbol('s77'), Integer(1000000000))",
    "expand((s77+1)**100000)",
    "Symbol(\"__import__('os').system('id')\")",
    f"Symbol('{MARKUP}')",
    "Symbol('s77', commutative=False)",
    "Function('f')(s77)",
    "Integer('" + "9" * 100_000 + "')",
    "9" * 100_000,
    "1e999999999",
    "0x" + "f" * 10_000,
    "1/0",
    "Mod(s77, 0)",
    "FloorDiv(s77, 0)",
    "s77 // 0",
    "Max(" + ", ".join(f"s{n}" for n in range(3_000)) + ")",
    "Piecewise((1, s77 > 2), (0, True))",
    "Eq(s77, s77, s77)",
    "oo - oo",
    "zoo",
    "nan",
    "sympify('1')",
    "S('1')",
    "parse_expr('1')",
    "lambdify((s77,), s77)",
    "Matrix(1000000, 1000000, 0)",
    "1 << 10000000000",
    "open('/etc/passwd').read()",
    "s77 if s77 else s77",
    "[s77 for s77 in range(10**9)]",
    "f'{9**9**9}'",
    "s77.is_prime",
    "'a' * 10**10",
    "b'a'",
    "s77; s77",
    "s77\n#",
    "\x00",
    "",
)

SLOW = {
    "blank lines": " \n" * 14_000,
    "a format": "'%" + "0" * 28_000,
    "formats": ("'%" + "0" * 1_900 + "\n") * 14,
    "names of characters": "'\\N{" * 5_000,
    "brackets": "(" * 200_000,
    "indents": "\n".join(" " * n + "if x:" for n in range(2_000)),
}
"""Source texts that a highlighter or a parser may take very long for."""

GUARDS = (
    *(f"L['x'].size()[0] == {text}" for text in SIZES[:40]),
    *(f"{text}" for text in CODE),
    "L['x'].__class__.__init__.__globals__",
    f"L['{MARKUP}'].size()[0] >= 2",
    "not " * 20_000 + "True",
    "L['x']" + "[0]" * 20_000 + " == 1",
)

SPECS = (
    '[1, {"type": "os.system", "context": "[\\"id\\"]", "children_spec": []}]',
    '[1, {"type": "builtins.eval", "context": "1", "children_spec": []}]',
    '[1, {"type": "collections.namedtuple", "context": "\\"os.system\\"", "children_spec": []}]',
    '[1, {"type": "builtins.dict", "context": "[" , "children_spec": []}]',
    '[1, {"type": "builtins.dict", "context": "[\\"a\\"]", "children_spec": []}]',
    '[1, {"type": "builtins.dict", "context": "' + "[" * 5_000 + '", "children_spec": []}]',
    '[1, {"type": "builtins.tuple", "context": "null", "children_spec": 3}]',
    '[1, {"type": "builtins.tuple", "context": {"a": 1}, "children_spec": [null]}]',
    '[99, {"type": null, "context": null, "children_spec": []}]',
    "[1, " + '{"type": "builtins.list", "context": "null", "children_spec": [' * 3_000,
    "[1, "
    + '{"type": "builtins.list", "context": "null", "children_spec": [' * 300
    + '{"type": null, "context": null, "children_spec": []}'
    + "]}" * 300
    + "]",
    '[1, {"type": "builtins.list", "context": "null", "children_spec": ['
    + ", ".join(['{"type": null, "context": null, "children_spec": []}'] * 50_000)
    + "]}]",
    "[" * 100_000,
    "null",
    "1",
    "",
    "not json",
    '[1, {"type": "antigravity.fly", "context": "null", "children_spec": []}]',
    '[1, {"type": "transformers.DynamicCache", "context": "null", "children_spec": []}]',
)

STACKS = (
    'File "/etc/passwd", line 1, in forward',
    'File "/etc/passwd", line 1, in forward\n    root',
    'File "/proc/self/environ", line 1, in x',
    'File "/dev/zero", line 1, in x',
    'File "{here}", line 1, in x',
    'File "../../secret.py", line 3, in x',
    f'File "{MARKUP}.py", line 1, in {MARKUP}\n    {MARKUP}',
    'File "\x1b[2J.py", line 1, in \x1b[31m',
    'File "a.py", line -5, in x',
    'File "a.py", line 99999999999999999999, in x',
    'File "a.py", line 1e5, in x',
    'File "https://example.com/a.py", line 1, in x',
    'File "a.py", line 1, in x\n' * 30_000,
    "File " * 100_000,
    'File "' + "a" * 500_000 + '", line 1, in x',
    'File "' * 50_000,
    "\n" * 300_000,
    " " * 300_000,
)

MODULE_STACKS = (
    *(f"L__self__,{text},m.M" for text in NAMES[:20]),
    ";".join(f"L__self___a{n},a{n},m.M" for n in range(30_000)),
    ";" * 200_000,
    "," * 200_000,
    "L__self__," + "a." * 50_000 + "b,m.M",
)
