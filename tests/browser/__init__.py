"""Tests in Chromium, most of them in a real JupyterLab."""
