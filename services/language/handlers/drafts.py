"""Moves that are looked at before they are played: submit, then confirm."""

import msgspec

from services.app import drafts
from services.language.answer import Answer
from services.language.handlers.boards import display_of, draw
from services.language.handlers.play import deliver
from services.language.invocation import Invocation
from services.words.named_match import NamedMatch


def submit(call: Invocation) -> Answer:
    """Store a draft, and show where it would lead."""
    text = call.line.get("move")
    draft = drafts.submit(call.app, call.actor, call.board, call.state, text)
    scene = NamedMatch.of(call.app, call.board, call.state, call.words)
    after = msgspec.structs.replace(scene, position=draft.position)
    said = call.words.gettext(
        "%(place)s: %(move)s is not played yet; `%(game)s confirm %(board)s userid password` plays it",
        place=scene.place,
        move=draft.text,
        game=call.rules.key,
        board=call.board,
    )
    return Answer(said, draw(after, display_of(call, call.account())))


def confirm(call: Invocation) -> Answer:
    """Play what was submitted."""
    return deliver(call, drafts.confirm(call.app, call.actor, call.board, call.state))
