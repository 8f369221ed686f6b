"""The server of the Model Context Protocol: the calls of the command line and of Python, as tools.

The server runs none of the user's code. A separate process has the session: it imports torch, runs
the user's code, can be interrupted, and may crash without the server. `SKILL.md` tells a client
when to use which tool.
"""
