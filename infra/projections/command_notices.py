"""The players who hear of a command in a match, by mail and by notifications in browsers."""

from collections.abc import Iterator, Sequence
from typing import Final

from domain.match.events import AccountId, Challenged, MatchStarted
from domain.match.leaves import EventEnvelope
from infra.projections.notice_fold import SeatsLeft, notices_of, seats_after
from infra.projections.notices import NoticeKind
from infra.projections.projection import Fact, MatchSetup

_NOBODY: Final = SeatsLeft(None)


def setup_of(first: EventEnvelope) -> MatchSetup:
    """Return the terms that a match's first event fixes; `TypeError` for an event that begins no match."""
    body = first.body
    if not isinstance(body, MatchStarted | Challenged):
        raise TypeError(f"match {first.match} begins with {body!r}")
    return MatchSetup(body.rules, body.rules.partition("/")[0], body.options, body.seats)


def notices_by_player(
    cast: MatchSetup, events: Sequence[EventEnvelope], own: Sequence[EventEnvelope]
) -> dict[AccountId, list[NoticeKind]]:
    """Return the players that a command's `own` events are mailed to, with the kinds of notice.

    They are those of the pages, but the player who started a match gets a mail of it, too: it is the
    first mail of the match, which the player answers with moves.
    """
    found: dict[AccountId, list[NoticeKind]] = {}
    for account, kind, _ in notices_of_command(cast, events, own, to_starter=True):
        found.setdefault(account, []).append(kind)
    return found


def notices_of_command(
    cast: MatchSetup,
    events: Sequence[EventEnvelope],
    own: Sequence[EventEnvelope],
    *,
    to_starter: bool = False,
) -> Iterator[tuple[AccountId, NoticeKind, EventEnvelope]]:
    """Return the notices of a command's `own` events, in order; `events` are all up to the last of them.

    `to_starter` adds one for the player who started a match.
    """
    table = _NOBODY
    for event in events[: own[-1].seq]:
        if event.seq >= own[0].seq:
            more = _own_start(event, cast) if to_starter else ()
            for account, kind in [*notices_of(Fact(event, cast), table), *more]:
                yield account, kind, event
        table = seats_after(table, event.body)


def _own_start(event: EventEnvelope, cast: MatchSetup) -> Iterator[tuple[AccountId, NoticeKind]]:
    if isinstance(event.body, MatchStarted) and event.actor in cast.seats:
        yield event.actor, NoticeKind.STARTED
