"""Fixes of the user's source: functions rewritten in memory with libcst and ast, and tried."""
