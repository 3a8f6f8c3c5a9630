"""Sentences about a match and its events."""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from domain.match.events import (
    Absent,
    Accepted,
    Appealed,
    Called,
    Challenged,
    Claimed,
    Committed,
    DealProposed,
    Declined,
    Ended,
    Event,
    Flagged,
    Gathered,
    Imported,
    MatchPaired,
    MatchProposed,
    MatchStarted,
    Moved,
    Nagged,
    OfferAnswered,
    OfferMade,
    OpeningGiven,
    Paused,
    Resigned,
    ResultChanged,
    Resumed,
    Returned,
    Revealed,
    Ruled,
    Sealed,
    SeatTakenOver,
    SetBack,
    TimeGiven,
    Undone,
    Withheld,
)
from domain.match.history import EventEnvelope
from domain.match.imports import describe_source
from domain.match.state import MatchState, robot_level
from domain.records import SERVER_ACCOUNT
from domain.rules import Seat
from domain.sentences import Text
from domain.tournament.events import TournamentEventBody
from services.words.agreements import answered, offered
from services.words.cases import claim_made, remedy
from services.words.endings import named_side, over
from services.words.match_sentences import SAY
from services.words.named_match import NamedMatch, clock_lines

_TURNING = (
    Moved
    | MatchStarted
    | Accepted
    | Undone
    | SetBack
    | TimeGiven
    | Resigned
    | Flagged
    | SeatTakenOver
    | OpeningGiven
)
"""Events after which the sentence says whose turn it is."""


def describe_events(scene: NamedMatch, envelopes: Sequence[EventEnvelope]) -> str:
    """Return a sentence on the events of a command; `scene` is the match after the last of them."""
    if _is_dealt_at_once(scene, envelopes):
        # what the server seals and reveals for all players is of no interest to them
        envelopes = [
            msgspec.structs.replace(one, body=Accepted(seat=one.body.seat, next=None))
            if isinstance(one.body, Committed)
            else one
            for one in envelopes
            if not isinstance(one.body, Sealed | Revealed)
        ]
    events = [envelope.body for envelope in envelopes]
    clauses = [
        scene.said(_describe_event(scene, one.body, by_server=one.actor == SERVER_ACCOUNT))
        for one in envelopes
    ]
    # vacations of players are added to a match after it has started
    last = next((event for event in reversed(events) if not isinstance(event, Absent)), events[-1])
    if isinstance(last, _TURNING) and scene.state.next is not None:
        clauses += _passed_players(scene, last)
        if len(scene.names) > 1:  # a single player is always to move
            clauses.append(scene.turn(scene.state.next))
    return f"{scene.place}: {'; '.join(clauses)}"


def _is_dealt_at_once(scene: NamedMatch, envelopes: Sequence[EventEnvelope]) -> bool:
    """Return whether the server keeps all texts for the deal, so that no player reveals one."""
    invitation = scene.state.invitation
    if invitation is not None:
        return invitation.server_deals
    return any(isinstance(one.body, Sealed) and not one.body.waits for one in envelopes)


def _passed_players(scene: NamedMatch, event: Event) -> list[str]:
    """Return a clause for each player whom the rules passed between a move and the next turn."""
    if not isinstance(event, Moved) or event.next is None:
        return []
    count = len(scene.names)
    between = range(event.seat + 1, event.seat + 1 + (event.next - event.seat - 1) % count)
    return [
        scene.said(SAY("passed", player=scene.who(seat % count)))
        for seat in between
        if seat % count in scene.state.active_seats
    ]


def _describe_event(scene: NamedMatch, event: Event, *, by_server: bool) -> Text:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one for each event
    match event:
        case MatchProposed(invited=invited):
            return _challenge(scene, invited)
        case DealProposed(server_deals=True):
            missing = [seat for seat, one in enumerate(event.commitments) if not one.digest]
            return SAY("dealt-then", what=scene.said(_challenge(scene, missing)))
        case Accepted():
            return SAY("accepted", player=scene.who(event.seat))
        case MatchStarted():
            started = scene.said(SAY("started", game=scene.game, players=scene.opponents))
            if isinstance(event, MatchPaired):
                started = scene.said(SAY("paired", what=started, number=event.tournament))
            note = scene.rules.option_warning(scene.rules.read_options(scene.state.options))
            return f"{started} ({scene.said(note)})" if note else started
        case OpeningGiven():
            return opening_of(scene.state)
        case Imported():
            what = SAY(
                "goes-on-here",
                game=scene.game,
                ply=len(event.moves.split()),
                players=scene.opponents,
                source=describe_source(event.source, scene.words),
            )
            return SAY("waits-accept", what=what, players=scene.everyone(range(len(scene.names))))
        case Challenged():
            called = SAY("proposed", game=scene.game, players=scene.opponents)
            waited = list(range(1, len(scene.names)))
            if isinstance(event, Called):
                waited = [seat for seat, one in enumerate(event.commitments) if not one.digest]
            if not waited:
                return called
            return SAY("waits-accept", what=called, players=scene.everyone(waited))
        case Committed():
            return SAY("committed", player=scene.who(event.seat))
        case Sealed():
            sealed = SAY("sealed", k=event.k, chain=event.chain)
            if not event.waits:
                return sealed
            return SAY("waits-reveal", what=sealed, players=scene.everyone(event.waits))
        case Revealed():
            return SAY("revealed", player=scene.who(event.seat))
        case Withheld():
            return SAY("withheld", player=scene.who(event.seat))
        case Gathered():
            if scene.state.imported is not None:
                return SAY("accepted", player=scene.who(event.seat))
            if event.text:
                return SAY("gave-entropy", player=scene.who(event.seat))
            return SAY("gave-none", player=scene.who(event.seat))
        case Moved():
            if event.queued:
                return SAY("played-conditional", player=scene.who(event.seat), move=event.move)
            return SAY("played", player=scene.who(event.seat), move=event.move)
        case OfferMade():
            return offered(event.kind, scene.who(event.seat), scene.words)
        case OfferAnswered():
            player = scene.who(event.seat)
            return answered(event.kind, player, scene.words, accepted=event.accept)
        case Undone():
            return _taken_back(scene, event.ply)
        case Resigned():
            return SAY("resigned", player=scene.who(event.seat))
        case Flagged():
            return SAY("flagged", player=scene.who(event.seat))
        case Nagged():
            return SAY("reminded", player=scene.who(event.seat))
        case Paused():
            return SAY("paused")
        case Resumed():
            return SAY("resumed", player=scene.who(event.seat))
        case SeatTakenOver():
            return SAY("taken-over", player=scene.who(event.seat))
        case Absent():
            until = scene.words.stamp(event.until)
            return SAY("absent", player=scene.who(event.seat), until=until)
        case Returned():
            until = scene.words.stamp(event.until)
            return SAY("returned", player=scene.who(event.seat), until=until)
        case Declined() if by_server:
            gather = scene.state.gather
            unseen = gather is not None and gather.seal is not None
            player = scene.who(event.seat)
            return SAY("unrevealed", player=player) if unseen else SAY("lapsed", player=player)
        case Declined():
            return SAY("declined", player=scene.who(event.seat))
        case Claimed():
            return claim_made(scene, event)
        case Ruled():
            return _describe_ruling(event)
        case Appealed():
            return SAY("appealed", player=scene.who(event.seat), claim=event.claim)
        case SetBack() | TimeGiven():
            return remedy(scene, event)
        case Ended() | ResultChanged():
            return over(scene.state, scene.names, scene.words)
        case TournamentEventBody():
            raise TypeError("an event of a tournament is none of a match")
        case _:  # pragma: no cover - the union is closed
            assert_never(event)


def _challenge(scene: NamedMatch, invited: Sequence[Seat]) -> Text:
    """Return a clause on who challenges whom."""
    makers = [
        seat
        for seat, account in enumerate(scene.state.seats)
        if seat not in invited and robot_level(account) is None
    ]
    others = [seat for seat in range(len(scene.names)) if seat not in makers]
    return SAY(
        "challenges",
        makers=scene.everyone(makers),
        others=scene.everyone(others),
        game=scene.game,
    )


def _taken_back(scene: NamedMatch, ply: int) -> str:
    """Return where a match stands after moves were taken back."""
    if not ply:
        return scene.words.gettext("it was taken back to the start")
    return scene.words.ngettext(
        "it was taken back to the position after %(count)s move",
        "it was taken back to the position after %(count)s moves",
        ply,
    )


def _describe_ruling(event: Ruled) -> Text:
    if event.claim is None:
        return SAY("ruled")
    if event.upheld:
        return SAY("upheld", claim=event.claim)
    return SAY("dismissed", claim=event.claim)


def summary(scene: NamedMatch, now: int | None = None) -> str:
    """Return the lines above a board: game, players, who is to move or how it ended, offers.

    With `now`, in ms, also what the clocks show.
    """
    state = scene.state
    players = ", ".join(f"{scene.side(seat)} {name}" for seat, name in enumerate(scene.names))
    title = scene.rules.title
    lines = [
        scene.said(
            SAY(
                "game-line",
                board=scene.board,
                title=title,
                rules=state.rules,
                options=scene.options,
            )
        ),
        scene.said(SAY("players-line", players=players)),
        f"#{state.ply}: {_progress(scene)}",
    ]
    lines += takeovers(scene)
    if state.opening:
        lines.append(scene.said(opening_of(state)))
    if state.imported is not None:
        lines.append(describe_source(state.imported.source, scene.words))
    if state.offer is not None:
        maker = state.offer.seat
        proposed = offered(state.offer.kind, scene.who(maker), scene.words)
        asked = SAY("may-answer", offer=proposed, others=scene.others(maker))
        lines.append(scene.said(asked))
    if now is not None:
        lines += clock_lines(state, scene.names, now, scene.words)
    return "\n".join(lines)


def opening_of(state: MatchState) -> Text:
    """Return with which moves a match began that has an opening."""
    return SAY("opening", moves=" ".join(state.first_moves(state.opening)))


def takeovers(scene: NamedMatch) -> list[str]:
    """Return a clause on each seat that a substitute has taken over: whose it was, and until which move."""
    return [
        scene.said(SAY("played-until", player=named_side(scene.side(one.seat), name), ply=one.ply))
        for one, name in zip(scene.state.left_seats, scene.left, strict=False)
    ]


def _progress(scene: NamedMatch) -> str:
    state = scene.state
    if state.awaits_entropy:
        players = scene.everyone(state.waits)
        if state.sealed:
            return scene.said(SAY("awaited-reveal", players=players))
        return scene.said(SAY("awaited-accept", players=players))
    if state.over or state.next is None:
        now = over(state, scene.names, scene.words)
    else:
        now = scene.turn(state.next)
    if state.invited:
        invited = scene.everyone(state.invited)
        now = scene.said(SAY("yet-to-accept", now=now, players=invited))
    if not state.ply:
        return now
    return scene.said(SAY("last-move", now=now, move=state.first_moves(state.ply)[-1]))


def summary_at(scene: NamedMatch, plies: int) -> str:
    """Return the lines above an earlier board; `scene` has its position."""
    state = scene.state
    mover = scene.rules.to_move(scene.position)
    earlier = msgspec.structs.replace(
        state,
        ply=plies,
        moves=" ".join(state.first_moves(plies)),
        next=mover,
        result=None,
        offer=None,
        invitation=None,
    )
    was = summary(msgspec.structs.replace(scene, state=earlier))
    return scene.said(SAY("stands-now", was=was, ply=state.ply))
