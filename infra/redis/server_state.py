"""The needs of durability: version, settings and role of a server, and that it takes writes."""

import re
from collections.abc import Mapping
from typing import Any, Final

MINIMUM_VERSION: Final = (7, 2)
"""The first Redis and the first Valkey that know WAITAOF."""


# no-appendfsync-on-rewrite would silently suspend the syncs, and eviction would drop commits
REQUIRED: Final[Mapping[str, str]] = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""The settings of the server that `fsync` needs, and those of each replica under `replicated`."""

MINIMUM_REPLICAS: Final = "min-replicas-to-write"
MAXIMUM_LAG: Final = "min-replicas-max-lag"

MOST_LAG: Final = 10
"""Seconds without a sign of a replica after which the server must not count it any longer."""


DISK_FULL_AT: Final = (
    "the disk of %s is full%s, so everything can be read, and no move is accepted; make room, and moves "
    "go on by themselves"
)
"""`DISK_FULL` of some folder, and how much is free there."""

DISK_FULL: Final = DISK_FULL_AT % ("the data", "")
"""The fault of an embedded server that has too little room (`infra.valkey.disk_guard`)."""


def parse_version(text: str) -> tuple[int, int]:
    """Return major and minor number of a version as text, (0, 0) when it has none."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def version_fault(information: Mapping[str, Any]) -> str:
    """Return that a server is too old, by its INFO; empty if it is not."""
    name = "Valkey" if "valkey_version" in information else "Redis"
    version = str(information.get(f"{name.lower()}_version", ""))
    if parse_version(version) >= MINIMUM_VERSION:
        return ""
    return (
        f"the server is {name} {version or 'of an unknown version'}; "
        "matchpost needs Redis or Valkey 7.2 or newer"
    )


def role_fault(information: Mapping[str, Any]) -> str:
    """Return that a server is a replica, by its INFO; empty if it is not."""
    if information.get("role", "master") == "master":
        return ""
    return (
        "the server is a replica, which takes no moves; let matchpost use the primary, or make this "
        "server one"
    )


def write_fault(information: Mapping[str, Any]) -> str:
    """Return why a server refuses writes now, by its INFO; empty if it takes them."""
    if information.get("aof_last_write_status", "ok") != "ok":
        return (
            "the server could not write its append-only file, and refuses writes until it can; look "
            "at its log and its disk"
        )
    # only an embedded server has no port, and no replicas ever
    if information.get("min_slaves_good_slaves") == 0 and information.get("tcp_port") == 0:
        return DISK_FULL
    limit = int(information.get("maxmemory", 0))
    if limit and int(information.get("used_memory", 0)) >= limit:
        return (
            "the server's memory is full, and it refuses writes, so no move is accepted and none is "
            "lost; raise MATCHPOST_MAXMEMORY, or `maxmemory` of a server of your own"
        )
    return ""
