"""The schema of the messages between page and kernel, and its TypeScript types.

The kernel's side is `explorer/page_answers.py`; the page's, `anywidget_host.ts` of the front end.
"""
