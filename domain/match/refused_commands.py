"""The commands that a refusal may be of, though a refused command is not stored.

Its leaf has the move, if it was a readable one, and its outcome has a digest of the command. Where the match
knows everything that a command is made of, the command with that digest can be found.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Final

from domain.clocks.calendar import DAY
from domain.fairness import Commitment
from domain.match.audit import possible_commands
from domain.match.commands import (
    TEXT_LIMIT,
    AnswerOffer,
    Command,
    DeclineMatch,
    EndVacation,
    FlagPlayer,
    ImportMatch,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    RevealText,
    StartMatch,
    StartVacation,
)
from domain.match.decide import OFFER_KINDS
from domain.match.events import (
    SERVER_ACCOUNT,
    Absent,
    Called,
    Challenged,
    Committed,
    EventEnvelope,
    Gathered,
    MatchSource,
    MatchStarted,
    RefusedLeaf,
    Returned,
    Revealed,
)
from domain.match.offers import DEAL
from domain.match.state import MatchState, position_of
from domain.rules import MissingRules, rules_by_id
from domain.sentences import Sentence, Text

_PLIES_BEYOND: Final = 64
"""How far beyond the last ply of a match a sender's ply is looked for."""

_MOST_MOVES: Final = 2_000

NO_PLY: Final = -1
"""A ply that no match has."""

TOO_LONG: Final = TEXT_LIMIT + 1
"""Stands for the length of a text that was too long."""

UNKNOWN: Final = "?"
"""Stands for a text that is not stored."""


class NotDecidedAgain(StrEnum):
    """Why a refusal could not be decided again, or not wholly."""

    FAILED = "the server had failed to decide the command"
    NO_RULES = "the server lacked the rules of the game then"
    NO_OUTCOME = "the log has no outcomes"
    RESTORED = "the data were restored from the published log, which has no outcomes"
    MOVE = "the moves are not stored as they were written"
    PLY = "the ply that the sender named is not stored"
    OFFER = "the offer is not stored"
    DRAW = "what the player added to the draw is not stored"
    VACATION = "the end of the vacation is not stored"
    START = "the start is not stored"
    UNEXPLAINED = "no command that the match knows explains it"
    STATEMENT = "the texts of claims, appeals and rulings are not in the log"


def known_commands(
    leaf: RefusedLeaf, text: Text | None, state: MatchState, events: Sequence[EventEnvelope]
) -> Iterator[Command]:
    """Return the commands that are made of what the match knows, the likely ones first.

    `text` is the stored sentence, whose arguments may quote the command; `events` are all of the match.
    """
    words = list(_arguments(text))
    if leaf.move is not None:
        yield from (PlayMove(text=leaf.move, ply=ply) for ply in _plies(state, words))
        return
    if leaf.actor == SERVER_ACCOUNT:
        yield from _clock_commands(state, words)
    # a sealed match accepts the first offer of a deal, and refused each before there was one
    deal = () if state.sealed and state.offer is None else (DEAL,)
    kinds = (*OFFER_KINDS, *deal, *(rules_by_id(state.rules).offers if state.started else ()))
    quoted = [word for word in words if isinstance(word, str)]
    yield from (AnswerOffer(accept=True), AnswerOffer(accept=False), ResignMatch())
    yield from (MakeOffer(kind=kind) for kind in (*kinds, *quoted))
    yield from (DeclineMatch(), ResumeMatch())
    for event in events:
        yield from _commands_with_parts(event, state)
    for move in quoted:
        yield from (PlayMove(text=move, ply=ply) for ply in _plies(state, words))
    if leaf.actor != SERVER_ACCOUNT:
        yield from _clock_commands(state, words)


def _clock_commands(state: MatchState, words: Sequence[object]) -> Iterator[Command]:
    for ply in _plies(state, words):
        yield FlagPlayer(ply=ply)
        yield RemindPlayer(ply=ply)


def _commands_with_parts(event: EventEnvelope, state: MatchState) -> Iterator[Command]:
    """Return the commands with what an event has: texts, commitments, ends of vacations, the start."""
    match event.body:
        case Absent(until=until) | Returned(until=until):
            yield StartVacation(until=until)
            yield EndVacation(until=until)
        case Committed(commitment=commitment):
            yield AnswerOffer(accept=True, commitment=commitment)
        case Gathered(text=text) | Revealed(text=text):
            yield AnswerOffer(accept=True, text=text)
            yield RevealText(text=text)
        case MatchStarted() | Challenged() as body:
            yield from possible_commands(event, state.ply)
            if isinstance(body, Called):
                yield from (AnswerOffer(accept=True, commitment=one) for one in body.commitments)


def legal_moves(leaf: RefusedLeaf, state: MatchState) -> Iterator[Command]:
    """Return the commands that play a legal move of the leaf's player, at most `_MOST_MOVES`.

    None of them can be refused, so that a leaf without a move can't hide one.
    """
    if leaf.move is not None or state.next is None or state.seats[state.next] != leaf.actor:
        return
    rules = rules_by_id(state.rules)
    if isinstance(rules, MissingRules):
        return
    for move in islice(rules.legal_moves(position_of(state)), _MOST_MOVES):
        yield PlayMove(text=move)
        yield PlayMove(text=move, ply=state.ply)


def example_commands(
    leaf: RefusedLeaf, state: MatchState
) -> Iterator[tuple[Command, NotDecidedAgain]]:
    """Return an example of each command of which the match does not know everything, and what it lacks.

    Another command of its kind is refused likewise, unless the rules accept it. Anything can be sent to any
    match at any time, whether the match waits for it or not.
    """
    yield FlagPlayer(ply=NO_PLY), NotDecidedAgain.PLY
    yield RemindPlayer(ply=NO_PLY), NotDecidedAgain.PLY
    for move in (UNKNOWN, UNKNOWN * TOO_LONG):
        yield PlayMove(text=move), NotDecidedAgain.MOVE
        yield PlayMove(text=move, ply=NO_PLY), NotDecidedAgain.MOVE
    yield MakeOffer(kind=UNKNOWN), NotDecidedAgain.OFFER
    for size in (1, 32):
        commitment = Commitment(b"?" * size)
        yield AnswerOffer(accept=True, commitment=commitment), NotDecidedAgain.DRAW
    yield AnswerOffer(accept=True, text=b"?"), NotDecidedAgain.DRAW
    yield RevealText(text=b"?"), NotDecidedAgain.DRAW
    for until in (0, leaf.at + DAY):
        yield StartVacation(until=until), NotDecidedAgain.VACATION
        yield EndVacation(until=until), NotDecidedAgain.VACATION
    yield StartMatch(state.rules, state.options, state.seats), NotDecidedAgain.START
    # its fields don't matter: nothing is imported into a match that is there
    fields = (state.rules, state.options, state.seats, None, None, "", b"", 0, (), None, None)
    source = MatchSource("", "", 0, b"", 0, b"")
    yield ImportMatch(*fields, source, ()), NotDecidedAgain.START


def _plies(state: MatchState, words: Sequence[object]) -> Iterator[int | None]:
    """Return the plies that a sender may have named, and None for none."""
    yield state.ply
    yield None
    yield from (word for word in words if isinstance(word, int))
    yield from range(state.ply + _PLIES_BEYOND)


def _arguments(text: Text | None) -> Iterator[object]:
    """Return the arguments of a sentence, and of sentences in it."""
    if isinstance(text, Sentence):
        for argument in text.args:
            yield argument
            if isinstance(argument, Sentence):
                yield from _arguments(argument)
