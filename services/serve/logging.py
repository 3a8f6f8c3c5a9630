"""The log of a process of `matchpost`: lines on standard error, one form for all."""

import logging
import sys
import time


def log_to_stderr(role: str, level: int = logging.INFO) -> None:
    """Send what is logged in this process to standard error: UTC time, role, level, message.

    `role` tells the processes of one machine apart (`serve`, `worker-1`). Replaces handlers that
    were set before.
    """
    formatter = logging.Formatter(f"%(asctime)s {role} %(levelname)s %(message)s")
    formatter.converter = time.gmtime
    formatter.default_time_format = "%Y-%m-%dT%H:%M:%S"
    formatter.default_msec_format = "%s.%03dZ"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=level, handlers=[handler], force=True)
