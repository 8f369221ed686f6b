"""Rules for calls: a pattern, a guard, a template of the same with other ops, and why.

`match` applies them; their tables are in the modules next to it.
"""
