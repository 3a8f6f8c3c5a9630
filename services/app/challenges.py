"""Open challenges: matches that are offered to anybody.

Invitations to matches by name: declining all of one challenger's, and the matches that a block ends.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from domain.clocks.time_control import write_time_control
from domain.errors import Code, Refusal
from domain.game.engine import RobotLevel
from domain.match.commands import CommandEnvelope, DeclineMatch
from domain.match.moves import may_decline
from domain.match.start import OPENING_FLAG, StartOptions, check_players, read_start_options
from domain.match.state import MatchState, is_bot
from domain.records import AccountId, command_id
from domain.rules import AnyRules, read_opening, rules_by_id, rules_id
from infra.people.challenges import Challenge, ChallengeState, Proposal
from infra.people.challenges.record import challenge_start
from infra.projections.match_lists import MatchFilter
from services.app.contact import check_open_challenge
from services.app.context import Actor, App
from services.app.draws import read_commitment
from services.app.games_off import check_on
from services.app.matches import read_snapshot
from services.app.names import are_of_one
from services.app.opponents import check_fills, check_wanted, reserve_robot_match, robot_of
from services.app.play import Steps, course, decided
from services.app.sanctions import check_may_start, check_may_write
from services.app.sentences import SAY


def proposal_of(  # noqa: PLR0913 - what a challenge has
    rules: AnyRules,
    options: Sequence[str],
    terms: Sequence[str],
    *,
    seats: int,
    seat: int | None = None,
    note: str = "",
    listed: bool = True,
    club: str = "",
) -> Proposal:
    """Return a proposal in its stored form; refuses what a start by name refuses.

    A challenge that is not `listed` is in no list: only those who know its id can take it. One with the id of a club
    is in the list of that club alone, and only its members can take it.
    """
    read = rules.read_options(options)
    check_players(rules, range(seats))
    agreed = read_start_options(terms, seats)
    if agreed.commitment:
        raise Refusal(
            Code.BAD_OPTION,
            SAY("open-commitment"),
        )
    if agreed.word:
        raise Refusal(
            Code.BAD_OPTION,
            "an open challenge takes no --entropy, since all could read it; with --gather the "
            "players give it when the match starts",
        )
    draws = rules.needs_draw(read, seats)
    if agreed.gather and not draws:
        raise Refusal(Code.BAD_OPTION, SAY("no-chance"))
    if agreed.opening:
        opening = read_opening(rules, read, seats, agreed.opening).moves
        agreed = replace(agreed, opening=opening)
    return Proposal(
        rules=rules_id(rules),
        options=rules.write_options(read),
        words=_words(agreed),
        seats=seats,
        seat=seat,
        note=note,
        listed=listed,
        club=club,
    )


def propose(app: App, actor: Actor, proposal: Proposal, commitment: str = "") -> Challenge:
    """Open a challenge, with the commitment of its maker to a text for the draw; empty for none."""
    check_on(app, rules_by_id(proposal.rules))
    check_may_start(app, actor.account)
    if proposal.note:
        check_may_write(app, actor.account)
    _check_club(app, actor.account, proposal)
    own = _read_commitment(proposal, commitment)
    return app.challenges.open(actor.account, proposal, actor.command_id(), own)


def take(app: App, actor: Actor, id_: str, commitment: str = "") -> Challenge:
    """Take a free seat, unless one of the players there does not want that.

    Where it was the last seat, the state is `ChallengeState.TAKEN`: `begun_when_full` goes on then.
    """
    found = app.challenges.get(id_)
    own = _read_commitment(found.proposal, commitment)
    if found.state is ChallengeState.OPEN and actor.account not in found.players:
        check_on(app, rules_by_id(found.proposal.rules))
        check_may_start(app, actor.account)
        _check_club(app, actor.account, found.proposal)
        check_open_challenge(app, actor.account, found.players)
        if is_bot(actor.account) and not all(map(is_bot, found.players)):
            raise Refusal(Code.NOT_WANTED, SAY("bot-takes"))
        if are_of_one(app, (*found.players, actor.account)):
            raise Refusal(Code.OWN_CHALLENGE, SAY("bot-takes-own"))
    return app.challenges.take(id_, actor.account, own)


def _check_club(app: App, account: AccountId, proposal: Proposal) -> None:
    if proposal.club and app.clubs.role_of(proposal.club, account) is None:
        raise Refusal(Code.NOT_WANTED, SAY("for-club-members"))


def fill_with_robot(app: App, actor: Actor, id_: str, level: RobotLevel) -> Challenge:
    """Let a robot take a free seat of the actor's own challenge; see `take` for the last seat.

    The match is unrated then. `not-a-player` for a challenge of another, `not-wanted` where no
    robots play or a player has blocked this one, `too-many` where too many matches with robots go on.
    """
    found = app.challenges.get(id_)
    check_fills(found, actor)
    robot = robot_of(app, level).account
    if found.state is ChallengeState.OPEN and robot not in found.players:
        check_on(app, rules_by_id(found.proposal.rules))
        check_wanted(app, found, robot)
        reserve_robot_match(app, actor.account, found.start_id, [robot])
    return app.challenges.take(id_, robot)


def withdraw(app: App, actor: Actor, id_: str) -> None:
    """Withdraw the actor's challenge, or leave the seat that the actor took in another's."""
    app.challenges.withdraw(actor.account, id_)


@course
def begun_when_full(app: App, take_seat: Callable[[], Challenge]) -> Steps[Challenge]:
    """Take a seat, and start the match if it was the last; return the challenge, which has its board then.

    The command is the same each time. If its outcome comes too late, the scheduler does the rest.
    """
    taken = take_seat()
    if taken.state is not ChallengeState.TAKEN:
        return taken
    begun = yield from decided(app, challenge_start(taken, app.store, app.words))
    # crash window: the match has started and the challenge does not know its board
    return app.challenges.mark_started(taken.id, begun.board)


def gathers(proposal: Proposal) -> bool:
    """Whether the players of a challenge keep the texts of a sealed deal themselves."""
    return "--gather" in proposal.words


def _read_commitment(proposal: Proposal, commitment: str) -> bytes:
    if not commitment:
        return b""
    if not gathers(proposal):
        raise Refusal(
            Code.BAD_OPTION, "the match gathers nothing for a draw; leave `commitment` out"
        )
    return read_commitment(commitment)


def _words(agreed: StartOptions) -> tuple[str, ...]:
    gather = ("--gather",) if agreed.gather else ()
    opening = (f"{OPENING_FLAG}{agreed.opening}",) if agreed.opening else ()
    return (*gather, *opening, *(write_time_control(agreed.terms) if agreed.terms else ()))


_VIA = "decline-all"
"""In place of a front end's name in the ids of these commands, so that each match is declined once."""

_SEARCHED = 500
"""How many running matches are searched for the other player, the newest first."""


def decline_all(app: App, actor: Actor, userid: str) -> int:
    """Decline all matches by name to which a player invites the actor; return how many.

    `unknown-user` for the player. The answers are submitted, and nobody waits for their outcomes.
    """
    other = app.accounts.id_of(userid)

    def invites(state: MatchState, account: AccountId) -> bool:
        return is_invited(state, account) and not is_invited(state, other)

    return _decline(app, actor.account, _together(app, actor.account, other), invites)


def count_from(app: App, account: AccountId, other: AccountId) -> int:
    """Return to how many matches by name a player invites an account."""
    invited = [
        {row.seats[seat] for seat in row.invited}
        for row in app.lists.proposed(account)
        if other in row.seats
    ]
    return sum(account in accounts and other not in accounts for accounts in invited)


def decline_unplayed(app: App, account: AccountId, other: AccountId) -> int:
    """Decline all matches with another player in which the account has not moved; return how many."""
    boards = _together(app, account, other)
    rows = app.lists.of(account, MatchFilter.ACTIVE, count=_SEARCHED)
    boards |= {row.board for row in rows if other in row.seats}
    return _decline(app, account, boards, _has_not_moved)


def is_invited(state: MatchState, account: AccountId) -> bool:
    """Return whether a player has yet to accept a match by name."""
    return account in state.seats and state.seats.index(account) in state.invited


def _has_not_moved(state: MatchState, account: AccountId) -> bool:
    if account not in state.seats or state.over:
        return False
    return may_decline(state.seats.index(account), state)


def _together(app: App, account: AccountId, other: AccountId) -> set[int]:
    """Return the boards of the invitations between two players, also those that are in no list yet."""
    listed = {row.board for row in app.lists.proposed(account) if other in row.seats}
    started = [entry.command for entry in app.starts.of(other) if account in entry.others]
    started += [entry.command for entry in app.starts.of(account) if other in entry.others]
    numbers = app.store.board_numbers(started) if started else []
    return listed | {board for board in numbers if board is not None}


def _decline(
    app: App,
    account: AccountId,
    boards: Iterable[int],
    wanted: Callable[[MatchState, AccountId], bool],
) -> int:
    numbers = sorted(boards)
    snapshots = app.store.snapshots(numbers) if numbers else []
    found = [
        board
        for board, data in zip(numbers, snapshots, strict=True)
        if wanted(read_snapshot(app, board, data).state, account)
    ]
    app.gateway.submit_all(
        [
            CommandEnvelope(board, command_id(_VIA, account, str(board)), account, DeclineMatch())
            for board in found
        ]
    )
    return len(found)
