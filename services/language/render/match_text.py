"""Sentences about a match and its events."""

from collections.abc import Sequence
from typing import Any, Self, assert_never

import msgspec

from domain.match.dispute_events import Appealed, Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.events import (
    Absent,
    Called,
    Challenged,
    Committed,
    Declined,
    Ended,
    Event,
    Flagged,
    Gathered,
    Imported,
    MatchStarted,
    Moved,
    Nagged,
    OfferAnswered,
    OfferMade,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Revealed,
    Sealed,
    Undone,
    Withheld,
)
from domain.match.imports import describe_source
from domain.match.state import MatchState, position_of
from domain.rules import AnyRules, MissingRules, Seat, rules_by_id
from domain.sentences import LANGUAGES
from services.app.context import App
from services.app.endings import ending_clause
from services.app.names import join_names, names_by_seat
from services.app.sentences import offer_name
from services.language.render.dates import clock_lines, instant, span


class NamedMatch(msgspec.Struct, frozen=True):
    """A match at one moment, with the names of its players."""

    board: int
    state: MatchState
    rules: AnyRules
    names: tuple[str, ...]
    position: Any
    """A struct of the game's own type; None before a draw, and of a game not installed."""

    @classmethod
    def of(cls, app: App, board: int, state: MatchState, language: str = LANGUAGES[0]) -> Self:
        """Look up the names, the rules and the position of a state."""
        names = names_by_seat(app, state.seats, language)
        rules = rules_by_id(state.rules)
        unknown = state.has_no_position or isinstance(rules, MissingRules)
        return cls(board, state, rules, names, None if unknown else position_of(state))

    def who(self, seat: Seat) -> str:
        """Return a player's side and name, such as `Light (alice)`."""
        return f"{self.rules.sides[seat]} ({self.names[seat]})"

    def everyone(self, seats: Sequence[Seat]) -> str:
        """Return several players, as `who` names them."""
        return join_names([self.who(seat) for seat in seats])

    def others(self, seat: Seat) -> str:
        """Return all players but one, as `who` names them."""
        return self.everyone([s for s in range(len(self.names)) if s != seat])

    def turn(self, seat: Seat) -> str:
        """Return whose turn it is, such as `Dark's turn (bob)`."""
        return f"{self.rules.sides[seat]}'s turn ({self.names[seat]})"

    @property
    def place(self) -> str:
        """The match and how many moves have been played in it, such as `match 1, #4`."""
        return f"match {self.board}, #{self.state.ply}"

    @property
    def options(self) -> str:
        """The options as they are written in a challenge."""
        return "".join(f" {option}" for option in self.state.options)


_TURNING = Moved | MatchStarted | Undone | SetBack | TimeGiven | Resigned | Flagged
"""Events after which the sentence says whose turn it is."""


def describe_events(scene: NamedMatch, events: Sequence[Event]) -> str:
    """Return a sentence on the events of a command; `scene` is the match after the last of them."""
    clauses = [_describe_event(scene, event) for event in events]
    # vacations of players are added to a match after it has started
    last = next((event for event in reversed(events) if not isinstance(event, Absent)), events[-1])
    if isinstance(last, _TURNING) and scene.state.next is not None:
        clauses += _passed_players(scene, last)
        if len(scene.names) > 1:  # a single player is always to move
            clauses.append(f"it is {scene.turn(scene.state.next)}")
    return f"{scene.place}: {'; '.join(clauses)}"


def _passed_players(scene: NamedMatch, event: Event) -> list[str]:
    """Return a clause for each player whom the rules passed between a move and the next turn."""
    if not isinstance(event, Moved) or event.next is None:
        return []
    count = len(scene.names)
    between = range(event.seat + 1, event.seat + 1 + (event.next - event.seat - 1) % count)
    return [
        f"{scene.who(seat % count)} can't move and is passed"
        for seat in between
        if seat % count in scene.state.active_seats
    ]


def _describe_event(scene: NamedMatch, event: Event) -> str:  # noqa: C901, PLR0911, PLR0912 - one for each event
    match event:
        case MatchStarted():
            players = " against ".join(map(scene.who, range(len(scene.names))))
            started = f"{scene.rules.title}{scene.options} has started, {players}"
            note = scene.rules.option_warning(scene.rules.read_options(scene.state.options))
            return f"{started} ({note})" if note else started
        case Imported():
            players = " against ".join(map(scene.who, range(len(scene.names))))
            plies, everybody = len(event.moves.split()), scene.everyone(range(len(scene.names)))
            return (
                f"{scene.rules.title}{scene.options} is to go on here from #{plies}, {players}; "
                f"{describe_source(event.source)}; it waits for {everybody} to say accept"
            )
        case Challenged():
            players = " against ".join(map(scene.who, range(len(scene.names))))
            called = f"{scene.rules.title}{scene.options} is proposed, {players}"
            waited = list(range(1, len(scene.names)))
            if isinstance(event, Called):
                waited = [seat for seat, one in enumerate(event.commitments) if not one.digest]
            if not waited:
                return called
            return f"{called}; it waits for {scene.everyone(waited)} to say accept"
        case Committed():
            return f"{scene.who(event.seat)} accepted and committed to a text for the draw"
        case Sealed():
            sealed = f"all have committed, and seed {event.k} of chain {event.chain} draws"
            if not event.waits:
                return sealed
            return f"{sealed}; it waits for {scene.everyone(event.waits)} to reveal their texts"
        case Revealed():
            return f"the text of {scene.who(event.seat)} is revealed"
        case Withheld():
            return f"{scene.who(event.seat)} did not reveal the text for the draw"
        case Gathered():
            if scene.state.imported is not None:
                return f"{scene.who(event.seat)} accepted"
            gave = "gave entropy" if event.text else "gave no entropy"
            return f"{scene.who(event.seat)} accepted and {gave}"
        case Moved():
            how = "played the conditional move" if event.queued else "played"
            return f"{scene.who(event.seat)} {how} {event.move}"
        case OfferMade():
            return f"{scene.who(event.seat)} proposed {offer_name(event.kind)}"
        case OfferAnswered():
            verb = "accepted" if event.accept else "rejected"
            return f"{scene.who(event.seat)} {verb} the {event.kind}"
        case Undone():
            return f"it is taken back to #{event.ply}"
        case Resigned():
            return f"{scene.who(event.seat)} resigned"
        case Flagged():
            return f"the time of {scene.who(event.seat)} is over"
        case Nagged():
            return f"{scene.who(event.seat)} was reminded"
        case Paused():
            return "all clocks stand still until one of you says resume"
        case Resumed():
            return f"{scene.who(event.seat)} ended the pause"
        case Absent():
            return f"{scene.who(event.seat)} is on vacation until {instant(event.until)}"
        case Returned():
            return f"{scene.who(event.seat)} ends the vacation on {instant(event.until)}"
        case Declined():
            return f"{scene.who(event.seat)} declined to play"
        case Claimed():
            who = "an arbiter" if event.seat is None else scene.who(event.seat)
            return f"{who} made a claim about #{event.ply}"
        case Ruled():
            return _describe_ruling(event)
        case Appealed():
            return f"{scene.who(event.seat)} appealed against the ruling on claim {event.claim}"
        case SetBack():
            return f"it is set back to #{event.ply} and goes on there"
        case TimeGiven():
            return f"{scene.who(event.seat)} gets {span(event.ms)} more"
        case Ended() | ResultChanged():
            return ending_sentence(scene)
        case _:  # pragma: no cover - the union is closed
            assert_never(event)


def _describe_ruling(event: Ruled) -> str:
    if event.claim is None:
        return "an arbiter ruled"
    verb = "upheld" if event.upheld else "dismissed"
    return f"an arbiter {verb} claim {event.claim}"


def ending_sentence(scene: NamedMatch) -> str:
    """Return how a match that is over has ended, and why."""
    return f"the match is over: {ending_clause(scene.state, scene.names)}"


def summary(scene: NamedMatch, now: int | None = None) -> str:
    """Return the lines above a board: game, players, who is to move or how it ended, offers.

    With `now`, in ms, also what the clocks show.
    """
    state = scene.state
    players = ", ".join(
        f"{side} {name}" for side, name in zip(scene.rules.sides, scene.names, strict=False)
    )
    lines = [
        f"match {scene.board}: {scene.rules.title} ({state.rules}{scene.options})",
        f"players: {players}",
        f"#{state.ply}: {_progress(scene)}",
    ]
    if state.imported is not None:
        lines.append(describe_source(state.imported.source))
    if state.offer is not None:
        maker = state.offer.seat
        lines.append(
            f"{scene.who(maker)} proposed {offer_name(state.offer.kind)}; "
            f"{scene.others(maker)} can accept or reject it"
        )
    if now is not None:
        lines += clock_lines(state, scene.names, now)
    return "\n".join(lines)


def _progress(scene: NamedMatch) -> str:
    state = scene.state
    if state.awaits_entropy:
        do = "reveal their texts" if state.sealed else "say accept"
        return f"it waits for {scene.everyone(state.waits)} to {do}"
    now = (
        ending_sentence(scene)
        if state.over or state.next is None
        else f"it is {scene.turn(state.next)}"
    )
    return f"{now}; the last move was {state.first_moves(state.ply)[-1]}" if state.ply else now


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
    )
    was = summary(msgspec.structs.replace(scene, state=earlier))
    return f"{was}; now it stands at #{state.ply}"
