"""The replicas of a server, by its INFO, and their settings, as far as they can be asked."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from infra.redis.clients import make_sibling

ANSWER_SECONDS: Final = 2.0
"""How long a replica may take to answer."""


class Replica(msgspec.Struct, frozen=True):
    """A replica that is connected to a server."""

    host: str
    port: int
    follows: bool
    """Whether it has the data, and takes writes as they come."""

    @property
    def address(self) -> str:
        """Return host and port."""
        return f"{self.host}:{self.port}"


def read_replicas(information: Mapping[str, Any]) -> list[Replica]:
    """Return the connected replicas of a server by its INFO.

    Programs that only copy the data, such as `valkey-cli --rdb`, have no port and can't be promoted.
    """
    rows = [information.get(f"slave{n}", {}) for n in range(information.get("connected_slaves", 0))]
    return [
        Replica(str(row["ip"]), int(row["port"]), row.get("state") == "online")
        for row in rows
        if row.get("port")
    ]


def read_cluster_replicas(node: Redis) -> list[str]:
    """Return the addresses of all replicas that a node of a cluster knows, also of those that are away."""
    found: Any = node.execute_command("CLUSTER NODES")  # type: ignore[no-untyped-call]
    return [
        address.partition("@")[0]
        for address, row in found.items()
        if "slave" in row["flags"].split(",")
    ]


def read_settings(
    client: Redis, replica: Replica, names: Collection[str]
) -> Mapping[str, str] | None:
    """Return settings of a replica, with the login of `client`; None if it can't be asked."""
    try:
        with make_sibling(client, replica.host, replica.port, ANSWER_SECONDS) as other:
            found: Any = other.config_get(*names)
    except (RedisError, OSError):
        return None
    return {_text(name): _text(value) for name, value in found.items()}


def unreadable(
    client: Redis, information: Mapping[str, Any], names: Collection[str]
) -> tuple[str, ...]:
    """Return the addresses of the replicas whose settings can't be read."""
    found = read_replicas(information)
    return tuple(one.address for one in found if read_settings(client, one, names) is None)


def _text(word: str | bytes) -> str:
    return word if isinstance(word, str) else word.decode()
