"""The schema of the messages between page and kernel, and its TypeScript types.

The kernel's side is `explorer/display/handlers.py`; the page's is `anywidget_host.ts`.
"""
