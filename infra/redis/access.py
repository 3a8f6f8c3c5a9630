"""Access control of the servers: one user a role, with the commands and the keys that it needs.

A server reads the lines from its `aclfile`. Two limits are Redis' own: a script needs every key that it names for
writing, also those that it only reads; and RQ's keys are common to all that enqueue jobs and work on them. A role
may therefore do more than it does, and less than all other roles together.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final

import msgspec

USER_PREFIX: Final = "matchpost-"

_COMMANDS: Final = (
    "+@read +@write +@connection +@transaction +@scripting +@pubsub -@dangerous -@admin -function -script "
    "+script|load +script|exists -scan -randomkey +info +role +time +wait +waitaof +command +readonly +asking "
    "+cluster|slots +cluster|shards +cluster|nodes +cluster|myid"
)
"""The commands of all roles: none that ends a server, empties it, shows or changes its settings, or lists its keys."""

SETTINGS_READERS: Final = ("scheduler", "operator")
"""The roles that may read the settings of a server, and `masterauth` with them, which opens all data to its holder.

An ACL can't leave single settings out. The others read what the scheduler has noted: `infra.durability`.
"""

_OF_MATCHES: Final = "{s*}:m:*"

_SUBMITTING: Final = (
    "{s*}:in", "{s*}:floor", "{s*}:gone", "{s*}:closed", f"{_OF_MATCHES}:out", f"{_OF_MATCHES}:no",
)  # fmt: skip
"""The keys of a command on its way into an inbox."""

_NUMBERING: Final = (
    "{boards}",
    "{boards}:id:*",
    "{boards}:ids",
    "{s*}:boards",
    "{s*}:ids",
    "{s*}:given:*",
)

# no other key of a match ends in a digit than its snapshot, and the script of conditional moves names it
_PLAYING: Final = (
    *_SUBMITTING, *_NUMBERING, f"{_OF_MATCHES}[0-9]", f"{_OF_MATCHES}:laid", f"{_OF_MATCHES}:draft",
    "{damaged}", "{analysis:*}",
)  # fmt: skip

_FOLLOWING: Final = ("{s*}:in", "{s*}:log", "{s*}:floor", "{s*}:shown")
"""The keys of a follower of logs. The script that promises a watermark reads inbox and log, and raises the floor."""

_CHALLENGES: Final = ("{c:*}", "{challenges}:*", "{a:*}:opened", "{a:*}:joined")

_PEOPLE: Final = (
    "{a:*}*", "{u:*}", "{l:*}", "{users}", "{arbiters}", "{t:*}", "{w:*}", *_CHALLENGES, "{broadcast}*", "{boards}:words",
    f"{_OF_MATCHES}:chat", f"{_OF_MATCHES}:texts", "{mail}:*", "logins:*", "answers:*", "{p:*}*",
)  # fmt: skip
"""Keys of accounts; an account that is erased leaves the projections, too."""

_OF_ROBOTS: Final = ("{u:robot-*}", "{users}", "{a:726f626f74*}*")
"""The accounts of robots, whose ids begin with these bytes."""

_EVERY_ROLE: Final = ("b", "b:*", "{boards}:secrets", "{mail}:key")


class Access(msgspec.Struct, frozen=True):
    """The rights of a role on the servers of the data."""

    writes: tuple[str, ...]
    """Patterns of keys."""
    reads: tuple[str, ...] = ("*",)
    commands: str = ""
    """More than all have."""


_PUBLIC: Final = (
    "{s*}:*",
    "{boards}*",
    "{p:*}*",
    "{clock}",
    "{damaged}",
    "{scrub}*",
    "{robots}:*",
    "{mail}:key",
    "{mail}:read",
    "{mail}:push:read",
)
"""Keys without passwords, tokens and messages."""

ROLES: Final[Mapping[str, Access]] = {
    "web": Access((*_PLAYING, *_PEOPLE)),
    "mail": Access((*_PLAYING, *_PEOPLE)),
    "mailer": Access((*_FOLLOWING, "{mail}:*", "{a:*}*", "logins:*", "answers:*")),
    "worker": Access(("{s*}:*", "{boards}*", "{damaged}"), (*_PUBLIC, "{a:*}", "{a:*}:seen")),
    "side": Access((*_FOLLOWING, "{p:*}*"), _PUBLIC),
    "publisher": Access(("{s*}:*", "{boards}*"), _PUBLIC),
    "scheduler": Access(
        (*_FOLLOWING, *_SUBMITTING, *_NUMBERING, *_CHALLENGES, f"{_OF_MATCHES}[0-9]", "{s*}:due", "{clock}",
         "{damaged}", "{mail}:*", "{boards}:words"),
        (*_PUBLIC, *_CHALLENGES, "{mail}:*", "{robots}:*"),
        commands="+config|get",
    ),
    "robots": Access((*_PLAYING, "{robots}:*", *_OF_ROBOTS)),
    "maintenance": Access(
        ("{s*}:*", "{p:*}*", "{scrub}*", "{damaged}", "{boards}*", "{a:*}*", "{l:*}", "{users}", "{arbiters}"),
        commands="+scan",
    ),
    "operator": Access(("*",), commands="+scan +config|get +acl|dryrun"),
}  # fmt: skip
"""The operator's is for `matchpost prepare`, `doctor`, `do` and the other subcommands that end."""

_ON_QUEUE: Final = "~rq:* ~{lease:* ~durable* ~{s*}:published ~{beats} &* "
"""The queue's server: jobs, leases, and channels, which all roles have in common."""


def acl_lines(passwords: Mapping[str, str], *, queue: bool) -> list[str]:
    """Return the lines of the file of users for the servers of the data, or for that of the queue.

    `passwords` has one for each of `ROLES`. The default user is off; `matchpost-replica` is for replication.
    """
    lines = ["user default off resetkeys resetchannels -@all"]
    for role, access in ROLES.items():
        more = f"{_COMMANDS} {access.commands}".strip()
        if queue:
            where = f"{_ON_QUEUE}{_COMMANDS} +client|list +scan"
        else:
            where = f"resetchannels {_patterns(access)} {more}"
        lines.append(f"{_user(role, passwords[role])} {where}")
    if not queue:
        replica = passwords["replica"]
        lines.append(f"{_user('replica', replica)} resetkeys +psync +replconf +ping")
    return lines


def _user(role: str, password: str) -> str:
    digest = sha256(password.encode()).hexdigest()
    return f"user {USER_PREFIX}{role} on #{digest} resetkeys -@all"


def _patterns(access: Access) -> str:
    if "*" in access.writes:
        return "~*"
    writes = [f"~{pattern}" for pattern in (*access.writes, *_EVERY_ROLE)]
    return " ".join([*writes, *(f"%R~{pattern}" for pattern in access.reads)])
