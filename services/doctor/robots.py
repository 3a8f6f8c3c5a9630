"""The doctor's check of robots: whether they act, and where they can't."""

from collections.abc import Iterator
from typing import Final

from domain.match.robots import robot_name
from services.doctor.facts import Facts
from services.doctor.findings import Finding, count, note, ok, span, warn

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
