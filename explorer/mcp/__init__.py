"""What a client of the Model Context Protocol can ask: the calls of the command line and of Python.

The server speaks the protocol and runs no code of the user's. A process of its own beside it keeps
the session: it imports torch, runs the user's code, can be interrupted, and may die without the
server. `SKILL.md` says to a client when to use which tool.
"""
