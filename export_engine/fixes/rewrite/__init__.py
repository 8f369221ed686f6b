"""One rewriter of control flow: parse, normal form, facts from a run, lowerings, and a printer.

A function whose `if`, `for` or `while` torch.export cannot decide is rewritten as a whole: all such
sites at once. Only the statements that change are printed again.
"""
