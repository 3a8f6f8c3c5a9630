"""The table of keys as patterns, to find the row of a key on a server."""

import re
from functools import cache

from infra.redis.key_table import KEYS

OF_RQ = re.compile(r"rq:.*")


def all_rows() -> list[str]:
    return [key.name for key in KEYS]


@cache
def pattern_of(row: str) -> re.Pattern[str]:
    """The pattern of the keys that a row stands for."""
    pattern = re.escape(row)
    for written, meant in (
        (r"s07\.a1y", r"s\d\d\.[0-9a-z]+"),
        (r"\.\.\.", r".+"),
        (r"lease:0/3", r"lease:\d+/\d+"),
    ):
        pattern = pattern.replace(written, meant)
    return re.compile(re.sub(r"<\w+>", r"[^{}]+?", pattern))


def row_of(key: str, rows: list[str]) -> str | None:
    fitting = [row for row in rows if pattern_of(row).fullmatch(key)]
    return max(fitting, key=lambda row: len(row.replace("...", "")), default=None)
