"""The export engine: everything that touches torch, and nothing that draws.

    Request ─capture─▶ Attempt ─diagnose, fixes─▶ Attempt with fixes ─describe─▶ Record ─▶ bytes

Its rooms are packages, each with a face: `from export_engine.capture import capture`. From outside
of a room, only its face is imported. Importing a face costs no torch import; using a name does.
"""
