"""Disputes: claims, appeals and rulings, each from its text to the command of the match.

The text is stored before its command is submitted, so that no event has the digest of a text that nobody
has, and erased if the command is refused.
"""

from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import Command, CommandEnvelope, MakeAppeal, MakeClaim
from domain.match.decision import seat_of
from domain.match.disputes import open_case
from domain.match.events import AccountId, Appealed, CommandId, Ruled
from domain.match.leaves import decode_event
from domain.match.state import Case, MatchState
from infra.people.security_log import SecurityEvent, note_security
from infra.people.statements import MOST_STATEMENTS, Statement
from infra.store.outcomes import CommandOutcome, parse
from services.app.actor import Actor
from services.app.context import App
from services.app.matches import load_state
from services.app.play import Steps, check, course, finish
from services.app.receipts import Answered
from services.app.rulings import Verdict, ruling_of
from services.app.sentences import SAY

_ABANDONED_MS: Final = 3_600_000
"""Age at which a statement whose command has no outcome is taken for abandoned."""


class ClaimAction(msgspec.Struct, frozen=True):
    """Claim that something is wrong from a ply on."""

    ply: int
    text: str


class AppealAction(msgspec.Struct, frozen=True):
    """Object to a ruling."""

    text: str
    claim: int | None = None
    """The number of the case; None for the last on which an arbiter has ruled."""


class RuleAction(msgspec.Struct, frozen=True):
    """Rule on a case."""

    verdict: Verdict
    text: str
    """The reasons."""
    claim: int | None = None
    """The number of the case; None for the one that waits."""
    own_motion: bool = False
    """Whether it is a ruling without a claim."""


DisputeAction = ClaimAction | AppealAction | RuleAction


def is_arbiter(app: App, account: AccountId) -> bool:
    """Return whether an account is an arbiter."""
    profile = app.accounts.record_of(account)
    return profile is not None and profile.arbiter


def check_arbiter(app: App, account: AccountId) -> None:
    """Refuse an account that is no arbiter: `not-an-arbiter`."""
    if not is_arbiter(app, account):
        raise Refusal(Code.NOT_AN_ARBITER, SAY("arbiters-only"))


def check_may_see(app: App, account: AccountId, state: MatchState) -> None:
    """Refuse an account that may not read a match's statements: `not-a-player`."""
    if account not in state.seats and not is_arbiter(app, account):
        raise Refusal(Code.NOT_A_PLAYER, SAY("cases-readers"))


@course
def dispute(app: App, actor: Actor, board: int, action: DisputeAction) -> Steps[Answered]:
    """Store the text of an action, and carry out the command that has its digest.

    A command that was refused before is refused again, and its text is not stored again. Refused as
    `Statements.put` does, as `not-a-player`, `not-an-arbiter`, `unknown-claim`, and for a ruling as
    `ruling_of` does.
    """
    state, id_ = load_state(app, board), actor.command_id()
    _check_role(app, actor.account, state, action)
    stored = app.store.outcome(board, id_)
    outcome = None if stored is None else parse(stored)
    if outcome is not None and not outcome.accepted:
        return check(app, Answered.of(board, id_, outcome), outcome)
    claim = None if outcome is None else _claim_before(app, board, id_, outcome)
    command = _command(app, actor, board, state, action, claim)
    sent = CommandEnvelope(board, id_, actor.account, command)
    outcome = yield sent, state.ply
    if not outcome.accepted:
        app.statements.remove(board, id_)
    elif isinstance(action, RuleAction):
        note_security(SecurityEvent.RULING, actor.account, match=board)
    return finish(app, sent, outcome)


def case_to_rule(state: MatchState) -> Case:
    """Return the case of a match that waits for a ruling; `unknown-claim` for none."""
    waiting = open_case(state)
    if waiting is None:
        raise Refusal(
            Code.UNKNOWN_CLAIM,
            SAY("no-case-waits"),
        )
    return waiting


def _check_role(app: App, account: AccountId, state: MatchState, action: DisputeAction) -> None:
    match action:
        case ClaimAction() if account not in state.seats:
            if not is_arbiter(app, account):
                raise Refusal(Code.NOT_A_PLAYER, SAY("claimants"))
        case AppealAction():
            seat_of(account, state)
        case RuleAction():
            check_arbiter(app, account)
            if account in state.seats:
                raise Refusal(Code.NOT_AN_ARBITER, SAY("own-match"))
        case _:
            pass


def _command(
    app: App,
    actor: Actor,
    board: int,
    state: MatchState,
    action: DisputeAction,
    known: int | None,
) -> Command:
    match action:
        case ClaimAction():
            digest = _store(app, actor, board, action.text).digest
            return MakeClaim(ply=action.ply, text=digest)
        case AppealAction():
            claim = action.claim or known or _case_to_appeal(state)
            return MakeAppeal(claim=claim, text=_store(app, actor, board, action.text).digest)
        case RuleAction():
            names = app.accounts.name_of(state.seats)
            ruled = None
            if not action.own_motion:
                ruled = action.claim or known or case_to_rule(state).claim
            ruling = ruling_of(state, names, action.verdict, ruled)
            digest = _store(app, actor, board, action.text).digest
            return msgspec.structs.replace(ruling, text=digest)


def _case_to_appeal(state: MatchState) -> int:
    """Return the number of the last case, of those with a ruling if there are any; `unknown-claim` for none."""
    ruled = [case for case in state.cases if case.ruled_at] or state.cases
    if not ruled:
        raise Refusal(Code.UNKNOWN_CLAIM, SAY("no-ruling"))
    return ruled[-1].claim


def _store(app: App, actor: Actor, board: int, text: str) -> Statement:
    """Store the text of a command once; a repetition returns what was stored."""
    if app.statements.count_of(board, actor.account) >= MOST_STATEMENTS // 2:
        _remove_abandoned(app, board)
    return app.statements.put(board, actor.account, text.replace("\r\n", "\n"), actor.command_id())


def _claim_before(app: App, board: int, id_: CommandId, outcome: CommandOutcome) -> int | None:
    """Return the number of the case that a command was about which was accepted before; None for a claim."""
    if not any(one.command == id_ for one in app.statements.of_match(board)):
        raise Refusal(Code.ID_REUSED, SAY("key-reused"))
    body = decode_event(app.store.events(board)[outcome.seq - 1]).body
    return body.claim if isinstance(body, Ruled | Appealed) else None


def _remove_abandoned(app: App, board: int) -> None:
    """Erase the texts of commands that never led to an event, because a process was killed."""
    before = app.store.now() - _ABANDONED_MS
    outcomes = app.store.outcomes(board)
    for one in app.statements.of_match(board):
        stored = outcomes.get(one.command)
        if one.at < before if stored is None else not parse(stored).accepted:
            app.statements.remove(board, one.command)
