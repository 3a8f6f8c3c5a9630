"""The sentences of the use cases: why one is refused."""

from typing import Final

from domain.sentences import Sentences
from services.app.refusal_words import REFUSED

SAY: Final = Sentences(
    "app",
    {
        # answers of pages
        "bad-address": "the address of this page has a value that can't be used",
        "pending": "your request has been received but not decided yet; reload the page in a moment",
        # notifications in browsers
        "push-off": "this server doesn't send notifications",
        "push-service": "this browser gets its notifications from a service that this server does not know",
        "push-keys": "the keys of this browser can't be used; allow notifications once more",
        **REFUSED,
        # the deal, and the texts for it
        "commitment-form": "a commitment is the SHA-256 of a text: 64 hex digits",
        "server-deals": "the server deals in this match; write accept without --commitment",
        "draws-nothing": "nothing is dealt in this match; just write accept",
        "draw-over": "the match is over, so it no longer needs a text",
        "draw-late": "the match is not waiting for texts",
        "draw-wrong": "no player of the match has committed to this text",
        "draw-early": "not all players have committed yet; reveal it when they have",
        "draw-revealed": "this text has already been revealed",
        "over-before": "move {number}: the match would be over: {detail}",
        "bad-move": "move {number}: {problem}",
    },
)
