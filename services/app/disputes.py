"""Disputes: claims, appeals and rulings, each from its text to the command of the match.

The text is stored before its command is submitted, so that no event has the digest of a text that nobody
has, and erased if the command is refused.

Rulings: as an arbiter writes them, and as commands of the match.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.match.commands import Command, CommandEnvelope, GiveRuling, MakeAppeal, MakeClaim
from domain.match.decision import seat_of
from domain.match.disputes import decide_dispute, open_case
from domain.match.events import Appealed, Event, Ruled
from domain.match.evolve import evolve
from domain.match.history import decode_event
from domain.match.state import Case, MatchState
from domain.records import AccountId, CommandId
from domain.rules import Seat, rules_by_id
from infra.people.rate_limits import SecurityEvent, note_security
from infra.people.statements import MOST_STATEMENTS, Statement
from infra.store.outcomes import CommandOutcome, parse
from services.app.acts import Act, record_act
from services.app.context import Actor, App
from services.app.matches import load_state
from services.app.play import Steps, check, course, finish
from services.app.receipts import Answered
from services.app.sentences import SAY
from services.app.tournament_directors import directs_match

KINDS: Final = ("dismissed", "back", "result", "draw", "annul", "time")
"""The words for decisions."""

HOUR: Final = DAY // 24

_SPAN: Final = re.compile(r"([0-9]{1,4})(d|h|)", re.IGNORECASE)

_NO_TEXT: Final = bytes(32)
"""Stands for the digest of the reasons where a ruling is only tried."""


class Verdict(msgspec.Struct, frozen=True):
    """A decision in the words of an arbiter."""

    kind: str
    """One of `KINDS`."""
    ply: int | None = None
    """With `back`: the ply to go back to."""
    winners: tuple[str, ...] = ()
    """With `result`: sides or userids."""
    time: tuple[tuple[str, int], ...] = ()
    """With `time`, and maybe with `back`: sides or userids, and the ms that each gets."""


class TriedRuling(msgspec.Struct, frozen=True):
    """The effect that a ruling would have."""

    remedies: tuple[Event, ...]
    """The events that follow that of the ruling."""
    after: MatchState


def read_grants(text: str) -> tuple[tuple[str, int], ...]:
    """Read `Light=3d,bob=12h`; a number alone is of days. `usage` for any other form."""
    return tuple(map(_read_grant, text.split(",")))


def _read_grant(word: str) -> tuple[str, int]:
    who, _, span = word.rpartition("=")
    found = _SPAN.fullmatch(span)
    if not who or found is None:
        raise Refusal(Code.USAGE, SAY("time-form"))
    return who, int(found[1]) * (HOUR if found[2].lower() == "h" else DAY)


def ruling_of(
    state: MatchState,
    names: Sequence[str | None],
    verdict: Verdict,
    claim: int | None,
    digest: bytes = _NO_TEXT,
) -> GiveRuling:
    """Return the command of a ruling; `names` are the players' userids, None for deleted accounts.

    `bad-ruling` for a verdict that is not complete, and for a side or userid that the match does not have.
    """
    _check_parts(verdict)
    if claim is None and verdict.kind == "dismissed":
        raise Refusal(Code.BAD_RULING, SAY("dismiss-none"))
    seats = range(len(state.seats))
    winners: tuple[Seat, ...] | None = None
    if verdict.kind == "result":
        winners = tuple(sorted({_seat_named(state, names, word) for word in verdict.winners}))
    elif verdict.kind == "draw":
        winners = tuple(seats)
    return GiveRuling(
        claim=claim,
        upheld=verdict.kind != "dismissed",
        text=digest,
        back_to=verdict.ply,
        winners=winners,
        annul=verdict.kind == "annul",
        time=tuple((_seat_named(state, names, word), ms) for word, ms in verdict.time),
    )


def _check_parts(verdict: Verdict) -> None:
    kind = verdict.kind
    if kind not in KINDS:
        text = SAY("ruling-word", word=kind[:24], known=", ".join(KINDS))
        raise Refusal(Code.BAD_RULING, text)
    if (verdict.ply is not None) != (kind == "back"):
        raise Refusal(Code.BAD_RULING, SAY("back-ply"))
    if bool(verdict.winners) != (kind == "result"):
        raise Refusal(Code.BAD_RULING, SAY("result-sides"))
    if (kind == "time" and not verdict.time) or (verdict.time and kind not in ("back", "time")):
        raise Refusal(Code.BAD_RULING, SAY("time-sides"))


def _seat_named(state: MatchState, names: Sequence[str | None], word: str) -> Seat:
    sides = rules_by_id(state.rules).side_names
    for shown in (sides, names):
        for seat, one in enumerate(shown[: len(state.seats)]):
            if one is not None and one.lower() == word.strip().lower():
                return seat
    known = ", ".join(sides[: len(state.seats)])
    raise Refusal(Code.BAD_RULING, SAY("no-side", word=word[:24], known=known))


def try_ruling(arbiter: AccountId, state: MatchState, ruling: GiveRuling, now: int) -> TriedRuling:
    """Return what a ruling would do now; refuses it as the match would."""
    decision = decide_dispute(ruling, arbiter, state, now)
    events = tuple(decision.events)
    after = state
    for event in events:
        after = evolve(after, event, now, decision.position, actor=arbiter)
    return TriedRuling(events[1:], after)


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


def check_arbiter(app: App, account: AccountId) -> None:
    """Refuse an account that is no arbiter: `not-an-arbiter`."""
    if not app.is_arbiter(account):
        raise Refusal(Code.NOT_AN_ARBITER, SAY("arbiters-only"))


def check_may_see(app: App, account: AccountId, state: MatchState) -> None:
    """Refuse an account that may not read a match's statements: `not-a-player`."""
    if account in state.seats or app.is_arbiter(account) or directs_match(app, account, state):
        return
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
        record_act(app, actor.account, Act.RULED, what=str(board))
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
            if not app.is_arbiter(account):
                raise Refusal(Code.NOT_A_PLAYER, SAY("claimants"))
        case AppealAction():
            seat_of(account, state)
        case RuleAction():
            if not directs_match(app, account, state):
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
