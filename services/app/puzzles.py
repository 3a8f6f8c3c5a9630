"""A puzzle that was solved elsewhere, such as on a page, and is handed in as a whole."""

from collections.abc import Iterator, Sequence
from typing import Final

from domain.errors import Code, Refusal
from domain.game.puzzle import DONE
from domain.match.commands import CommandEnvelope, PlayMove
from domain.rules import AnyRules
from services.app.context import Actor, App
from services.app.move_text import read_move
from services.app.play import Steps, course, decided
from services.app.receipts import Answered
from services.app.sentences import SAY
from services.app.start import start_by_name

MOST_MOVES: Final = 300
"""Moves of a solution at most."""


@course
def hand_in(
    app: App,
    actor: Actor,
    rules: AnyRules,
    userid: str,
    *,
    options: Sequence[str],
    moves: Sequence[str],
) -> Steps[Answered]:
    """Start a puzzle, play the moves of its solver, and end it; see `solution_commands`."""
    sents = solution_commands(app, actor, rules, userid, options=options, moves=moves)
    begun = yield from decided(app, sents[0])
    for ply, sent in enumerate(sents[1:]):
        yield from decided(app, sent, ply)
    return begun


def solution_commands(
    app: App,
    actor: Actor,
    rules: AnyRules,
    userid: str,
    *,
    options: Sequence[str],
    moves: Sequence[str],
) -> tuple[CommandEnvelope, ...]:
    """Return the commands that start a puzzle, play the moves of its solver, and end it.

    Each can be repeated. A solution that breaks the rules is refused as a whole, `too-long` one of very many moves, and
    `bad-request` one without a move. So no puzzle is started that is not ended.
    """
    if rules.players != (1,):
        raise Refusal(Code.BAD_PLAYERS, SAY("no-hand-in", game=rules.title))
    written = tuple(_written(rules, options, moves))
    start = start_by_name(app, actor, rules, (userid,), options=options, terms=())
    played = (_played(actor, start.match, ply, text) for ply, text in enumerate(written))
    return (start, *played)


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


def _played(actor: Actor, board: int, ply: int, text: str) -> CommandEnvelope:
    id_ = actor.command_id(f"ply {ply}")
    return CommandEnvelope(board, id_, actor.account, PlayMove(text=text, ply=ply))
