"""The tables of keys as patterns, to find the row of a key on a server."""

import re
from functools import cache
from types import ModuleType

from infra.mail import keys as mail_keys
from infra.redis import keys

OF_RQ = re.compile(r"rq:.*")


def rows_of(module: ModuleType) -> list[str]:
    """The keys that a module's table names."""
    assert module.__doc__ is not None
    return re.findall(r"^\| `([^`]+)`", module.__doc__, re.MULTILINE)


def all_rows() -> list[str]:
    """The keys of all tables, without those that stand for others."""
    of_codes = "`{mail}:...`"
    named = [*rows_of(keys), *rows_of(mail_keys)]
    return [row for row in dict.fromkeys(named) if f"`{row}`" != of_codes]


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
    """The most exact row of a key."""
    fitting = [row for row in rows if pattern_of(row).fullmatch(key)]
    return max(fitting, key=lambda row: len(row.replace("...", "")), default=None)
