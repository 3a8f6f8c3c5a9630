"""Pairing from outside: a batch of matches between others, who have agreed to be paired by an organiser.

Members agree by being in a club that says so, entrants of a tournament by having entered it. A batch is checked as a
whole, stored, and then started by the server's own commands, whose ids follow from its key: it may be interrupted at any
point and sent again, and each match begins once. What was stored is not checked again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from domain.clocks.time_control import read_time_control
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, StartMatch
from domain.match.start import check_players
from domain.match.state import MatchState
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import rules_by_id, rules_id
from domain.tournament.state import Phase
from infra.people.pairing_batches import BatchedPairing, PairingBatch
from infra.people.texts import without_invisible
from services.app import clubs, contact, tournaments
from services.app.context import Actor, App
from services.app.games import read_multiplayer_game
from services.app.games_off import check_on
from services.app.matches import read_snapshot
from services.app.opponents import check_robots_play
from services.app.play import Steps, course, finish
from services.app.sanctions import check_may_start
from services.app.sentences import SAY

MOST_PAIRINGS: Final = 500
"""Matches of a batch."""

MOST_OF_LABEL: Final = 60
"""Characters of a label."""


class WantedPairing(msgspec.Struct, frozen=True):
    """A match of a batch as it is asked for; what is None is as the batch has it."""

    players: tuple[str, ...]
    """Userids, in the order of the seats."""
    label: str = ""
    game: str | None = None
    options: tuple[str, ...] | None = None
    terms: tuple[str, ...] | None = None


class PairingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A batch as it is asked for."""

    club: str = ""
    """The path of the club whose members are paired; empty for a tournament."""
    tournament: int = 0
    """The number of the tournament whose entrants are paired; 0 for a club."""
    game: str = ""
    options: tuple[str, ...] = ()
    """The game's options, such as `-fast`."""
    terms: tuple[str, ...] = ()
    """The time control, such as `--days=3` and `--unrated`."""
    pairings: tuple[WantedPairing, ...]


class PairedBatch(msgspec.Struct, frozen=True):
    """The answer to a plan: either all its matches, or what is wrong with it."""

    batch: PairingBatch | None
    """None if a pairing is refused."""
    refused: tuple[Refusal | None, ...] = ()
    """By pairing why it is refused, None for one that could start; empty for a batch that has started."""


class MatchOfBatch(msgspec.Struct, frozen=True):
    """A match of a batch as it stands."""

    board: int
    label: str
    seats: tuple[AccountId, ...]
    state: MatchState
    """An empty one for a match that has not begun."""


class _Consent(NamedTuple):
    """The players who may be paired."""

    accounts: Collection[AccountId]
    refuse: Callable[[str], Refusal]
    """Returns the refusal of another player, by userid."""
    agreed: StartMatch | None = None
    """The game, options and time control that they have agreed to, without seats; None for any."""


@course
def pair(
    app: App, actor: Actor, plan: PairingPlan, count: Callable[[int], None] = lambda _: None
) -> Steps[PairedBatch]:
    """Start the matches of a batch, all or none; `count` counts so many commands, and refuses too many.

    `not-an-organiser`, `unknown-club`, `club-closed`, `not-wanted` for a club that does not say so, `unknown-tournament`,
    `too-late`, `sanctioned` and `bad-request` refuse it as a whole, `id-reused` another plan under its key.
    """
    app.ready()
    digest = sha256(msgspec.msgpack.encode(plan)).digest()
    batch = app.pairing_batches.get(actor.account, actor.key)
    if batch is None:
        starts = _checked(app, actor.account, plan)
        refused = tuple(one if isinstance(one, Refusal) else None for one in starts)
        if any(refused):
            return PairedBatch(None, refused)
        count(len(starts))
        batch = _stored(app, actor, plan, digest, starts)
    if batch.digest != digest:
        raise Refusal(Code.ID_REUSED, SAY("batch-key"))
    states = _states(app, [one.board for one in batch.pairings])
    sents = [
        CommandEnvelope(one.board, actor.command_id(_part(n)), SERVER_ACCOUNT, one.start)
        for n, one in enumerate(batch.pairings)
        if not states[one.board].over
    ]
    app.gateway.submit_all(sents)  # so that each of the steps below finds its outcome made
    for sent in sents:
        finish(app, sent, (yield sent, 0))
    return PairedBatch(batch)


def _part(number: int) -> str:
    return f"pairing {number}"


def _stored(
    app: App, actor: Actor, plan: PairingPlan, digest: bytes, starts: Sequence[StartMatch | Refusal]
) -> PairingBatch:
    """Store the matches of a checked plan with their numbers; return the batch that has the key."""
    boards = app.store.allocate_all([actor.command_id(_part(n)) for n in range(len(starts))])
    pairings = tuple(
        BatchedPairing(board, _label(one.label), start)
        for board, one, start in zip(boards, plan.pairings, starts, strict=True)
        if isinstance(start, StartMatch)
    )
    source = f"club {plan.club}" if plan.club else f"tournament {plan.tournament}"
    batch = PairingBatch(app.store.now(), digest, source, pairings)
    # crash window: numbers without matches; the same request again finds them
    return app.pairing_batches.add(actor.account, actor.key, batch)


def _label(text: str) -> str:
    return " ".join(without_invisible(text).split())


def _checked(app: App, account: AccountId, plan: PairingPlan) -> list[StartMatch | Refusal]:
    """Return for each pairing the command that starts it, or why it can't start."""
    check_may_start(app, account)
    consent = _consent(app, account, plan)
    players = {name.lower() for one in plan.pairings for name in one.players}
    known = {name: _account(app, name, consent) for name in players}
    found: list[StartMatch | Refusal] = []
    for one in plan.pairings:
        try:
            found.append(_start(app, plan, one, consent.agreed, known))
        except Refusal as reason:
            found.append(reason)
    return found


def _consent(app: App, account: AccountId, plan: PairingPlan) -> _Consent:
    """Return who has agreed to be paired by an account in this batch."""
    if bool(plan.club) == bool(plan.tournament):
        raise Refusal(Code.BAD_REQUEST, SAY("batch-of"))
    if plan.club:
        club = clubs.pairing_club(app, account, plan.club)
        members = {one.account for one in app.clubs.members(club.id)}
        return _Consent(
            members,
            lambda name: Refusal(
                Code.AGAINST_TERMS, SAY("no-club-member", name=name, club=club.name)
            ),
        )
    number = plan.tournament
    view = tournaments.view_of(app, account, number)
    if not view.organises:
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("tournament-organiser"))
    if view.state.phase not in (Phase.ENTRY, Phase.RUNNING):
        raise Refusal(Code.TOO_LATE, SAY("batch-tournament", number=number))
    named = (one for one in plan.pairings if (one.game, one.options, one.terms) != (None,) * 3)
    if plan.game or plan.options or plan.terms or any(named):
        raise Refusal(Code.AGAINST_TERMS, SAY("batch-terms", number=number))
    entrants = {account for n, account in enumerate(view.players) if n not in view.withdrawn}
    agreed = StartMatch(view.terms.rules, view.terms.options, (), terms=view.terms.clock)
    agreed = replace(agreed, opening=view.state.opening or UNSET)
    return _Consent(
        entrants,
        lambda name: Refusal(Code.NOT_ENTERED, SAY("not-entrant", name=name, number=number)),
        agreed,
    )


def _account(app: App, name: str, consent: _Consent) -> AccountId | Refusal:
    """Return the account of a userid that may be paired, or why it may not."""
    try:
        account = app.accounts.id_of(name)
        if account not in consent.accounts:
            raise consent.refuse(name)
        contact.check_pairing(app, account)
    except Refusal as reason:
        return reason
    return account


def _start(
    app: App,
    plan: PairingPlan,
    one: WantedPairing,
    agreed: StartMatch | None,
    known: Mapping[str, AccountId | Refusal],
) -> StartMatch:
    """Return the command that starts a match; refused as its terms and its players are."""
    start = agreed or _agreement(app, plan, one)
    names = [name.lower() for name in one.players]
    check_players(rules_by_id(start.rules), names)
    seats = []
    for name in names:
        account = known[name]
        if isinstance(account, Refusal):
            raise account
        seats.append(account)
    check_robots_play(app, seats)
    contact.check_pair(app, seats)
    return replace(start, seats=tuple(seats))


def _agreement(app: App, plan: PairingPlan, one: WantedPairing) -> StartMatch:
    """Return what the members of a club are to play, without seats."""
    rules = read_multiplayer_game(plan.game if one.game is None else one.game)
    check_on(app, rules)
    options = rules.read_options(plan.options if one.options is None else one.options)
    clock = read_time_control(plan.terms if one.terms is None else one.terms)
    return StartMatch(rules_id(rules), rules.write_options(options), (), terms=clock)


def batch_of(app: App, account: AccountId, key: str) -> tuple[PairingBatch, list[MatchOfBatch]]:
    """Return a batch of an organiser with its matches as they stand; `not-found`."""
    batch = app.pairing_batches.get(account, key)
    if batch is None:
        raise Refusal(Code.NOT_FOUND, SAY("no-batch"))
    states = _states(app, [one.board for one in batch.pairings])
    return batch, [
        MatchOfBatch(one.board, one.label, one.start.seats, states[one.board])
        for one in batch.pairings
    ]


def _states(app: App, boards: Sequence[int]) -> dict[int, MatchState]:
    stored = app.store.snapshots(boards)
    return {
        board: read_snapshot(app, board, data).state
        for board, data in zip(boards, stored, strict=True)
    }
