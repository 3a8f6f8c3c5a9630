"""The audit of refusals: the refused command is found by its digest, and decided again.

A refusal is valid if deciding its command again, in the state at that moment, leads to the same code and the same
sentence. Where the match does not know everything that the command was made of, code and sentence must at
least be such as can occur at that moment, and the audit says what it lacks.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Final

from domain.errors import Code
from domain.fairness import ChainSeed
from domain.match.commands import (
    Command,
    CommandEnvelope,
    PlayMove,
    command_digest,
    encode_command,
)
from domain.match.decide import Decision, DecisionContext, Rejection, decide
from domain.match.decision import INTERNAL
from domain.match.disputes import may_refuse_dispute
from domain.match.events import EventEnvelope, RefusedLeaf
from domain.match.history import BrokenHistory
from domain.match.moves import stale
from domain.match.refused_commands import (
    NO_PLY,
    TOO_LONG,
    UNKNOWN,
    NotDecidedAgain,
    example_commands,
    known_commands,
    legal_moves,
)
from domain.match.sentences import SAY
from domain.match.state import MatchState
from domain.rules import rules_by_id
from domain.sentences import Sentence, Text, all_templates

_ANY_SEED: Final = bytes(32)


class UnexplainedRefusal(BrokenHistory):
    """A refusal of an unknown command contradicts nothing that is known, and nothing known explains it either.

    The events before and after it are not concerned.
    """


def restored_text(code: str) -> str:
    """Return the sentence of a refusal that was restored from the log, which has no sentences."""
    return (
        f"it was refused as {code}; the sentence is missing, because the server's data were "
        "rolled back and restored"
    )


def check_refusal(
    leaf: RefusedLeaf,
    state: MatchState,
    events: Sequence[EventEnvelope],
    digest: bytes | None = None,
    text: Text | None = None,
) -> NotDecidedAgain | None:
    """Check a refusal, and return what was missing to decide it again, None if nothing.

    `state` is the match's at that moment, and `events` are all of the match. `digest` and `text` are those
    of the stored outcome; without a digest, as of one that was restored, none was stored. Raises
    `BrokenHistory` with the last event before it if it is wrong, `UnexplainedRefusal` if nothing explains it.
    """
    if leaf.at < state.at:
        raise _fault(leaf, state, "it is older than that event")
    restored = digest is None and text == restored_text(leaf.code)
    if restored:
        text = None
    if leaf.code == Code.INTERNAL:
        if leaf.move is not None or not _is_same(text, INTERNAL.text):
            raise _fault(leaf, state, f"a failure of the server reads: {INTERNAL.sentence}")
        return NotDecidedAgain.FAILED
    command = None if digest is None else _find(leaf, state, events, digest, text)
    if command is not None:
        return _check_decision(leaf, state, command, text)
    if leaf.move is None:
        lacking = _check_possible(leaf, state, events, digest, text)
    else:
        lacking = _check_move(leaf, leaf.move, state, digest, text)
    if digest is None:
        return NotDecidedAgain.RESTORED if restored else NotDecidedAgain.NO_OUTCOME
    return lacking


def _find(
    leaf: RefusedLeaf,
    state: MatchState,
    events: Sequence[EventEnvelope],
    digest: bytes,
    text: Text | None,
) -> Command | None:
    """Return the command with that digest; None if the match does not know everything it is made of."""
    return next(
        (
            command
            for command in chain(
                known_commands(leaf, text, state, events), legal_moves(leaf, state)
            )
            if command_digest(encode_command(_sent(leaf, command))) == digest
        ),
        None,
    )


def _check_decision(
    leaf: RefusedLeaf, state: MatchState, command: Command, text: Text | None
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
    if not _is_same(text, again.text) and not _is_older(text, again.text, command, state):
        raise _fault(leaf, state, f"its stored sentence is {str(text)!r}, not {again.sentence!r}")
    return None


def _is_older(text: Text | None, other: Text, command: Command, state: MatchState) -> bool:
    """Return whether a stored sentence is the one that earlier versions had in place of another."""
    if other != SAY("played-already") or not isinstance(command, PlayMove) or command.ply is None:
        return False
    return _is_same(text, stale(command.ply, state))


def _check_move(
    leaf: RefusedLeaf, move: str, state: MatchState, digest: bytes | None, text: Text | None
) -> NotDecidedAgain:
    """Decide the leaf's move again, though the sender's ply or spelling is unknown."""
    plain = _decide(leaf, state, PlayMove(text=move))
    other_ply = _decide(leaf, state, PlayMove(text=move, ply=NO_PLY))
    if leaf.code == Code.STALE_PLY == other_ply.code:
        # the sentence names the ply
        if isinstance(text, Sentence) and text.key == SAY("stale", meant=0, ply=0).key:
            meant = text.args[0]
            ply = meant if isinstance(meant, int) else NO_PLY
            _check_decision(leaf, state, PlayMove(text=move, ply=ply), text)
        lacking = NotDecidedAgain.PLY
    else:
        _check_decision(leaf, state, PlayMove(text=move), text)
        lacking = NotDecidedAgain.PLY if plain == other_ply else NotDecidedAgain.MOVE
    if not rules_by_id(state.rules).has_one_spelling:
        return NotDecidedAgain.MOVE
    if digest is not None and plain != other_ply:
        raise _fault(leaf, state, "its outcome is of another command")
    return lacking


def _check_possible(
    leaf: RefusedLeaf,
    state: MatchState,
    events: Sequence[EventEnvelope],
    digest: bytes | None,
    text: Text | None,
) -> NotDecidedAgain:
    """Check that a command of which the match does not know everything can be refused in this way."""
    if not state.started:
        return NotDecidedAgain.START
    if leaf.code == Code.UNKNOWN_RULES:
        return NotDecidedAgain.NO_RULES
    examples = list(example_commands(leaf, state))
    if digest is None:
        known = known_commands(leaf, text, state, events)
        examples += [(command, NotDecidedAgain.NO_OUTCOME) for command in known]
    for command, lacking in examples:
        again = _decide(leaf, state, command)
        # a sentence that quotes an offer says which it was, so that would have been found
        quoted = digest and lacking is NotDecidedAgain.OFFER and _quotes(again.text)
        if again.code == leaf.code and not quoted and _may_be(leaf.code, text, again.text):
            return lacking
    if may_refuse_dispute(leaf.code, text):
        return NotDecidedAgain.STATEMENT
    raise UnexplainedRefusal(
        state.seq,
        f"the refusal of command {leaf.command.hex()} after it can't be explained: no command that the match "
        "knows can be refused so at that moment",
    )


def _quotes(text: Text) -> bool:
    return isinstance(text, Sentence) and UNKNOWN in text.args


def _may_be(code: str, text: Text | None, example: Text) -> bool:
    """Return whether a stored sentence may be that of a command like the one of the example."""
    if text is None or isinstance(text, str):
        return text is None or text == str(example)
    if code == Code.UNREADABLE_MOVE:
        return text.key in all_templates()  # a game has a sentence for each fault of a move
    if not isinstance(example, Sentence) or text.key != example.key:
        return False
    return text == example or _names_unknown(example)


def _names_unknown(text: Sentence) -> bool:
    """Return whether a sentence of an example names something that the match does not know."""
    return any(
        _names_unknown(arg)
        if isinstance(arg, Sentence)
        else arg in (NO_PLY, TOO_LONG) or (isinstance(arg, str) and UNKNOWN in arg)
        for arg in text.args
    )


def _decide(leaf: RefusedLeaf, state: MatchState, command: Command) -> Rejection:
    """Return the decision of a command at the time of a leaf; an acceptance has no code."""
    seed_chain, k = (state.gather and state.gather.seal) or (1, 1)
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


def _fault(leaf: RefusedLeaf, state: MatchState, sentence: str) -> BrokenHistory:
    return BrokenHistory(
        state.seq, f"the refusal of command {leaf.command.hex()} after it does not hold: {sentence}"
    )
