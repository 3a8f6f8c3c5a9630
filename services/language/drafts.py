"""Moves that are looked at before they are played: submit, then confirm."""

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import Move, Sent
from domain.match.decide import seat_of
from domain.match.events import command_id
from services.app.matches import line_of
from services.language.answer import Answer
from services.language.boards import display_of, draw, present
from services.language.invocation import Invocation
from services.language.play import deliver
from services.language.reading import read_board, split_ply
from services.language.telling import Scene
from services.language.typography import read_move


def submit(call: Invocation) -> Answer:
    """Lay a move ready, and show where it would lead."""
    board = read_board(call.line.get("board"))
    scene = Scene.of(call.app, board, present(call, board))
    account = call.account()
    seat = seat_of(account, scene.state)
    _check_turn(scene, seat)
    text, ply = split_ply(call.line.get("move"))
    if ply not in (None, scene.state.ply):
        raise Refusal(Code.STALE_PLY, f"the match stands at #{scene.state.ply}, not at #{ply}")
    move = scene.rules.check(scene.position, read_move(scene.rules, text))
    written = scene.rules.write(move)
    call.app.ready()
    id_ = command_id(call.door, account, call.key)
    state = scene.state
    call.app.drafts.put(board, account, written, state.ply, id_, line_of(state))
    after = msgspec.structs.replace(scene, position=scene.rules.play(scene.position, move))
    return Answer(
        f"{scene.place}: {written} is not played yet; "
        f"`{call.rules.key} confirm {board} userid password` plays it",
        draw(after, display_of(call, account)),
    )


def _check_turn(scene: Scene, seat: int) -> None:
    state = scene.state
    if state.over:
        raise Refusal(Code.MATCH_OVER, "the match is over")
    if state.gathering:
        raise Refusal(Code.NOT_STARTED, "the match waits until all players have accepted it")
    if state.next != seat:
        turn = "nobody's turn" if state.next is None else scene.turn(state.next)
        raise Refusal(Code.NOT_YOUR_TURN, f"it is {turn}; a move is submitted in one's own turn")


def confirm(call: Invocation) -> Answer:
    """Play what was submitted.

    The draft stays: whoever repeats this command with its key means the same move. Where the match
    has moved on, the move's ply tells.
    """
    board = read_board(call.line.get("board"))
    state = present(call, board)
    account = call.account()
    seat_of(account, state)
    draft = call.app.drafts.get(board, account)
    if draft is None:
        raise Refusal(Code.NO_DRAFT, f"you have submitted nothing in match {board}")
    if draft.ply == state.ply and draft.line != line_of(state):
        raise Refusal(
            Code.STALE_PLY,
            f"other moves lead to #{state.ply} than when you submitted it; look again",
        )
    id_ = command_id(call.door, account, call.key)
    return deliver(call, Sent(board, id_, account, Move(text=draft.text, ply=draft.ply)), state.ply)
