"""The doctor's checks of the clocks: this machine's, the server's, and those of the matches."""

from collections.abc import Iterator
from typing import Final

from infra.store.port import MOST_AHEAD_MS
from services.doctor.facts import Facts, ServerFacts
from services.doctor.findings import Finding, bad, count, ok, span, warn

BAD_SKEW_MS: Final = 60_000
"""Beyond this difference the scheduler sends no reminder and lets no flag fall."""

WARN_SKEW_MS: Final = 5_000


def check_clocks(facts: Facts) -> Iterator[Finding]:
    """Compare the clocks, and report reminders and flags that are overdue."""
    if facts.server is None:
        return
    yield _difference(facts.clock - facts.server.clock)
    if left := facts.server.steps.distrust_ms(facts.server.clock):
        yield _stepped(facts.server.steps.step, left)
    ahead = max((shard.floor - facts.server.clock for shard in facts.server.shards), default=0)
    if WARN_SKEW_MS < ahead <= MOST_AHEAD_MS:
        yield _ahead(ahead)
    if facts.server.shape is not None:
        yield _overdue(facts.server)


def _difference(apart: int) -> Finding:
    how = "ahead of" if apart > 0 else "behind"
    what = f"this machine's clock is {abs(apart) / 1000:.1f} s {how} the server's"
    if abs(apart) > BAD_SKEW_MS:
        return bad(
            "clock",
            f"{what}; no reminder is sent and no flag falls",
            "set both clocks, best by NTP; overdue reminders and flags then follow by themselves",
        )
    if abs(apart) > WARN_SKEW_MS:
        return warn(
            "clock",
            what,
            "set both clocks, best by NTP; above 60 s no reminder is sent and no flag falls",
        )
    return ok("clock", "this machine and the server agree on the time")


def _stepped(step: int, left: int) -> Finding:
    how = "forward" if step > 0 else "back"
    return bad(
        "clock",
        f"the server's clock was set {how} by {span(abs(step) // 1000)}; no reminder is sent and no flag "
        f"falls for another {span(left // 1000)}",
        "check that the clock is right now, and correct it, by NTP, before flags fall",
    )


def _ahead(ahead: int) -> Finding:
    how_long = span(ahead // 1000)
    return warn(
        "clock",
        f"the server's clock was set back: moves are received {how_long} ahead of it, so that their order "
        "stays, and one that near its deadline is refused",
        f"check that the clock is right now; this ends by itself in {how_long}",
    )


def _overdue(server: ServerFacts) -> Finding:
    late = sum(shard.overdue for shard in server.shards)
    if not late:
        return ok("clock", "no reminder and no flag is overdue")
    since = min(shard.due for shard in server.shards if shard.due is not None)
    age = span((server.clock - since) // 1000)
    return bad(
        "clock",
        f"{count(late, 'match is', 'matches are')} overdue for a reminder or a flag, "
        f"the oldest for {age}",
        "check that `matchpost serve` runs and the clocks agree; its log names the matches that fail",
    )
