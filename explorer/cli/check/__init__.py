"""`export-explorer check`: exports the models of a config, and reports problems, for CI.

config ─▶ Targets ─check─▶ Checked, with its Problems ─reports─▶ text, JSON, SARIF, JUnit
"""

from explorer.cli.check.check_command import main
from explorer.cli.check.check_target import Checked, check
from explorer.cli.check.config import ConfigError, Target, targets_of
from explorer.cli.check.problem import Problem

__all__ = ["Checked", "ConfigError", "Problem", "Target", "check", "main", "targets_of"]
