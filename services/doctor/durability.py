"""The doctor's check of durability: what an accepted move rests on."""

from collections.abc import Iterator, Sequence

from infra.durability.durability import Mode
from infra.redis.access import SETTINGS_READERS, USER_PREFIX
from infra.settings.settings import Settings
from services.doctor.facts import ServerFacts
from services.doctor.findings import Finding, bad, count, note, ok, warn


def check_durability(settings: Settings, server: ServerFacts) -> Iterator[Finding]:
    """Return whether accepted moves are as safe as the settings promise."""
    yield from _promise(settings, server)
    if settings.durability is Mode.REPLICATED:
        yield from _replicas(settings, server)
    yield from _bad(server.write_faults)


def check_access(server: ServerFacts) -> Iterator[Finding]:
    """Return who can copy all data by the password of replicas, where that is set."""
    readers = server.replication_readers
    more = [f"{USER_PREFIX}{role}" for role in readers if role not in SETTINGS_READERS]
    if more:
        yield warn(
            "access",
            f"{', '.join(more)} may read `masterauth`, and copy all data with it",
            "print the file of users with `matchpost acl data`, load it on each server, and change the password of "
            f"{USER_PREFIX}replica",
        )
    elif readers:
        names = " and ".join(f"{USER_PREFIX}{role}" for role in readers)
        yield note("access", f"{names} can copy all data, because `masterauth` is set")


def _promise(settings: Settings, server: ServerFacts) -> Iterator[Finding]:
    if not server.not_durable:
        yield _kept(settings, server)
    yield from _bad(server.not_durable)


def _bad(faults: Sequence[str]) -> Iterator[Finding]:
    for fault in faults:
        what, _, remedy = fault.rpartition("; ")
        yield bad("durability", what or remedy, remedy if what else "look at the server's settings")


def _kept(settings: Settings, server: ServerFacts) -> Finding:
    match settings.durability:
        case Mode.NONE:
            return warn(
                "durability",
                "durability is none: a crash of the machine may lose moves",
                "remove MATCHPOST_DURABILITY=none, unless this is a trial",
            )
        case Mode.MANAGED:
            return note(
                "durability",
                "durability is managed: nothing is verified, and an accepted move is as safe as the "
                "provider of the server makes it",
            )
        case Mode.REPLICATED:
            copies = count(settings.replicas, "replica", "replicas")
            return ok(
                "durability",
                f"every accepted move is on the disks of {_who(server)} and of {copies}",
            )
        case _:
            where = "the server's disk" if server.nodes == 1 else "the disk of its node"
            return ok("durability", f"every accepted move is on {where}")


def _who(server: ServerFacts) -> str:
    return "the server" if server.nodes == 1 else "its node"


def _replicas(settings: Settings, server: ServerFacts) -> Iterator[Finding]:
    if len(server.replicas) > settings.replicas:
        yield note(
            "durability",
            f"{'the server' if server.nodes == 1 else 'a node'} has {len(server.replicas)} replicas, and a move waits for "
            f"{settings.replicas} of them: promote the one that has most, or raise "
            "MATCHPOST_REPLICAS",
        )
    for address in server.unasked:
        yield note("durability", f"the settings of the replica {address} can't be read from here")
