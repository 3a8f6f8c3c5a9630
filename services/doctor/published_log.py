"""The doctor's check of the published log."""

from collections.abc import Iterator
from typing import Final

from services.doctor.facts import Facts
from services.doctor.findings import Finding, bad, count, note, ok, span, warn

LATE_MS: Final = 120_000
"""A leaf is late after this time: some times the longest interval that is usual."""


def check_published_log(facts: Facts) -> Iterator[Finding]:
    """Report whether the logs are published."""
    server = facts.server
    if server is None or not server.published:
        return
    for one in server.closed:
        what, _, rest = one.reason.partition("; ")
        yield bad("log", what, rest)
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
