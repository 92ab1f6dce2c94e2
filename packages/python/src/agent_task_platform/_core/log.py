"""The log of the package: the logger `agent_task_platform` of `logging`. Lines have no secrets, and no content of tasks."""

from __future__ import annotations

import logging
import os

LOG = logging.getLogger("agent_task_platform")

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR, "off": logging.CRITICAL + 1}


def set_up_log() -> None:
    """Follows the environment variable `ATP_LOG`. Raises ValueError for an unknown level."""
    level = os.environ.get("ATP_LOG")
    if not level:
        return
    if level not in _LEVELS:
        raise ValueError(f"ATP_LOG: must be one of {', '.join(_LEVELS)}")
    LOG.setLevel(_LEVELS[level])
    if not LOG.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        LOG.addHandler(handler)
