"""Rules for calls: a pattern, a guard, a template of the same with other ops, and why.

`match` applies them; tables of them are in the modules beside it.
"""
