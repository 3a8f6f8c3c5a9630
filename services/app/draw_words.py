"""The sentences of refusals that are about draws and the texts for them."""

from collections.abc import Mapping
from typing import Final

DRAW_REFUSED: Final[Mapping[str, str]] = {
    "commitment-form": "a commitment is the SHA-256 of a text: 64 hex digits",
    "server-deals": "the server deals in this match; write accept without --commitment",
    "draws-nothing": "the match waits for nothing that goes into a draw; write accept alone",
    "draw-over": "the match is over, and needs no text",
    "draw-late": "the match does not wait for texts, or no longer does",
    "draw-wrong": "no player of the match has committed to this text",
    "draw-early": "not all players have committed yet; reveal it when they have",
    "draw-revealed": "this text is revealed already",
}
