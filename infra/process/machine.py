"""The resources that this machine, or the container, gives to a process.

The limit of open files and connections of a process, and how often it looks for garbage.
"""

import gc
import logging
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

MEMORY_PATTERN: Final = r"^([1-9][0-9]?%|[1-9][0-9]{0,6}(mb|gb)|off)$"
"""A limit of memory: a share of this machine's, a size, or none."""

_SIZES: Final = {"mb": 1 << 20, "gb": 1 << 30}

_CGROUP_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Files with the limit of a container's memory, of version 2 and of version 1."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def usable_memory() -> int:
    """Return the bytes of memory: those of the machine, or the container's limit if it is lower."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *(limit for path in _CGROUP_LIMITS if (limit := _limit_in(path)))])


def memory_limit(text: str) -> int:
    """Return the bytes of a limit such as `60%` or `8gb`; 0 for `off`."""
    if text == "off":
        return 0
    if text.endswith("%"):
        return usable_memory() * int(text[:-1]) // 100
    return int(text[:-2]) * _SIZES[text[-2:]]


def _limit_in(path: Path) -> int:
    """Return the limit in a file of the kernel; 0 if there is none."""
    try:
        text = path.read_text("ascii").strip()
    except (OSError, ValueError):
        return 0
    return int(text) if re.fullmatch(r"[0-9]+", text) else 0


def default_workers() -> int:
    """Return the number of usable cores less one, because the server needs one too."""
    return max(1, usable_cores() - 1)


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


_ALLOCATIONS: Final = 200_000
"""New objects after which Python looks for cycles."""


@contextmanager
def few_collections() -> Iterator[None]:
    """Look for cycles seldom: what is made meanwhile is many objects that stay, or that have none.

    It is a setting of the process, so no two threads may be in here at the same time.
    """
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
