"""The notices of the events of a tournament, each by the events before it.

A player hears of an invitation, of moving up from the waiting list, of the start and each further pairing with the number of own matches, of
being taken out, of the end, and of the own place; the organiser and the
directors of what the tournament does by itself. Nobody gets a
notice of an own action, and robots get none.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from domain.aggregates import accounts_of, evolve
from domain.match.history import EventEnvelope
from domain.match.state import robot_level
from domain.records import SERVER_ACCOUNT, AccountId, CommandId
from domain.tournament import events
from domain.tournament.state import FinalPlace, TournamentState
from infra.projections.notices import NoticeKind, TournamentDetail, TournamentNotice

_NOTED: Final = (
    events.PlayersInvited
    | events.EntryTakenBack
    | events.TournamentStarted
    | events.SectionPaired
    | events.PlayerWithdrawn
    | events.TournamentFinished
    | events.PlacesConfirmed
    | events.TournamentCancelled
)

NoticesBySeq: TypeAlias = Mapping[int, tuple[TournamentNotice, ...]]
"""The notices of a tournament's events, by their numbers."""

NoticesByAccount: TypeAlias = Mapping[AccountId, Sequence[TournamentNotice]]


def has_notices(event: EventEnvelope) -> bool:
    """Return whether an event of a tournament may have notices, for which its history is read."""
    return isinstance(event.body, _NOTED)


def notices_of_tournament(
    history: Sequence[EventEnvelope], wanted: Collection[int]
) -> NoticesBySeq:
    """Return the notices of some events of a tournament; `history` are all events up to the last of them."""
    state, start, found = TournamentState(), b"", {}
    for event in history:
        if isinstance(event.body, events.TournamentStarted):
            start = event.command
        if event.seq in wanted:
            found[event.seq] = tuple(_for_people(event, _notices(event, state, start)))
        after = evolve(state, event)
        assert isinstance(after, TournamentState)
        state = after
    return found


def notices_by_account(history: Sequence[EventEnvelope], command: CommandId) -> NoticesByAccount:
    """Return the notices of a command's events by account, one of each kind; `history` are all events."""
    own = [event.seq for event in history if event.command == command]
    groups = notices_of_tournament(history[: own[-1]], frozenset(own)).values()
    found: dict[AccountId, dict[NoticeKind, TournamentNotice]] = {}
    for one in (one for group in groups for one in group):
        mine = found.setdefault(one.account, {})
        mine[one.kind] = _with_both(mine[one.kind], one) if one.kind in mine else one
    return {account: [*mine.values()] for account, mine in found.items()}


def _with_both(one: TournamentNotice, other: TournamentNotice) -> TournamentNotice:
    """Return one notice for two of a kind: a player may be in several sections that are paired together."""
    if one.detail is None or other.detail is None or one.detail.place:
        return one
    return one._replace(detail=TournamentDetail(one.detail.matches + other.detail.matches))


def _for_people(
    event: EventEnvelope, notices: Iterable[TournamentNotice]
) -> Iterator[TournamentNotice]:
    return (
        one
        for one in notices
        if one.account != event.actor and one.account and robot_level(one.account) is None
    )


def _notices(  # noqa: C901, PLR0912 - one case an event
    event: EventEnvelope, state: TournamentState, start: CommandId
) -> Iterator[TournamentNotice]:
    """Yield the notices of an event; `state` is that before it, `start` the command that started the tournament."""
    match event.body:
        case events.PlayersInvited(accounts=accounts):
            for account in accounts:
                yield TournamentNotice(account, NoticeKind.INVITED_TO_TOURNAMENT)
        case events.EntryTakenBack(account=account):
            yield TournamentNotice(account, NoticeKind.ENTRY_TAKEN_BACK)
            yield from _moved_up(account, state)
        case events.TournamentStarted(players=players):
            # the notice of a player says it, too
            play = {one.account for one in (*state.numbered, *players)}
            for account in _directing(state):
                if account not in play:
                    yield TournamentNotice(account, NoticeKind.TOURNAMENT_STARTED)
        case events.SectionPaired() as section:
            is_first = event.command == start
            kind = NoticeKind.TOURNAMENT_STARTED if is_first else NoticeKind.PAIRED
            matches = Counter(player for seats in section.seats for player in seats)
            gone = {one.player for one in state.withdrawn}
            for player in dict.fromkeys((*section.players, *matches)):
                if player not in gone:
                    detail = TournamentDetail(matches[player])
                    yield TournamentNotice(state.entrants[player].account, kind, detail)
        case events.PlayerWithdrawn(account=account):
            yield TournamentNotice(account, NoticeKind.TAKEN_OUT)
        case events.TournamentFinished():
            for account in _directing(state):
                yield TournamentNotice(account, NoticeKind.MATCHES_OVER)
        case events.PlacesConfirmed(sections=tables):
            yield from _places((*state.places, *tables), state)
        case events.TournamentCancelled():
            too_few = event.actor == SERVER_ACCOUNT
            kind = NoticeKind.TOO_FEW_PLAYERS if too_few else NoticeKind.TOURNAMENT_CANCELLED
            for account in dict.fromkeys((*accounts_of(state), *state.directors)):
                yield TournamentNotice(account, kind)
        case _:
            return


def _directing(state: TournamentState) -> Iterable[AccountId]:
    """Return the organiser and the directors, each once."""
    return dict.fromkeys((state.organiser, *state.directors))


def _moved_up(account: AccountId, state: TournamentState) -> Iterator[TournamentNotice]:
    """Yield the notice of the first who waited, if a player leaves who had a place."""
    place, room = state.number_of(account), state.terms.room if state.terms else 0
    if place is not None and place < room < len(state.entrants):
        yield TournamentNotice(state.entrants[room].account, NoticeKind.MOVED_UP)


def _places(
    tables: Iterable[Sequence[FinalPlace]], state: TournamentState
) -> Iterator[TournamentNotice]:
    """Yield the notice of each player's place, in the last table that has the player."""
    found: dict[int, TournamentNotice] = {}
    for table in tables:
        tied = Counter(one.place for one in table)
        for one in table:
            shared = tied[one.place] > 1
            detail = TournamentDetail(place=one.place, shared=shared, points=one.points)
            account = state.entrants[one.player].account
            found[one.player] = TournamentNotice(account, NoticeKind.PLACES, detail)
    yield from found.values()
