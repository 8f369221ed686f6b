"""Fixes of the user's source: functions rewritten in memory, and tried."""
