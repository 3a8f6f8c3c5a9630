"""The limit of open files and connections of a process."""

import logging
import resource
from typing import Final

logger = logging.getLogger(__name__)

TOO_FEW: Final = 4_096
"""A limit below this is too low for a server that strangers reach: each connection is a file."""


def raise_limit() -> int:
    """Raise the soft limit of open files to the hard one, and return it; children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as error:
        logger.warning("the limit of open files stays %d (%s)", soft, error)
        return soft
    return hard


def open_files() -> int:
    """Return this process's limit of open files."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def most_open_files() -> int:
    """Return the highest limit that a process of this user can set."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]
