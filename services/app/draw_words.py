"""The sentences of refusals that are about draws and the texts for them, in each language."""

from collections.abc import Mapping
from typing import Final

DRAW_REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    "commitment-form": (
        "a commitment is the SHA-256 of a text: 64 hex digits",
        "eine Festlegung ist der SHA-256 eines Textes: 64 hexadezimale Ziffern",
    ),
    "server-deals": (
        "the server deals in this match; write accept without --commitment",
        "in dieser Partie lost der Server aus; angenommen wird ohne --commitment",
    ),
    "draws-nothing": (
        "the match waits for nothing that goes into a draw; write accept alone",
        "für diese Partie wird nichts gezogen; Annehmen genügt",
    ),
    "draw-over": (
        "the match is over, and needs no text",
        "die Partie ist zu Ende und braucht keinen Text mehr",
    ),
    "draw-late": (
        "the match does not wait for texts, or no longer does",
        "die Partie wartet nicht oder nicht mehr auf Texte",
    ),
    "draw-wrong": (
        "no player of the match has committed to this text",
        "auf diesen Text hat sich kein Spieler der Partie festgelegt",
    ),
    "draw-early": (
        "not all players have committed yet; reveal it when they have",
        "noch haben sich nicht alle Spieler festgelegt; danach kann der Text offengelegt werden",
    ),
    "draw-revealed": ("this text is revealed already", "dieser Text ist schon offengelegt"),
}
