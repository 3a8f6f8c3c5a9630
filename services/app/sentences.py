"""The sentences of the use cases: why one is refused."""

from typing import Final

from domain.sentences import Sentences
from services.app.draw_words import DRAW_REFUSED
from services.app.refusal_words import REFUSED

SAY: Final = Sentences(
    "app",
    {
        # answers of pages
        "bad-address": (
            "the address of this page has a value that can't be used",
            "die Adresse dieser Seite hat einen Wert, der hier nicht passt",
        ),
        "pending": (
            "your request was accepted and is not decided yet; load the page again in a moment",
            "die Anfrage ist angenommen und noch nicht entschieden; bitte die Seite gleich noch einmal laden",
        ),
        # notifications in browsers
        "push-off": (
            "this server sends no notifications",
            "dieser Server verschickt keine Benachrichtigungen",
        ),
        "push-service": (
            "this browser gets its notifications from a service that this server does not know",
            "dieser Browser bekommt Benachrichtigungen von einem Dienst, den dieser Server nicht kennt",
        ),
        "push-keys": (
            "the keys of this browser can't be used; allow notifications once more",
            "die Schlüssel dieses Browsers sind unbrauchbar; bitte die Benachrichtigungen noch einmal erlauben",
        ),
        **REFUSED,
        **DRAW_REFUSED,
        "over-before": (
            "move {number}: the match would be over: {detail}",
            "Zug {number}: die Partie wäre zu Ende: {detail}",
        ),
        "bad-move": ("move {number}: {problem}", "Zug {number}: {problem}"),
    },
)
