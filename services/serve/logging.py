"""Logging of `matchpost` processes: lines on standard error, all in one format."""

import logging
import sys
import time


def log_to_stderr(role: str, level: int = logging.INFO) -> None:
    """Log this process to standard error, each line as UTC time, role, level and message.

    `role` distinguishes the processes of one machine (`serve`, `worker-1`). Handlers that were set
    before are replaced.
    """
    formatter = logging.Formatter(f"%(asctime)s {role} %(levelname)s %(message)s")
    formatter.converter = time.gmtime
    formatter.default_time_format = "%Y-%m-%dT%H:%M:%S"
    formatter.default_msec_format = "%s.%03dZ"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # it logs each request
    logging.getLogger("httpx").setLevel(logging.WARNING)
