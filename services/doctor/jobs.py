"""The doctor's check of robots: whether they act, and where they can't.

The doctor's check of the scrubber: what it has found, and whether it goes on.
"""

from collections.abc import Iterator
from typing import Final

from domain.clocks.time_control import DAY
from domain.match.state import robot_name
from services.doctor.facts import Facts
from services.doctor.findings import Finding, bad, count, note, ok, span, warn

_LATE_MS: Final = 60_000
"""A robot that takes so long, beside the pause that it makes, is late."""

_SHOWN: Final = 10


def check_robots(facts: Facts) -> Iterator[Finding]:
    """Report matches in which a robot is late, or can't act."""
    server, settings = facts.server, facts.settings
    if server is None or server.shape is None:
        return
    for level, userid in server.robot_userids.items():
        if userid != robot_name(level):
            yield note(
                "robots",
                f"the robot of the level {level} is {userid}, because a person had the userid "
                f"{robot_name(level)} before",
            )
    robots = server.robots
    if robots.failures:
        some = ", ".join(map(str, list(robots.failures)[:_SHOWN]))
        board, why = next(iter(robots.failures.items()))
        yield warn(
            "robots",
            f"a robot can't act in {count(len(robots.failures), 'match', 'matches')}: {some}"
            f"{' and others' if len(robots.failures) > _SHOWN else ''}; in match {board}: {why}",
            "install the game if it is missing; `matchpost verify` and the log say more of a match. It is "
            "tried again at least every half hour, and the opponent may propose to abort",
        )
    waiting = f"{count(robots.waiting, 'match waits', 'matches wait')} for a robot"
    if not settings.robots:
        if robots.waiting:
            yield warn(
                "robots", f"{waiting}, and this server runs none", "set MATCHPOST_ROBOTS to 1"
            )
    elif robots.oldest_ms > _LATE_MS + settings.robot_seconds * 1_000:
        yield warn(
            "robots",
            f"{waiting}, the first for {span(robots.oldest_ms // 1_000)}",
            "check that processes `robots` run, and look at their log; raise MATCHPOST_ROBOTS if the machine "
            "has processors left",
        )
    else:
        yield ok("robots", waiting)


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
