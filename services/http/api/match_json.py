"""The JSON of a match."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from domain.clocks import match_clock
from domain.clocks.time_control import TimeControl, write_time_control
from domain.match.history import Snapshot
from domain.match.imports import describe_source
from domain.match.state import MatchState, deadline, is_bot, position_at, position_of, robot_level
from domain.rules import AnyRules, Seat, rules_by_id
from domain.sentences import ENGLISH, Translation, text_in
from infra.languages.wording import wording
from services.app.matches import paused_since, phase_of, running_seat, seals_its_draw
from services.app.names import shown_names
from services.http.api.values import EndReason, LevelName, OfferKind, PhaseName, one_of
from services.words.agreements import described
from services.words.endings import over


class Seated(msgspec.Struct, frozen=True):
    """A seat of a match."""

    seat: Seat
    side: str
    """The name of the seat in the game, such as `Light`."""
    userid: str | None
    """Userid of the player; null for a deleted account."""
    playing: bool
    """False once the player has resigned or run out of time."""
    robot: LevelName | None
    """Level of the robot that plays, such as `easy`; null for a person."""
    bot: bool = False
    """True for a bot: a program of a player."""


class OpenOffer(msgspec.Struct, frozen=True):
    """An open offer."""

    kind: OfferKind
    """The kind of offer, such as `draw`."""
    seat: Seat
    """The seat that made it."""
    accepted: tuple[Seat, ...]
    """The seats that have accepted it."""


class Result(msgspec.Struct, frozen=True):
    """How a match has ended."""

    winners: tuple[Seat, ...]
    """The seats that have won: all tied seats for a draw, none if the match does not count."""
    reason: EndReason
    """Why the match ended, such as `resignation`."""
    text: str
    """The result in words."""


class SeatClock(msgspec.Struct, frozen=True):
    """One seat's clock."""

    seat: Seat
    used_ms: int
    """Counted time of all finished turns, in ms."""
    left_ms: int | None
    """Counted time until the flag falls, in ms, by the nearest limit; null without a limit."""


class TimeLimits(msgspec.Struct, frozen=True):
    """A time control in numbers; times are in days, and 0 is no limit."""

    turn: int
    """The time that a turn may take."""
    total: int
    """The time that all turns of a seat may take together."""
    bank: int
    """The time that each seat begins with and its turns use up."""
    increment: int
    """The time that each move adds to the bank of its seat."""
    cap: int
    """The time above which a bank never grows."""
    reminders: tuple[int, ...]
    """The times of a turn after which its player is reminded."""
    weekends: bool
    """Whether Saturdays and Sundays, UTC, count."""
    vacation: int | None
    """How many days of its player's vacations may stop the clock of a seat; null for all of them."""
    pause: bool
    """Whether the players can agree to a pause."""
    rated_from: int
    """The moves of the loser before which a forfeit changes no rating; 0 for a match that changes none."""


class Clock(msgspec.Struct, frozen=True):
    """The clocks of a match, at the time of the request."""

    terms: tuple[str, ...]
    """The options that differ from the defaults, as in a challenge."""
    text: str
    """The time control in words."""
    rated: bool
    now: int
    """Time of the request by the server's clock, in ms since 1970."""
    deadline: int | None
    """Time at which the flag of the player to move falls, in ms since 1970; null during a pause or
    without a limit."""
    reminder: int | None
    """Time at which the player to move gets the next reminder, in ms since 1970; null if there is none to
    come."""
    paused_since: int | None
    """Time at which the pause began, in ms since 1970; null if the match is not paused."""
    seats: tuple[SeatClock, ...]
    """The clocks by seat."""
    limits: TimeLimits
    """The `terms` in numbers, with their defaults."""


class BeforeDraw(msgspec.Struct, frozen=True):
    """The state of the players' commitments before the draw."""

    phase: Annotated[str, one_of(("commit", "reveal"))]
    """`commit` until all have accepted, then `reveal`."""
    commitments: tuple[str, ...]
    """SHA-256 of the players' texts by seat, in hex; empty for a player who has not committed."""
    revealed: tuple[Seat, ...]
    """The seats whose texts are known."""
    deadline: int | None
    """Time at which a player who has not acted counts as having declined, in ms since 1970; null
    without a limit."""


class Invited(msgspec.Struct, frozen=True):
    """The invitation to a match by name: until all have accepted or moved, no clock runs."""

    seats: tuple[Seat, ...]
    """The seats that have yet to accept."""
    lapses: int
    """Time at which the match ends unless all have accepted, in ms since 1970."""


class ImportedFrom(msgspec.Struct, frozen=True):
    """Where an imported match was played before."""

    kind: Annotated[str, one_of(("document", "record"))]
    """`document`, which its log proves, or `record`, a bare list of moves that nothing proves."""
    origin: str
    """The name of the log there; empty if none is known."""
    board: int
    """The number of the match there; 0 if it is not known."""
    head: str
    """Leaf hash of the last event there, in hex; empty for a record."""
    events: int
    """The number of events there; 0 for a record."""
    digest: str
    """SHA-256 of the imported document or record, in hex."""
    ply: int
    """The number of moves that were played there."""
    text: str
    """The same in words."""


class Place(msgspec.Struct, frozen=True):
    """A match at one ply."""

    ply: int
    """The number of moves played."""
    last_move: str | None
    """The last move in canonical form; null at the start."""
    to_move: Seat | None
    """The seat to move; null if there is none."""
    position: Any
    """The position in the game's own JSON form; null before a draw by chance."""
    legal: tuple[str, ...] | None
    """All legal moves in canonical form; null if they were not requested."""


class MatchOfTournament(msgspec.Struct, frozen=True):
    """The tournament that a match is of."""

    number: int
    pairing: int
    """The number of its pairing there, from 0."""


class Match(msgspec.Struct, frozen=True):
    """The present state of a match."""

    board: int
    """The number of the match."""
    game: str
    title: str
    rules: str
    """The version of the rules by which it is played, such as `pow2/1`."""
    options: tuple[str, ...]
    """The game's options, such as `-fast`."""
    setup: Any
    """The result of the draw by chance; null before it, and in a match without one."""
    players: tuple[Seated, ...]
    state: PhaseName
    """`waiting` for consent, `active` or `over`."""
    waits_for: tuple[Seat, ...]
    """The seats that have to act: the seat to move, or before a draw by chance those that have yet
    to accept or to reveal their texts."""
    ply: int
    """The number of moves played."""
    moves: tuple[str, ...]
    """All moves in canonical form."""
    at: Place
    """The present position."""
    offer: OpenOffer | None
    """Null if no offer is open."""
    result: Result | None
    """Null while the match is not over."""
    clock: Clock | None
    """Null for a match without clocks."""
    seq: int
    """Number of the last event."""
    updated: int
    """Time of the last event, in ms since 1970."""
    head: str
    """Leaf hash of the last event, in hex; the ETag depends on it."""
    draw: BeforeDraw | None
    """Null after the draw, and for a match whose players do not commit to texts."""
    imported: ImportedFrom | None
    """Null for a match that began on this server."""
    invitation: Invited | None = None
    """Null once all players have accepted."""
    tournament: MatchOfTournament | None = None
    """Null for a match of no tournament."""
    opening: int = 0
    """How many of the first moves it was given, as its opening; they are no player's, and are never taken back."""


def match_json(
    board: int,
    snapshot: Snapshot,
    names: Sequence[str | None],
    now: int,
    *,
    legal: bool,
    language: Translation = ENGLISH,
) -> Match:
    """Return a match as JSON shows it, its words in a language; `now` is in ms."""
    state = snapshot.state
    rules = rules_by_id(state.rules)
    return Match(
        board=board,
        game=rules.key,
        title=rules.title,
        rules=state.rules,
        options=state.options,
        setup=None if state.setup is None else msgspec.json.decode(state.setup),
        players=tuple(
            Seated(
                seat,
                text_in(rules.sides[seat], language),
                name,
                seat in state.active_seats,
                robot_level(account),
                is_bot(account),
            )
            for seat, (account, name) in enumerate(zip(state.seats, names, strict=True))
        ),
        state=phase_of(state),
        waits_for=state.waits,
        ply=state.ply,
        moves=tuple(state.first_moves(state.ply)),
        at=_current_ply_json(state, rules, legal=legal),
        offer=_offer_json(state),
        result=_result_json(state, names, language),
        clock=_clock_json(state, now, language),
        seq=state.seq,
        updated=state.at,
        head=snapshot.head.hex(),
        draw=_before_draw_json(state),
        imported=_imported_json(state),
        invitation=_invitation_json(state),
        tournament=MatchOfTournament(*state.pairing) if state.pairing else None,
        opening=state.opening,
    )


def _invitation_json(state: MatchState) -> Invited | None:
    if state.invitation is None or state.over:
        return None
    return Invited(state.invited, state.invitation.lapses)


def _imported_json(state: MatchState) -> ImportedFrom | None:
    if state.imported is None:
        return None
    source = state.imported.source
    return ImportedFrom(
        kind=source.kind,
        origin=source.origin,
        board=source.board,
        head=source.head.hex(),
        events=source.events,
        digest=source.digest.hex(),
        ply=state.imported.ply,
        text=describe_source(source),
    )


def _before_draw_json(state: MatchState) -> BeforeDraw | None:
    if state.gather is None or not seals_its_draw(state):
        return None
    return BeforeDraw(
        phase="reveal" if state.sealed else "commit",
        commitments=tuple(one.digest.hex() for one in state.gather.commitments),
        revealed=tuple(seat for seat, text in enumerate(state.texts) if text is not None),
        deadline=deadline(state),
    )


def ply_json(state: MatchState, ply: int, *, legal: bool) -> Place:
    """Return a match after `ply` moves, by replay."""
    rules = rules_by_id(state.rules)
    if ply == state.ply:
        return _current_ply_json(state, rules, legal=legal)
    return _position_json(state, rules, position_at(state, ply), ply, legal=legal)


def _offer_json(state: MatchState) -> OpenOffer | None:
    if state.offer is None:
        return None
    return OpenOffer(state.offer.kind, state.offer.seat, state.offer.accepted)


def _current_ply_json(state: MatchState, rules: AnyRules, *, legal: bool) -> Place:
    if state.has_no_position:
        return Place(0, None, None, None, () if legal else None)
    shown = _position_json(
        state, rules, position_of(state), state.ply, legal=legal and not state.over
    )
    if state.over:
        return msgspec.structs.replace(shown, to_move=None, legal=() if legal else None)
    return msgspec.structs.replace(shown, to_move=state.next)


def _position_json(
    state: MatchState, rules: AnyRules, position: Any, ply: int, *, legal: bool
) -> Place:
    over = rules.outcome(position) is not None
    moves = () if over else tuple(rules.legal_moves(position)) if legal else None
    return Place(
        ply=ply,
        last_move=state.first_moves(ply)[-1] if ply else None,
        to_move=None if over else rules.to_move(position),
        position=rules.public_json(position),
        legal=moves if legal else None,
    )


def _result_json(
    state: MatchState, names: Sequence[str | None], language: Translation
) -> Result | None:
    if state.result is None:
        return None
    text = over(state, shown_names(names, language), wording(language.code))
    return Result(state.result.winners, state.result.reason, text)


def _clock_json(state: MatchState, now: int, language: Translation) -> Clock | None:
    clock, mover = state.clock, running_seat(state)
    if clock is None:
        return None
    return Clock(
        terms=write_time_control(clock.terms),
        text=described(clock.terms, wording(language.code)),
        rated=bool(clock.terms.rated),
        now=now,
        deadline=match_clock.flag_time(clock, mover) if mover is not None else None,
        reminder=match_clock.reminder_time(clock, mover) if mover is not None else None,
        paused_since=paused_since(state),
        seats=tuple(
            SeatClock(
                seat,
                match_clock.time_used(clock, seat),
                match_clock.time_left(clock, seat, state.next, now),
            )
            for seat in range(len(state.seats))
        ),
        limits=_limits_json(clock.terms),
    )


def _limits_json(terms: TimeControl) -> TimeLimits:
    options = terms.options
    return TimeLimits(
        turn=terms.turn,
        total=terms.total,
        bank=terms.bank,
        increment=terms.increment,
        cap=options.cap,
        reminders=terms.reminders,
        weekends=options.weekends,
        vacation=options.vacation,
        pause=options.pause,
        rated_from=terms.rated_from,
    )
