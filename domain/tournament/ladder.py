"""A ladder: whom a player may challenge, or why not, and how places change.

An order is the players from the top. Times are ms since 1970, and the rules count in days.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from domain.clocks.time_control import DAY
from domain.sentences import Sentence, Sentences, counted
from domain.tournament.form_terms import LadderTerms

SAY: Final = Sentences(
    "ladder",
    {
        "own": "nobody can challenge themselves",
        "outside": "only players of the ladder can challenge and be challenged",
        "below": "only players above can be challenged",
        "reach": "only players up to {reach:places} above can be challenged, and this is {above} places above",
        "running": "a match of these two is running on the ladder already",
        "own-most": "the challenger has {most:matches} running, the most that the ladder allows",
        "other-most": "this player has {most:matches} running, the most that the ladder allows",
        "rest": "the last match of these two is too recent; the next is possible in {days:days}",
    },
    matches=counted("{n} match", "{n} matches"),
    places=counted("{n} place", "{n} places"),
    days=counted("{n} day", "{n} days"),
)


class LadderMatch(msgspec.Struct, frozen=True):
    """A match of a ladder."""

    challenger: int
    challenged: int
    ended: int | None = None
    """When it ended, ms; None while it runs."""


def why_not(  # noqa: PLR0911 - each reason is one
    rules: LadderTerms,
    order: Sequence[int],
    matches: Collection[LadderMatch],
    challenger: int,
    challenged: int,
    now: int,
) -> Sentence | None:
    """Return why a player can't challenge another now; None if the ladder allows it."""
    if challenger == challenged:
        return SAY("own")
    if challenger not in order or challenged not in order:
        return SAY("outside")
    above = order.index(challenger) - order.index(challenged)
    if above < 0:
        return SAY("below")
    if above > rules.reach:
        return SAY("reach", reach=rules.reach, above=above)
    between = [
        one for one in matches if {one.challenger, one.challenged} == {challenger, challenged}
    ]
    if any(one.ended is None for one in between):
        return SAY("running")
    if _running(matches, challenger) >= rules.running:
        return SAY("own-most", most=rules.running)
    if _running(matches, challenged) >= rules.running:
        return SAY("other-most", most=rules.running)
    rest = rules.rest * DAY
    left = max((one.ended or 0 for one in between), default=now - rest) + rest - now
    return SAY("rest", days=-(-left // DAY)) if left > 0 else None


def _running(matches: Iterable[LadderMatch], player: int) -> int:
    return sum(one.ended is None and player in (one.challenger, one.challenged) for one in matches)


def after_win(
    order: Sequence[int], challenger: int, challenged: int, *, insertion: bool
) -> list[int]:
    """Return the order after a challenger has won; as it was if the challenger is above by then, or one has left."""
    new = list(order)
    if challenger not in new or challenged not in new:
        return new
    here, there = new.index(challenger), new.index(challenged)
    if here < there:
        return new
    if insertion:
        new.insert(there, new.pop(here))
    else:
        new[here], new[there] = new[there], new[here]
    return new


def after_silence(
    order: Sequence[int], last_seen: Mapping[int, int], rules: LadderTerms, now: int
) -> list[int]:
    """Return the order after those who have been silent too long have dropped. They keep their order among themselves.

    `last_seen` is when each player was seen last, ms.
    """
    new = list(order)
    lowest = len(order) - 1
    for place in reversed(range(len(order))):
        player = order[place]
        if now - last_seen[player] >= rules.silence * DAY:
            new.remove(player)
            there = min(place + (rules.drop or len(order)), lowest)
            new.insert(there, player)
            lowest = there - 1
    return new
