"""Access control of the servers: one user a role, with the commands and the keys that it needs.

A server reads the lines from its `aclfile`; the keys of each role are in `infra.redis.key_table`. Two limits are Redis'
own: a script needs every key that it names for writing, also those that it only reads; and RQ's keys are common to all
that enqueue jobs and work on them. A role may therefore do more than it does, and less than all other roles together.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from infra.redis.key_table import KEYS, Key

USER_PREFIX: Final = "matchpost-"

_COMMANDS: Final = (
    "+@read +@write +@connection +@transaction +@scripting +@pubsub -@dangerous -@admin -function -script "
    "+script|load +script|exists -scan -randomkey +info +role +time +wait +waitaof +command +readonly +asking "
    "+cluster|slots +cluster|shards +cluster|nodes +cluster|myid"
)
"""The commands of all roles: none that ends a server, empties it, shows or changes its settings, or lists its keys."""

SETTINGS_READERS: Final = ("scheduler", "operator")
"""The roles that may read the settings of a server, and `masterauth` with them, which opens all data to its holder.

An ACL can't leave single settings out. The others read what the scheduler has noted: `infra.durability.durability`.
"""

_OF_ROBOTS: Final = ("{u:robot-*}", "{a:726f626f74*}*")
"""The accounts of robots, whose ids begin with these bytes."""


class Access(msgspec.Struct, frozen=True):
    """The rights of a role on the servers of the data."""

    writes: tuple[str, ...]
    """Patterns of keys."""
    reads: tuple[str, ...] = ("*",)
    commands: str = ""
    """More than all have."""


def _families() -> Mapping[str, Sequence[Key]]:
    """Return the keys of the table by their hash tag; a key without one is alone."""
    found: dict[str, list[Key]] = {}
    for key in KEYS:
        tag, end, _ = key.pattern.partition("}")
        found.setdefault(f"{tag}{end}", []).append(key)
    return found


_FAMILIES: Final = _families()


def _patterns(chosen: Callable[[Key], bool]) -> tuple[str, ...]:
    """Return the patterns of keys, with a single one for all keys of a tag."""
    found: list[str] = []
    for tag, family in _FAMILIES.items():
        patterns = [key.pattern for key in family if chosen(key)]
        if len(patterns) == len(family) > 1:
            patterns = [f"{tag}*" if tag in patterns else f"{tag}:*"]
        found += patterns
    return tuple(found)


def _access(role: str, *more: str, commands: str = "", reads_all: bool = False) -> Access:
    """Return the rights of a role by the table, with some patterns more."""
    writes = _patterns(lambda key: role in key.roles.writers.split())
    reads = _patterns(lambda key: role in f"{key.roles.writers} {key.roles.readers}".split())
    only_reads = ("*",) if reads_all else tuple(one for one in reads if one not in writes)
    return Access((*writes, *more), only_reads, commands)


ROLES: Final[Mapping[str, Access]] = {
    "web": _access("web", reads_all=True),
    "mail": _access("mail", reads_all=True),
    "mailer": _access("mailer", reads_all=True),
    "worker": _access("worker"),
    "side": _access("side"),
    "publisher": _access("publisher"),
    "scheduler": _access("scheduler", commands="+config|get"),
    "robots": _access("robots", *_OF_ROBOTS, reads_all=True),
    "maintenance": _access("maintenance", commands="+scan", reads_all=True),
    "operator": Access(("*",), commands="+scan +config|get +acl|dryrun +psync +replconf"),
}
"""The operator's is for `matchpost prepare`, `doctor`, `do`, `backup` and the other subcommands that end."""

_ON_QUEUE: Final = ("rq:*", *_patterns(lambda key: key.on_queue))
"""The keys of the queue's server: jobs, leases and notes, which all roles have in common."""


def acl_lines(passwords: Mapping[str, str], *, queue: bool) -> list[str]:
    """Return the lines of the file of users for the servers of the data, or for that of the queue.

    `passwords` has one for each of `ROLES`. The default user is off; `matchpost-replica` is for replication.
    """
    lines = ["user default off resetkeys resetchannels -@all"]
    for role, access in ROLES.items():
        more = f"{_COMMANDS} {access.commands}".strip()
        if queue:
            where = f"{_rules(_ON_QUEUE)} &* {_COMMANDS} +client|list +scan"
        else:
            where = f"resetchannels {_rules(access.writes, access.reads)} {more}"
        lines.append(f"{_user(role, passwords[role])} {where}")
    if not queue:
        replica = passwords["replica"]
        lines.append(f"{_user('replica', replica)} resetkeys +psync +replconf +ping")
    return lines


def _user(role: str, password: str) -> str:
    digest = sha256(password.encode()).hexdigest()
    return f"user {USER_PREFIX}{role} on #{digest} resetkeys -@all"


def _rules(writes: Sequence[str], reads: Sequence[str] = ()) -> str:
    if "*" in writes:
        return "~*"
    return " ".join([*(f"~{one}" for one in writes), *(f"%R~{one}" for one in reads)])
