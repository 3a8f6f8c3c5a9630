"""The audit of refusals: a refused command is decided again.

A refusal is valid if deciding its command again, in the state at that moment, leads to the same code and the same
sentence. The server keeps refused commands while a match is in its memory. Where the command is missing, its
leaf may still say what it was: it has a move that could be read, and few commands have nothing but their kind.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Final

import msgspec

from domain.aggregates import AnyState, decide
from domain.errors import Code
from domain.fairness import ChainSeed
from domain.match.commands import (
    AnswerOffer,
    Command,
    CommandEnvelope,
    DeclineMatch,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    command_digest,
    decode_command,
    encode_command,
    with_envelope,
)
from domain.match.decision import INTERNAL, Decision, DecisionContext, Rejection
from domain.match.history import BrokenHistory, RefusedLeaf
from domain.match.offers import OFFER_KINDS
from domain.match.sentences import SAY
from domain.match.state import MatchState, position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import MissingRules, rules_by_id
from domain.sentences import Sentence, Text
from domain.tournament.state import TournamentState

_ANY_SEED: Final = bytes(32)

_CODES: Final = frozenset(map(str, Code))

_MOST_MOVES: Final = 2_000

_NO_PLY: Final = -1
"""A ply that no match has."""


class NotDecidedAgain(StrEnum):
    """Why a refusal could not be decided again."""

    FAILED = "the server had failed to decide the command"
    NO_RULES = "the server lacked the rules of the game then"
    NO_OUTCOME = "the log has no outcomes"
    RESTORED = "the data were restored from the published log, which has no outcomes"
    NOT_KEPT = "the command is not kept"


def restored_text(code: str) -> str:
    """Return the sentence of a refusal that was restored from the log, which has no sentences."""
    return (
        f"it was refused as {code}; the sentence is missing, because the server's data were "
        "rolled back and restored"
    )


def check_refusal(
    leaf: RefusedLeaf,
    state: AnyState,
    digest: bytes | None = None,
    text: Text | None = None,
    kept: bytes | None = None,
) -> NotDecidedAgain | None:
    """Check a refusal, and return why it was not decided again, None if it was.

    `state` is the match's at that moment. `digest` and `text` are those of the stored outcome; without a digest, as
    of one that was restored, none was stored. `kept` is the command without its envelope, if it is kept.
    Raises `BrokenHistory` with the last event before it if it is wrong.
    """
    if leaf.at < state.at:
        raise _fault(leaf, state, "it is older than that event")
    if leaf.code not in _CODES:
        raise _fault(leaf, state, f"nothing is refused as {leaf.code!r}")
    restored = digest is None and text == restored_text(leaf.code)
    if restored:
        text = None
    if leaf.code == Code.INTERNAL:
        if leaf.move is not None or not _is_same(text, INTERNAL.text):
            raise _fault(leaf, state, f"a failure of the server reads: {INTERNAL.sentence}")
        return NotDecidedAgain.FAILED
    if digest is not None:
        command = _command_of(leaf, state, digest, text, kept)
        if command is not None:
            return _check_decision(leaf, state, command, text)
    if leaf.move is not None:
        _check_move(leaf, leaf.move, state, text)
    if digest is None:
        return NotDecidedAgain.RESTORED if restored else NotDecidedAgain.NO_OUTCOME
    return NotDecidedAgain.NOT_KEPT


def _command_of(
    leaf: RefusedLeaf, state: AnyState, digest: bytes, text: Text | None, kept: bytes | None
) -> Command | None:
    """Return the command with that digest: the one that is kept, or a likely one; None if it is none of these."""
    if kept is not None:
        return _kept_command(leaf, state, digest, kept)
    return next(
        (
            command
            for command in _likely_commands(leaf, state, text)
            if command_digest(encode_command(_sent(leaf, command))) == digest
        ),
        None,
    )


def _kept_command(leaf: RefusedLeaf, state: AnyState, digest: bytes, kept: bytes) -> Command:
    """Return the command that is kept of a refusal; raises `BrokenHistory` if it has another digest."""
    packed = with_envelope(leaf.match, leaf.command, leaf.actor, kept)
    if command_digest(packed) != digest:
        raise _fault(leaf, state, "the command that is kept of it is not the one of its outcome")
    try:
        return decode_command(packed).command
    except msgspec.MsgspecError as error:
        raise _fault(
            leaf, state, f"the command that is kept of it can't be read: {error}"
        ) from error


def _check_decision(
    leaf: RefusedLeaf, state: AnyState, command: Command, text: Text | None
) -> NotDecidedAgain | None:
    """Compare a refusal with the decision of its command."""
    again = _decide(leaf, state, command)
    if leaf.code == Code.UNKNOWN_RULES and again.code != Code.UNKNOWN_RULES:
        return NotDecidedAgain.NO_RULES
    if not again.code:
        raise _fault(leaf, state, "the rules accept it")
    if again.code != leaf.code:
        raise _fault(leaf, state, f"the rules refuse it as {again.code}, not as {leaf.code}")
    if again.move != leaf.move:
        raise _fault(leaf, state, "its leaf has another move")
    if not _is_same(text, again.text):
        raise _fault(leaf, state, f"its stored sentence is {str(text)!r}, not {again.sentence!r}")
    return None


def _likely_commands(leaf: RefusedLeaf, state: AnyState, text: Text | None) -> Iterator[Command]:
    """Yield commands of which no part is unknown, or only what the sentence quotes, for a refusal without its command.

    None of the legal moves can be refused, so that a leaf without a move can't hide one.
    """
    if isinstance(state, TournamentState):
        return  # each of its commands has what only the command itself says
    words = text.args if isinstance(text, Sentence) else ()
    quoted = [word for word in words if isinstance(word, str)]
    plies = (None, state.ply, *(word for word in words if isinstance(word, int)))
    moves = quoted if leaf.move is None else [leaf.move]
    yield from (PlayMove(text=move, ply=ply) for move in moves for ply in plies)
    if leaf.move is not None:
        return
    if leaf.actor == SERVER_ACCOUNT:
        yield from (FlagPlayer(ply=state.ply), RemindPlayer(ply=state.ply))
        return
    yield from (AnswerOffer(accept=True), AnswerOffer(accept=False))
    yield from (ResignMatch(), DeclineMatch(), ResumeMatch())
    rules = rules_by_id(state.rules) if state.started else None
    offers = () if rules is None else rules.offers
    yield from (MakeOffer(kind=kind) for kind in (*OFFER_KINDS, *offers, *quoted))
    if rules is None or isinstance(rules, MissingRules) or state.next is None:
        return
    if state.seats[state.next] == leaf.actor:
        for move in islice(rules.legal_moves(position_of(state)), _MOST_MOVES):
            yield from (PlayMove(text=move, ply=ply) for ply in (None, state.ply))


def _check_move(leaf: RefusedLeaf, move: str, state: AnyState, text: Text | None) -> None:
    """Decide the leaf's move again, though the ply that the sender named is unknown."""
    stale = _decide(leaf, state, PlayMove(text=move, ply=_NO_PLY))
    if leaf.code == stale.code == Code.STALE_PLY:
        if isinstance(text, Sentence) and text.key != SAY("stale", meant=0, ply=0).key:
            _check_decision(leaf, state, PlayMove(text=move), text)
    else:
        _check_decision(leaf, state, PlayMove(text=move), text)


def _decide(leaf: RefusedLeaf, state: AnyState, command: Command) -> Rejection:
    """Return the decision of a command at the time of a leaf; an acceptance has no code."""
    sealed = isinstance(state, MatchState) and state.gather is not None and state.gather.seal
    seed_chain, k = sealed or (1, 1)
    context = DecisionContext(received=leaf.at, seed=ChainSeed(seed_chain, k, _ANY_SEED))
    try:
        decision = decide(_sent(leaf, command), state, context)
    except Exception as error:
        raise _fault(leaf, state, f"the rules failed on it: {error!r}") from error
    return Rejection("", "") if isinstance(decision, Decision) else decision


def _sent(leaf: RefusedLeaf, command: Command) -> CommandEnvelope:
    return CommandEnvelope(leaf.match, leaf.command, leaf.actor, command)


def _is_same(text: Text | None, other: Text) -> bool:
    """Return whether a stored sentence is this one; older data have sentences without a key."""
    if isinstance(text, str):
        return text == str(other)
    return text is None or text == other


def _fault(leaf: RefusedLeaf, state: AnyState, sentence: str) -> BrokenHistory:
    return BrokenHistory(
        state.seq, f"the refusal of command {leaf.command.hex()} after it does not hold: {sentence}"
    )
