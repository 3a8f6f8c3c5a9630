"""The doctor's checks of the published log and the archive."""

from collections.abc import Iterator
from typing import Final

from infra.health.heartbeats import Role
from services.doctor.facts import Facts
from services.doctor.findings import Finding, bad, count, note, ok, span, warn

LATE_MS: Final = 120_000
"""A leaf is late after this time: some times the longest interval that is usual."""

_SETTLED_MS: Final = 600_000
"""How long a server runs before its archive has to be complete."""

_MANY_LEAVES: Final = 10_000
"""More leaves than come between two rounds of cosigning, at a usual pace."""


def check_published_log(facts: Facts) -> Iterator[Finding]:
    """Report whether the logs are published."""
    server = facts.server
    if server is None or not server.published:
        return
    for one in server.closed:
        what, _, rest = one.reason.partition("; ")
        yield bad("log", what, rest)
    for lost in server.lost:
        yield warn(
            "log",
            f"{lost.sentence}, noticed {span(max(0, server.clock - lost.at) // 1000)} ago",
            "have the players of these minutes look at their matches; with durability replicated a failover "
            "loses nothing",
        )
    if not facts.settings.durability.durable:
        yield note("log", "nothing is published, because with durability none moves may be lost")
        return
    closed = {one.reason for one in server.closed}
    faults = {one.fault: None for one in server.published if one.fault and one.fault not in closed}
    for fault in faults:
        yield bad(
            "log",
            f"the log is not published: {fault}",
            "moves are taken all the same; docs/log.md says what to do",
        )
    late = server.clock - server.unpublished_since if server.unpublished_since else 0
    if late > LATE_MS and not faults:
        yield warn(
            "log",
            f"a leaf has not been published for {span(late // 1000)}",
            "look at the publisher's lines in the log of `serve`; moves are taken all the same",
        )
    elif not faults and not closed:
        leaves = count(sum(one.size for one in server.published), "leaf is", "leaves are")
        yield ok("log", f"{leaves} published")


def check_witnesses(facts: Facts) -> Iterator[Finding]:
    """Report whether the witnesses cosign the logs."""
    if facts.server is None:
        return
    report = facts.server.witnesses
    if report.fault:
        yield bad(
            "witnesses",
            f"what the witnesses have cosigned can't be read: {report.fault}",
            "see the file `witnesses` beside the log's keys, and the object store",
        )
    published = sum(one.size for one in facts.server.published)
    for one in report.witnesses:
        if one.oldest is None:
            yield warn(
                "witnesses",
                f"{one.name} has not cosigned every log",
                "the publisher's lines in the log of `serve` say why; an ALARM there means a fork",
            )
        elif one.leaves < published and published - one.leaves > _MANY_LEAVES:
            age = span(facts.clock // 1000 - one.oldest)
            yield warn(
                "witnesses",
                f"{one.name} has cosigned {one.leaves} of {published} leaves, one log last {age} ago",
                "the publisher's lines in the log of `serve` say why; an ALARM there means a fork",
            )
        else:
            yield ok("witnesses", f"{one.name} has cosigned {one.leaves} of {published} leaves")


def check_archive(facts: Facts) -> Iterator[Finding]:
    """Report how many matches are in the archive, and whether some should be that are not."""
    server = facts.server
    if server is None or server.archive is None:
        return
    found, days = server.archive, facts.settings.archive_after
    if found.late and facts.settings.durability.durable:
        age = span((server.clock - (found.oldest or server.clock)) // 1000)
        matches = count(found.late, "match is", "matches are")
        began = max((one.started for one in server.beats if one.role is Role.SCHEDULER), default=0)
        if server.clock - began < _SETTLED_MS:
            yield note(
                "archive",
                f"{matches} still in the server's memory, more than {days} days after the end; the "
                "server has just started, and archives them within minutes",
            )
            return
        yield warn(
            "archive",
            f"{matches} still in the server's memory, more than {days} days after the end; the first "
            f"ended {age} ago",
            "see whether the log is published, whether `matchpost queue` shows a worker of "
            "matchpost-maintenance, and whether the log of `serve` says that a match stays in Redis",
        )
    elif found.archived:
        matches = count(found.archived, "match is", "matches are")
        yield ok(
            "archive", f"{matches} in the archive, and {found.ended} that are over are not yet"
        )
