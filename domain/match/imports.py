"""Imported matches: a match from elsewhere is proposed whole, and goes on once all have accepted it.

The front end has checked the document that proves the match. Here it is checked that the match can go
on: every move is legal by the rules of this server, and turns, seats and end fit the moves.
"""

import struct
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from domain.clocks.match_clock import NO_SEAT, seats_of_turns
from domain.errors import Code, Refusal
from domain.match.commands import ImportMatch
from domain.match.decision import Decision
from domain.match.events import Ended, Gathered, Imported, ImportedResult, MatchSource, MatchStarted
from domain.match.evolve import evolve
from domain.match.history import EVENT_LIMIT, body_size
from domain.match.sentences import SAY
from domain.match.state import (
    ImportedMatch,
    MatchState,
    Reason,
    first_position,
    initial,
    position_at,
    position_of,
    without_leavers,
)
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import AnyRules, MissingRules, Seat, pack_position, rules_by_id
from domain.sentences import ENGLISH, Translation

DOCUMENT: Final = "document"
"""The kind of a source that is a match document."""

RECORD: Final = "record"
"""The kind of a source that is a bare list of moves."""

_ENVELOPE: Final = 128
"""More bytes than an event has beside its body."""


def describe_source(source: MatchSource, language: Translation = ENGLISH) -> str:
    """Return a clause about where an imported match comes from, and what proves it."""
    host = source.origin.partition("/")[0]
    if source.kind != DOCUMENT:
        said = SAY("from-record")
    elif not host:
        said = SAY("from-board", board=source.board)
    else:
        said = SAY("from-server", host=host, board=source.board)
    return said.in_language(language)


def describe_import(imported: ImportedMatch) -> str:
    """Return a clause about what the check of an imported match does not cover."""
    source, moves = imported.source, f"the first {imported.ply} moves"
    said = describe_source(source)
    if source.kind != DOCUMENT:
        return f"{said}: {moves} are legal, and nothing shows that they were played"
    return (
        f"{said}: {moves}, the times before and what was dealt are checked by the match document "
        f"{source.digest.hex()}, which an export contains"
    )


def check_seats(rules: AnyRules, seats: Sequence[AccountId]) -> None:
    """Refuse as `bad-players` a wrong number of players, and a player with two seats."""
    if len(seats) not in rules.players:
        counts = " ".join(map(str, rules.players))
        raise Refusal(Code.BAD_PLAYERS, SAY("players", title=rules.title, counts=counts))
    if len(set(seats)) != len(seats):
        raise Refusal(Code.BAD_PLAYERS, SAY("twice"))


def import_command(
    state: MatchState, seats: tuple[AccountId, ...], source: MatchSource
) -> ImportMatch:
    """Return the command that imports a match of another server, for these accounts of this one.

    A match that its players transferred goes on as it stood. Refused as `not-started` if it never had
    a position.
    """
    if state.has_no_position:
        raise Refusal(Code.NOT_STARTED, "the match has not begun, so there is nothing to import")
    ended = state.result
    goes_on = ended is None or ended.reason == Reason.TRANSFERRED
    mover = rules_by_id(state.rules).to_move(position_at(state, state.ply)) if goes_on else None
    clock = state.clock
    return ImportMatch(
        rules=state.rules,
        options=state.options,
        seats=seats,
        terms=replace(clock.terms, rated=False) if clock else None,
        setup=state.setup,
        moves=state.moves,
        turns=clock.turns if clock else b"",
        acted=state.acted,
        out=state.out,
        next=mover,
        result=None if goes_on or ended is None else ImportedResult(ended.winners, ended.reason),
        source=source,
        given=clock.given if clock else (),
    )


def import_match(command: ImportMatch, actor: AccountId, state: MatchState) -> Decision:
    """Propose a match from elsewhere; it waits until every player has accepted it."""
    if actor != SERVER_ACCOUNT:
        raise Refusal(Code.NOT_A_PLAYER, SAY("import-server"))
    if state.started:
        raise Refusal(Code.ALREADY_STARTED, SAY("started"))
    rules = rules_by_id(command.rules)
    if isinstance(rules, MissingRules):
        raise Refusal(Code.UNKNOWN_RULES, rules.text)
    check_seats(rules, command.seats)
    fields = {name: getattr(command, name) for name in ImportMatch.__struct_fields__}
    options = rules.write_options(rules.read_options(command.options))
    imported = Imported(**{**fields, "options": options, "text": b""})
    if (size := body_size(imported) + _ENVELOPE) > EVENT_LIMIT:
        raise Refusal(Code.TOO_LONG, SAY("import-size", size=size, most=EVENT_LIMIT))
    position = _last_position(imported, evolve(initial(), imported, 0), rules)
    return Decision((imported,), pack_position(position))


def _last_position(imported: Imported, state: MatchState, rules: AnyRules) -> Any:
    """Return the position after all moves.

    Refuses moves that are illegal or written in another way, and what does not fit them.
    """
    position = without_leavers(state, rules, first_position(state), 0)
    movers: list[Seat | None] = []
    for ply, text in enumerate(state.first_moves(state.ply), 1):
        if rules.outcome(position) is not None:
            raise Refusal(Code.BEYOND_END, SAY("import-end"))
        move = rules.check(position, rules.read(text))
        if rules.write(move) != text:
            raise Refusal(Code.UNREADABLE_MOVE, SAY("import-end"))
        movers.append(rules.to_move(position))
        position = without_leavers(state, rules, rules.play(position, move), ply)
    _check_turns(imported, movers)
    _check_end(imported, rules, position)
    return position


def _check_turns(imported: Imported, movers: Sequence[Seat | None]) -> None:
    """Refuse turns of other seats than those that moved."""
    try:
        seats: list[Seat] | None = seats_of_turns(imported.turns)
    except struct.error:
        seats = None
    if seats and len(seats) == len(movers):
        # the moves of an opening are of no seat
        movers = [
            NO_SEAT if seat == NO_SEAT else mover for seat, mover in zip(seats, movers, strict=True)
        ]
    acted = sum(1 << seat for seat in set(movers) if seat not in (None, NO_SEAT))
    everybody = (1 << len(imported.seats)) - 1
    left = [seat for seat, _ in imported.out]
    fits = (
        seats == (list(movers) if imported.terms else [])
        and imported.acted & acted == acted
        and imported.acted | everybody == everybody
        and len(set(left)) == len(left)
        and all(0 <= seat < len(imported.seats) for seat in left)
        and all(0 <= ply <= len(movers) for _, ply in imported.out)
        and all(one.seat in range(len(imported.seats)) for one in imported.given)
    )
    if not fits:
        raise Refusal(Code.BAD_REQUEST, SAY("import-turns"))


def _check_end(imported: Imported, rules: AnyRules, position: Any) -> None:
    """Refuse another seat to move than the position has, and a match that goes on after its end."""
    result = imported.result
    if result is None:
        fits = (
            rules.outcome(position) is None
            and imported.next is not None
            and imported.next == rules.to_move(position)
            and len(imported.out) < max(2, len(imported.seats)) - 1
        )
    else:
        seats = range(len(imported.seats))
        fits = imported.next is None and all(seat in seats for seat in result.winners)
    if not fits:
        raise Refusal(Code.BAD_REQUEST, SAY("import-end"))


def start_imported(state: MatchState, imported: ImportedMatch, gathered: Gathered) -> Decision:
    """Go on with an imported match that all have accepted; `state` is that after the last acceptance.

    Nothing is drawn: the setup is the source's, and its log proves the draw.
    """
    position = position_of(state)
    result = imported.result
    started = MatchStarted(
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        setup=state.setup,
        next=None if result else rules_by_id(state.rules).to_move(position),
        terms=state.clock.terms if state.clock else None,
    )
    ended = () if result is None else (Ended(winners=result.winners, reason=result.reason),)
    return Decision((gathered, started, *ended), pack_position(position))
