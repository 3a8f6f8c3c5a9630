"""Measures how fast a disk syncs."""

import os
import statistics
import time
from pathlib import Path
from typing import Final

_SAMPLES: Final = 200
_BYTES: Final = 4_096


def median_fdatasync(folder: Path) -> float:
    """Return the median seconds of an fdatasync after appending a page to a file in the folder."""
    place = folder / ".fdatasync-probe"
    descriptor = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        return statistics.median(_one(descriptor) for _ in range(_SAMPLES))
    finally:
        os.close(descriptor)
        place.unlink()


def _one(descriptor: int) -> float:
    os.write(descriptor, bytes(_BYTES))
    began = time.perf_counter()
    os.fdatasync(descriptor)
    return time.perf_counter() - began
