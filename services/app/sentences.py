"""The sentences of the application on matches: how they ended, what follows, and offers."""

from collections.abc import Mapping
from typing import Final

from domain.sentences import LANGUAGES, Sentences, Text, text_in
from services.app.draw_words import DRAW_REFUSED
from services.app.names import join_names
from services.app.refusal_words import REFUSED

_OFFERS: Final[Mapping[str, tuple[str, str]]] = {
    "undo": ("to take the last move back", "den letzten Zug zurückzunehmen"),
    "pause": ("a pause", "eine Pause"),
    "abort": ("to break the match off", "die Partie abzubrechen"),
    "deal": ("that the server deals", "dass der Server auslost"),
    "transfer": ("to go on at another server", "auf einem anderen Server weiterzuspielen"),
    "count": ("to count", "zu zählen"),
    "draw": ("a draw", "Remis"),
}


def offer_name(kind: str, language: str = LANGUAGES[0]) -> str:
    """Return the words for a kind of offer."""
    words = _OFFERS.get(kind, (f"a {kind}", kind))
    return words[language == LANGUAGES[1]]


def _winners(names: str, language: str) -> str:
    """Return names that are separated by line ends, as a list in words."""
    return join_names(names.split("\n"), language)


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
        # a match without a winner
        "agreement": ("it is a draw by agreement", "sie endet remis nach Vereinbarung"),
        "repetition": (
            "it is a draw, as the position has stood three times",
            "sie endet remis, weil die Stellung zum dritten Mal da ist",
        ),
        "aborted": (
            "it was broken off by agreement, and counts for nothing",
            "sie wurde einvernehmlich abgebrochen und zählt nicht",
        ),
        "transferred": (
            "it goes on at another server, and counts for nothing here",
            "sie geht auf einem anderen Server weiter und zählt hier nicht",
        ),
        "declined": (
            "it did not come about, and counts for nothing",
            "sie ist nicht zustande gekommen und zählt nicht",
        ),
        "annulled": (
            "an arbiter annulled it, and it counts for nothing",
            "ein Schiedsrichter hat sie annulliert, und sie zählt nicht",
        ),
        "given-up": ("the puzzle was given up", "das Rätsel wurde aufgegeben"),
        "time-ran-out": (
            "the time for the puzzle ran out",
            "die Zeit für das Rätsel ist abgelaufen",
        ),
        # a match with winners
        "won": ("{winners:winners} has won", "{winners:winners} hat gewonnen"),
        "shared": ("{winners:winners} share the win", "{winners:winners} teilen sich den Sieg"),
        "won-on-time": (
            "{winners:winners} has won on time",
            "{winners:winners} hat durch Zeitüberschreitung gewonnen",
        ),
        "shared-on-time": (
            "{winners:winners} share the win on time",
            "{winners:winners} teilen sich den Sieg durch Zeitüberschreitung",
        ),
        "won-by-resignation": (
            "{winners:winners} has won by resignation",
            "{winners:winners} hat durch Aufgabe gewonnen",
        ),
        "shared-by-resignation": (
            "{winners:winners} share the win by resignation",
            "{winners:winners} teilen sich den Sieg durch Aufgabe",
        ),
        "won-by-ruling": (
            "{winners:winners} has won by a ruling",
            "{winners:winners} hat durch eine Entscheidung gewonnen",
        ),
        "shared-by-ruling": (
            "{winners:winners} share the win by a ruling",
            "{winners:winners} teilen sich den Sieg durch eine Entscheidung",
        ),
        "by-rules": ("{clause} ({detail})", "{clause} ({detail})"),
        "finished": ("finished", "beendet"),
        # what follows a move
        "ends": ("this ends the match: {detail}", "damit ist die Partie zu Ende: {detail}"),
        "turn": ("then it is {player}'s turn", "dann ist {player} am Zug"),
        **REFUSED,
        **DRAW_REFUSED,
        "over": ("the match is over: {detail}", "die Partie ist zu Ende: {detail}"),
        "over-before": (
            "move {number}: the match would be over: {detail}",
            "Zug {number}: die Partie wäre zu Ende: {detail}",
        ),
        "bad-move": ("move {number}: {problem}", "Zug {number}: {problem}"),
    },
    winners=_winners,
)


def side_name(text: Text, name: str, language: str) -> str:
    """Return a side with the player's name, such as `Light (alice)`."""
    return f"{text_in(text, language)} ({name})"
