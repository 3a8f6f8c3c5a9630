"""A puzzle that was solved elsewhere, such as on a page, and is handed in as a whole."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.game.puzzle import DONE
from domain.match.commands import CommandEnvelope, PlayMove
from domain.rules import AnyRules
from services.app.actor import Actor
from services.app.commands import MatchCommand
from services.app.context import App
from services.app.move_text import read_move
from services.app.sentences import SAY
from services.app.start import start_by_name

MOST_MOVES: Final = 300
"""Moves of a solution at most."""


class PuzzleCommands(msgspec.Struct, frozen=True):
    """The commands that play a solution, in this order; each can be repeated."""

    board: int
    commands: tuple[MatchCommand, ...]


def hand_in(
    app: App,
    actor: Actor,
    rules: AnyRules,
    userid: str,
    *,
    options: Sequence[str],
    moves: Sequence[str],
) -> PuzzleCommands:
    """Return the commands that start a puzzle, play the moves of its solver, and end it.

    A solution that breaks the rules is refused as a whole, `too-long` one of very many moves, and
    `bad-request` one without a move. So no puzzle is started that is not ended.
    """
    if rules.players != (1,):
        raise Refusal(Code.BAD_PLAYERS, SAY("no-hand-in", game=rules.title))
    written = tuple(_written(rules, options, moves))
    start = start_by_name(app, actor, rules, (userid,), options=options, terms=())
    board = start.sent.match
    played = (_played(actor, board, ply, text) for ply, text in enumerate(written))
    return PuzzleCommands(board, (start, *played))


def _written(rules: AnyRules, options: Sequence[str], moves: Sequence[str]) -> Iterator[str]:
    """Yield the canonical moves of a solution, and the move that ends it if it has not ended."""
    if not moves:
        raise Refusal(Code.BAD_REQUEST, SAY("no-solution"))
    if len(moves) > MOST_MOVES:
        raise Refusal(Code.TOO_LONG, SAY("long-solution", most=MOST_MOVES))
    position = rules.start(rules.read_options(options), 1, None)
    for text in moves:
        if rules.outcome(position) is not None:
            raise Refusal(Code.MATCH_OVER, SAY("puzzle-over", text=text[:24]))
        move = rules.check(position, read_move(rules, text))
        position = rules.play(position, move)
        yield rules.write(move)
    if rules.outcome(position) is None:
        yield DONE


def _played(actor: Actor, board: int, ply: int, text: str) -> MatchCommand:
    id_ = actor.command_id(f"ply {ply}")
    sent = CommandEnvelope(board, id_, actor.account, PlayMove(text=text, ply=ply))
    return MatchCommand(sent, ply)
