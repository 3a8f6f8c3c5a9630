"""The sentences of the application on matches: how they ended, what follows, and offers."""

from collections.abc import Mapping
from typing import Final

from domain.sentences import FormWords, Sentence, Sentences, Text, text_in
from domain.translation import ENGLISH, Translation
from services.app.names import join_names
from services.app.refusal_words import REFUSED


def _winners(names: str, words: FormWords) -> str:
    """Return names that are separated by line ends, as a list in words."""
    return join_names(names.split("\n"), words.language)


SAY: Final = Sentences(
    "app",
    {
        # answers of pages
        "bad-address": "the address of this page has a value that can't be used",
        "pending": "your request was accepted and is not decided yet; load the page again in a moment",
        # notifications in browsers
        "push-off": "this server sends no notifications",
        "push-service": "this browser gets its notifications from a service that this server does not know",
        "push-keys": "the keys of this browser can't be used; allow notifications once more",
        # a match without a winner
        "agreement": "it is a draw by agreement",
        "repetition": "it is a draw, as the position has stood three times",
        "aborted": "it was broken off by agreement, and counts for nothing",
        "transferred": "it goes on at another server, and counts for nothing here",
        "declined": "it did not come about, and counts for nothing",
        "annulled": "an arbiter annulled it, and it counts for nothing",
        "given-up": "the puzzle was given up",
        "time-ran-out": "the time for the puzzle ran out",
        # a match with winners
        "won": "{winners:winners} has won",
        "shared": "{winners:winners} share the win",
        "won-on-time": "{winners:winners} has won on time",
        "shared-on-time": "{winners:winners} share the win on time",
        "won-by-resignation": "{winners:winners} has won by resignation",
        "shared-by-resignation": "{winners:winners} share the win by resignation",
        "won-by-ruling": "{winners:winners} has won by a ruling",
        "shared-by-ruling": "{winners:winners} share the win by a ruling",
        "by-rules": "{clause} ({detail})",
        "finished": "finished",
        # what is offered
        "offer-undo": "to take the last move back",
        "offer-pause": "a pause",
        "offer-abort": "to break the match off",
        "offer-deal": "that the server deals",
        "offer-transfer": "to go on at another server",
        "offer-count": "to count",
        "offer-draw": "a draw",
        "offer-other": "a {kind}",
        # what follows a move
        "ends": "this ends the match: {detail}",
        "turn": "then it is {player}'s turn",
        **REFUSED,
        # the deal, and the texts for it
        "commitment-form": "a commitment is the SHA-256 of a text: 64 hex digits",
        "server-deals": "the server deals in this match; write accept without --commitment",
        "draws-nothing": "the match waits for nothing that goes into a draw; write accept alone",
        "draw-over": "the match is over, and needs no text",
        "draw-late": "the match does not wait for texts, or no longer does",
        "draw-wrong": "no player of the match has committed to this text",
        "draw-early": "not all players have committed yet; reveal it when they have",
        "draw-revealed": "this text is revealed already",
        "over": "the match is over: {detail}",
        "over-before": "move {number}: the match would be over: {detail}",
        "bad-move": "move {number}: {problem}",
    },
    winners=_winners,
)

_OFFERS: Final[Mapping[str, Sentence]] = {
    "undo": SAY("offer-undo"),
    "pause": SAY("offer-pause"),
    "abort": SAY("offer-abort"),
    "deal": SAY("offer-deal"),
    "transfer": SAY("offer-transfer"),
    "count": SAY("offer-count"),
    "draw": SAY("offer-draw"),
}


def offer_name(kind: str, language: Translation = ENGLISH) -> str:
    """Return the words for a kind of offer."""
    return (_OFFERS.get(kind) or SAY("offer-other", kind=kind)).in_language(language)


def side_name(text: Text, name: str, language: Translation) -> str:
    """Return a side with the player's name, such as `Light (alice)`."""
    return f"{text_in(text, language)} ({name})"
