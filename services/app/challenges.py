"""Open challenges: matches that are offered to anybody."""

from collections.abc import Callable, Sequence

from domain.clocks.time_control import write_time_control
from domain.errors import Code, Refusal
from domain.game.engine import RobotLevel
from domain.match.start_command import StartOptions, check_players, read_start_options
from domain.rules import AnyRules, rules_id
from infra.people.challenges import Challenge, ChallengeState, Proposal
from infra.people.challenges.start import challenge_start
from services.app.actor import Actor
from services.app.contact import check_open_challenge
from services.app.context import App
from services.app.draws import read_commitment
from services.app.opponents import check_fills, check_wanted, reserve_robot_match, robot_of
from services.app.play import Steps, course, decided
from services.app.sentences import SAY


def proposal_of(
    rules: AnyRules,
    options: Sequence[str],
    terms: Sequence[str],
    *,
    seats: int,
    seat: int | None = None,
    note: str = "",
    listed: bool = True,
) -> Proposal:
    """Return a proposal in its stored form; refuses what a start by name refuses.

    A challenge that is not `listed` is in no list: only those who know its id can take it.
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
    return Proposal(
        rules=rules_id(rules),
        options=rules.write_options(read),
        words=_words(agreed),
        seats=seats,
        seat=seat,
        note=note,
        listed=listed,
    )


def propose(app: App, actor: Actor, proposal: Proposal, commitment: str = "") -> Challenge:
    """Open a challenge, with the commitment of its maker to a text for the draw; empty for none."""
    own = _read_commitment(proposal, commitment)
    return app.challenges.open(actor.account, proposal, actor.command_id(), own)


def take(app: App, actor: Actor, id_: str, commitment: str = "") -> Challenge:
    """Take a free seat, unless one of the players there does not want that.

    Where it was the last seat, the state is `ChallengeState.TAKEN`: `begun_when_full` goes on then.
    """
    found = app.challenges.get(id_)
    own = _read_commitment(found.proposal, commitment)
    if found.state is ChallengeState.OPEN and actor.account not in found.players:
        check_open_challenge(app, actor.account, found.players)
    return app.challenges.take(id_, actor.account, own)


def fill_with_robot(app: App, actor: Actor, id_: str, level: RobotLevel) -> Challenge:
    """Let a robot take a free seat of the actor's own challenge; see `take` for the last seat.

    The match is unrated then. `not-a-player` for a challenge of another, `not-wanted` where no
    robots play or a player has blocked this one, `too-many` where too many matches with robots go on.
    """
    found = app.challenges.get(id_)
    check_fills(found, actor)
    robot = robot_of(app, level).account
    if found.state is ChallengeState.OPEN and robot not in found.players:
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
    return (*gather, *(write_time_control(agreed.terms) if agreed.terms else ()))
