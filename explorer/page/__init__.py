"""Between the page and the kernel: the schema of what is asked and answered, and its TypeScript.

The kernel's side is `explorer/page_answers.py`; the page's, `anywidget_host.ts` of the front end.
"""
