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
        # preferences
        "no-language": "there is no language {word!r}; the languages are {known}",
        "no-mail-choice": (
            "{word!r} isn't a choice for mail: it is move (at once), daily (one mail a day, and reminders) or none"
        ),
        "no-challenge-choice": (
            "{word!r} doesn't say whose challenges you accept: anyone, known (players you have met) or none"
        ),
        "no-receipt-choice": "{word!r} isn't a choice for receipts: it is on or off",
        "no-display": "{game} has no display {word!r}; the displays are {known}",
        "account-gone": "the account has just been deleted",
        "key-reused": "this key was used before, for a text that has been erased",
        "over-before": "move {number}: the match would be over: {detail}",
        "bad-move": "move {number}: {problem}",
    },
)
