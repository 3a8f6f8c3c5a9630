"""The sentences of refusals that are the same in every game."""

from typing import Final

from domain.sentences import ArgumentForm, FormWords, Sentences, with_messages

_KINDS: Final = ("draw", "undo", "abort", "pause", "transfer", "count", "deal")
"""The kinds of offers, as players write them; a translation may name them."""


@with_messages(*_KINDS)
def _kind(kind: str, words: FormWords) -> str:
    return words(str(kind))


def _list(joint: str) -> ArgumentForm:
    """Return the form of words in one string: they are joined by a word of the language."""

    @with_messages(joint)
    def joined(names: str, words: FormWords) -> str:
        return f" {words(joint)} ".join(names.split(" "))

    return joined


SAY = Sentences(
    "",
    {
        # the server
        "failed": "the server failed to decide this command; its operator has been notified",
        # who acts, and when
        "no-match": "there is no such match",
        "no-player": "only its players can act in this match",
        "left": "you have left the match, and the others play on",
        "over": "the match is over",
        # where an imported match comes from
        "from-record": "imported from a record: unproven",
        "from-board": "imported from board {board} of another server; no log proves it",
        "from-server": "imported from {host}, board {board}; proven by its log",
        # moves
        "too-long": "the text has {length} characters; {most} are the most",
        "stale": "the match has moved on meanwhile; `#{meant}` was meant, and it stands at `#{ply}`",
        "played-already": "you have already played this move, perhaps in another tab",
        "turn": "you play {side}, and it is {turn}'s turn",
        "no-turn": "you play {side}, and it is nobody's turn",
        "moved": "you can decline a match only before your first move; resign instead",
        # offers
        "proposed": "a {kind} is proposed; answer that first",
        "offered": "your offer of a {kind} stands already",
        "paused": "a pause can't be proposed: the match is paused already",
        "clockless": "a pause can't be proposed: the match has no clocks",
        "alone": "there is nobody to propose anything to",
        "no-such-offer": "{kind!r} can't be proposed; {kinds:and} can",
        "no-offer": "no offer stands; one lapses when another player moves",
        "own-offer": "your own offer is for the others to answer",
        "accepted": "you have accepted the {kind} already",
        "no-undo": "you have no move to take back",
        # clocks
        "flag": "the time of {side} is over; the flag falls now",
        "late": "the time to accept or to reveal is over; the match ends now",
        "server-only": "only the server reminds and flags",
        "no-clock": "no clock runs in the match",
        "ply": "the match stands at #{ply} now",
        "not-due": "no reminder and no flag is due yet",
        "not-paused": "the match is not paused",
        "no-clocks": "the match has no clocks that could stop",
        "vacation-over": "the vacation is over already",
        # claims, rulings and appeals
        "claim-stands": "claim {claim} waits for a ruling; make another after it",
        "claims": "you have made {most} claims in this match, which is the most",
        "no-ply": "the match has no #{meant}; it stands at #{ply}",
        "no-claim": "the match has no claim {claim}",
        "digest": "a text goes into the log as a salted SHA-256 of 32 bytes",
        "own-case": "a player of the match can't rule in it",
        "same-arbiter": "another arbiter than the first rules on an appeal",
        "ruled": "there is a ruling on claim {claim}, and no appeal waits",
        "final": "the ruling on the appeal in claim {claim} is final",
        "unruled": "there is no ruling on claim {claim} yet",
        "appealed": "an appeal in claim {claim} was made already; there is one",
        "appeal-late": "an appeal is possible for {days} days after the ruling",
        "remedy-dismissed": "a ruling that dismisses changes nothing in the match",
        "no-remedy": "a ruling that upholds says what changes: back to a ply, a result, annulled, or time",
        "one-remedy": "choose one of back to a ply, a result and annulled; time is for a match that goes on",
        "undrawn": "the match has not begun; it can be annulled, or a seat can get time",
        "terminal": "by its rules the match is over at #{ply}; set it back further",
        "winners": "winners are seats of the match in order, at least one",
        "grants": "time goes once to a seat that plays on, from 1 ms to {days} days",
        # the start
        "started": "the match has started already",
        "begun": "the match has started; there is nothing to reveal",
        "players": "{title} is played by {counts:or}",
        "twice": "a player can't take two seats of one match",
        "no-draw": "this match has no draw between players; leave out --gather",
        "misfit": "the commitments don't fit the match",
        "misfit-invitation": "the invitation doesn't fit the match",
        "commitment": "a commitment is a SHA-256: 32 bytes, or 64 hex digits",
        "joined": "you have accepted this match already",
        "invited": "the match has not begun, because not all players have accepted it",
        "waits": "the match waits until all players have accepted it; say accept or decline",
        "unrevealed": "the match waits until all players have revealed what they committed to",
        "uncommitted": "the match needs your commitment; accept with one",
        "takes-text": "the match takes no commitments; accept with a text",
        "transferred": "the match goes on at another server, so it is ruled on there",
        "import-server": "only the server's operator imports a match",
        "import-turns": "the turns of the imported match do not fit its moves",
        "import-end": "the moves of the imported match lead to another end, or to another player's turn",
        "import-size": "the imported match takes {size} bytes; {most} are the most for an event",
        "nothing": "there is nothing to reveal: the match takes texts without commitments",
        "early": "not all players have committed yet; reveal your text when they have",
        "revealed": "your text is revealed already",
        "dropped": "{move} at #{ply} was dropped: {why}",
        # a start
        "no-chance-here": "chance decides nothing here, so it takes no entropy",
        "player-count": "{game} is played by {counts:or}, not by {count}; an option begins with a hyphen",
        "two-seats": "a player can't take two seats of one match",
        "time-alone": "who plays alone has all the time: leave {option!r} out",
        "commitment-place": "--commitment belongs to a challenge with --gather",
        "start-option": "{option!r} can't stand here; --entropy=WORD, --gather and --commitment=HEX can, once each",
        "wrong-text": "this is not the text that you committed to",
    },
    kind=_kind,
    **{"and": _list("and"), "or": _list("or")},
)
