"""Starting a match of players by name."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, StartMatch
from domain.match.history import decode_event
from domain.match.start import (
    StartOptions,
    check_players,
    read_start_options,
    start_command,
    with_commitments,
)
from domain.match.state import MatchState, robot_level
from domain.records import SERVER_ACCOUNT, AccountId, CommandId
from domain.rules import AnyRules, rules_by_id
from infra.people.pending_starts import MOST_BETWEEN_TWO, MOST_STARTS, PendingStart
from services.app import contact
from services.app.bot_rules import check_bots_accept, reserve_bots
from services.app.context import Actor, App
from services.app.draws import DrawPart, commitment_of
from services.app.games_off import check_on
from services.app.matches import read_snapshot
from services.app.names import are_of_one, shown_name
from services.app.opponents import (
    START_SECONDS,
    check_robots_play,
    has_robot,
    reserve_robot_match,
)
from services.app.sanctions import check_may_start
from services.app.sentences import SAY


def start_by_name(  # noqa: PLR0913 - what a match is made of
    app: App,
    actor: Actor,
    rules: AnyRules,
    players: Sequence[str],
    *,
    options: Sequence[str],
    terms: Sequence[str],
    commitment: str = "",
    counted: bool = True,
) -> CommandEnvelope:
    """Return the command that starts a match of these players, in the order of their seats.

    `options` are the game's, `terms` the server's, and `commitment` stands for `--commitment=HEX`
    among them. Refused as these are read, as `unknown-user`, `bad-players`, `not-wanted` and
    `too-many`. A start that the operator makes in a player's name is not `counted`.
    """
    terms = [*terms, *([f"--commitment={commitment}"] if commitment else ())]
    agreed = read_start_options(terms, len(players))
    rules.read_options(options)
    check_players(rules, [name.lower() for name in players])
    seats = [app.accounts.id_of(name) for name in players]
    agreed = unrated_with_robots(app, agreed, seats)
    id_ = actor.command_id()
    start = start_command(rules, options, agreed, seats, id_)
    app.ready()  # first, so that no number is allocated for a command that can't be submitted
    part = DrawPart(agreed.word, agreed.commitment)
    start = invite(start, actor.account, sealed=agreed.gather)
    return numbered_start(app, actor.account, id_, start, part, counted=counted)


def invite(start: StartMatch, challenger: AccountId, *, sealed: bool) -> StartMatch:
    """Return a start by name, to which the other players are invited; robots accept at once.

    `sealed` is whether players may keep the texts of the deal themselves.
    """
    if not _people(start.seats, challenger):
        return start
    deals = True if start.gather and not sealed else UNSET
    return replace(start, lapse=INVITATION_DAYS * DAY, server_deals=deals)


def _people(seats: Sequence[AccountId], challenger: AccountId) -> list[AccountId]:
    """Return the other players who are no robots."""
    return [seat for seat in seats if seat != challenger and robot_level(seat) is None]


def unrated_with_robots(app: App, agreed: StartOptions, seats: Sequence[AccountId]) -> StartOptions:
    """Return the options of a match of these accounts: one with a robot, or within an owner's bots, is never rated."""
    if agreed.terms is None or not (has_robot(seats) or are_of_one(app, seats)):
        return agreed
    return replace(agreed, terms=replace(agreed.terms, rated=False))


INVITATION_DAYS: Final = 14
"""How long the players of a match by name have to accept it, in days."""

_ABANDONED_SECONDS: Final = 24 * 3_600
"""How long a match counts that its challenger left before any of the others acted."""


def numbered_start(
    app: App,
    challenger: AccountId,
    command: CommandId,
    start: StartMatch,
    part: DrawPart,
    *,
    counted: bool,
) -> CommandEnvelope:
    """Return a start with its board's number; one that already has its match is never refused.

    `part` is what the challenger adds to the draw of a match that gathers.
    """
    if challenger not in start.seats:
        raise Refusal(Code.BAD_PLAYERS, SAY("not-named"))
    (board,) = app.store.board_numbers([command])
    if board is None or not _state(app, board).started:
        check_on(app, rules_by_id(start.rules))
        others = [seat for seat in start.seats if seat != challenger]
        if counted and others:
            check_may_start(app, challenger)
        check_robots_play(app, start.seats)
        contact.check_challenge(app, challenger, others)
        if counted and has_robot(others):
            reserve_robot_match(app, challenger, command, others)
        if counted and (people := _people(start.seats, challenger)):
            _reserve(app, challenger, command, people)
        if counted:
            check_bots_accept(app, start, others)
            reserve_bots(app, challenger, command, others)
        # crash window: the start is counted and has no match; an hour later it is not counted
        board = app.store.allocate(command)
    sent = CommandEnvelope(board, command, challenger, start)
    if not start.gather:
        return sent
    robots = [seat for seat in start.seats if robot_level(seat) is not None]
    commitments = {one: app.words.commitment(board, one) for one in robots}
    commitments[challenger] = commitment_of(app.words, board, challenger, part)
    return with_commitments(sent, commitments, app.store.events(sent.match))


def _reserve(
    app: App, challenger: AccountId, command: CommandId, others: Sequence[AccountId]
) -> None:
    """Count a start that the others have not accepted; `too-many` where there is no room."""
    if not app.starts.add(challenger, command, others):
        return
    # nothing reports here that a match was taken up or ended, so settled starts are found now
    entries = app.starts.of(challenger)
    settled = [entry.command for entry in entries if not _is_waiting(app, challenger, entry)]
    app.starts.remove(challenger, settled)
    if full := app.starts.add(challenger, command, others):
        raise _too_many(app, full)


def _is_waiting(app: App, challenger: AccountId, entry: PendingStart) -> bool:
    """Return whether a start waits for one of the others, or counts as if it did."""
    (board,) = app.store.board_numbers([entry.command])
    state = _state(app, board) if board is not None else MatchState()
    if board is None or not state.started:
        return _is_within(app, entry, START_SECONDS)
    if state.over:
        return _is_within(app, entry, _ABANDONED_SECONDS) and _was_left_alone(
            app, challenger, board
        )
    return state.invitation is not None


def _is_within(app: App, entry: PendingStart, seconds: int) -> bool:
    """Return whether a start was asked for within the last `seconds`.

    One in the future was not: it was asked for while a clock ran ahead.
    """
    return 0 <= app.store.now() - entry.at < seconds * 1000


def _was_left_alone(app: App, challenger: AccountId, board: int) -> bool:
    """Return whether a match that is over ended without any act of another player.

    Then its challenger ended it. It goes on counting because the others were written to all the
    same, and starting and resigning in turn would be a way round the limit.
    """
    actors = {decode_event(event).actor for event in app.store.events(board)}
    return actors <= {challenger, SERVER_ACCOUNT}


def _too_many(app: App, full: str) -> Refusal:
    if full == "all":
        return Refusal(
            Code.TOO_MANY,
            SAY("starts", most=MOST_STARTS),
        )
    (name,) = app.accounts.name_of([bytes.fromhex(full)])
    return Refusal(
        Code.TOO_MANY,
        SAY("too-many-between", player=shown_name(name), most=MOST_BETWEEN_TWO),
    )


def _state(app: App, board: int) -> MatchState:
    (data,) = app.store.snapshots([board])
    return read_snapshot(app, board, data).state
