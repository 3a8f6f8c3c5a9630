"""The doctor's check of the scrubber: what it has found, and whether it goes on."""

from collections.abc import Iterator
from typing import Final

from domain.clocks.calendar import DAY
from services.doctor.facts import Facts
from services.doctor.findings import Finding, bad, count, note, ok, span, warn

LATE_MS: Final = 2 * DAY
"""A whole round is late after this: each match should be checked daily."""

MOST_SHOWN: Final = 10

_BY_SECTION: Final = {
    "lists": "matches are not concerned; `matchpost rebuild NAME` makes lists and ratings new from the logs",
    "lists of boards": "matches are not concerned; find out which program wrote there",
}
_REMEDY: Final = (
    "find out what changed it, keep a copy of the data as they are, and restore it from a backup or the "
    "published log; docs/backup.md says how. It leaves this list in the next round that finds it well"
)


def check_scrub(facts: Facts) -> Iterator[Finding]:
    """Report what the scrubber has found, and when everything was checked last."""
    server = facts.server
    if server is None or server.shape is None:
        return
    faults, notes = server.scrub_faults, server.scrub
    # lists follow from matches, so what is wrong with these comes first
    for fault in sorted(faults, key=lambda one: one.section in _BY_SECTION)[:MOST_SHOWN]:
        what = f"{fault.about}: {fault.sentence}"
        yield bad("scrub", what, _BY_SECTION.get(fault.section, _REMEDY))
    if len(faults) > MOST_SHOWN:
        more = count(len(faults) - MOST_SHOWN, "other fault", "other faults")
        yield bad("scrub", f"the scrubber has found {more}", "the log of `serve` has them all")
    if not facts.settings.scrub_percent:
        yield note("scrub", "nothing is checked by itself, because `scrub_percent` is 0")
        return
    if notes.oldest_ms(server.clock) > LATE_MS:
        age = span(notes.oldest_ms(server.clock) // 1000)
        yield warn(
            "scrub",
            f"some of what is stored has not been checked for {age}",
            "raise MATCHPOST_SCRUB_PERCENT, or see in the log of `serve` why the maintenance worker does not "
            "get to it, or what cuts its rounds short",
        )
    elif notes.last_ended and not faults:
        ago = span(max(0, server.clock - notes.last_ended) // 1000)
        took = span(notes.last_ms // 1000)
        matches = count(notes.last_matches, "match", "matches")
        yield ok("scrub", f"all that is stored was checked {ago} ago, in {took}: {matches}")
