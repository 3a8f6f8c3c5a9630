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
        "no-tournament": "{number} is no tournament",
        "of-tournament": "this is not possible in a match of a tournament",
        "no-player": "only its players can do this",
        "left": "you are out of the match, and the others are playing on",
        "over": "the match is over",
        # where an imported match comes from
        "from-record": "imported from a record: unproven",
        "from-board": "imported from board {board} of another server; no log proves it",
        "from-server": "imported from {host}, board {board}; proven by its log",
        # moves
        "too-long": "the text has {length} characters; the limit is {most}",
        "stale": (
            "the match has moved on in the meantime; `#{meant}` was meant, and it is now at `#{ply}`"
        ),
        "played-already": "you have already played this move, perhaps in another tab",
        "turn": "you play {side}, and it is {turn}'s turn",
        "no-turn": "you play {side}, and it is nobody's turn",
        "moved": "you can only decline a match before your first move; resign instead",
        # offers
        "proposed": "a {kind} has been proposed; answer that first",
        "offered": "you have already offered a {kind}",
        "paused": "a pause can't be proposed: the match is paused already",
        "unpausable": "a pause can't be proposed: this match is played without pauses",
        "clockless": "a pause can't be proposed: the match has no clocks",
        "alone": "there is nobody to propose anything to",
        "no-such-offer": "{kind!r} can't be proposed; {kinds:and} can",
        "no-offer": "there is no open offer; an offer lapses when another player moves",
        "own-offer": "this is your own offer; the others have to answer it",
        "accepted": "you have already accepted the {kind}",
        "no-undo": "you have no move to take back",
        # clocks
        "flag": "{side}'s time is over; the flag is falling now",
        "late": "the time to accept or reveal is over; the match is ending now",
        "server-only": "only the server reminds and flags",
        "no-clock": "no clock is running in this match",
        "ply": "the match is at #{ply} now",
        "not-due": "no reminder and no flag is due yet",
        "not-paused": "the match is not paused",
        "no-clocks": "this match has no clocks to stop",
        "no-vacation": "you have no vacation left that can stop your clock in this match",
        "vacation-over": "the vacation is already over",
        # claims, rulings and appeals
        "claim-stands": "claim {claim} is still waiting for a ruling; make another after that",
        "claims": "you have made {most} claims in this match, and that is the limit",
        "no-ply": "the match has no #{meant}; it is at #{ply}",
        "no-claim": "the match has no claim {claim}",
        "digest": "a text goes into the log as a salted SHA-256 of 32 bytes",
        "own-case": "a player of the match can't rule in it",
        "same-arbiter": "an appeal needs a different arbiter from the first",
        "ruled": "claim {claim} has been ruled on, and no appeal is waiting",
        "final": "the ruling on the appeal in claim {claim} is final",
        "unruled": "there is no ruling on claim {claim} yet",
        "appealed": "there has already been an appeal in claim {claim}, and only one is possible",
        "appeal-late": "an appeal is possible for {days} days after the ruling",
        "remedy-dismissed": "a ruling that dismisses a claim changes nothing in the match",
        "no-remedy": (
            "a ruling that upholds a claim must say what changes: back to a ply, a result, "
            "annulled, or time"
        ),
        "one-remedy": "choose one of: back to a ply, a result, annulled; time only helps a match that continues",
        "undrawn": "the match has not begun; it can be annulled, or a seat can get time",
        "terminal": "by the rules the match is over at #{ply}; set it back further",
        "opening-stays": "the match began with an opening; set it back to #{ply} or later",
        "winners": "winners must be seats of the match, at least one, and in order",
        "grants": "extra time can go once to each seat still playing, from 1 ms to {days} days",
        # substitutes
        "substitute-server": "only the server lets a substitute take over a seat",
        "substitute-alone": "substitutes take over seats in matches of tournaments only",
        "substitute-seat": "nobody plays on in this seat",
        # the start
        "started": "the match has already started",
        "begun": "the match has started, so there is nothing to reveal",
        "players": "{title} is played by {counts:or}",
        "twice": "a player can't take two seats in one match",
        "no-draw": "nothing is dealt in this match, so leave out --gather",
        "misfit": "the commitments don't fit the match",
        "misfit-pairing": "only the server pairs the players of a tournament",
        "misfit-invitation": "the invitation doesn't fit the match",
        "commitment": "a commitment is a SHA-256: 32 bytes, or 64 hex digits",
        "joined": "you have already accepted this match",
        "invited": "the match has not begun, because not all players have accepted it",
        "waits": "the match is waiting for all players to accept; write accept or decline",
        "unrevealed": "the match is waiting for all players to reveal their texts",
        "uncommitted": "the match needs your commitment; accept with one",
        "takes-text": "the match takes no commitments; accept with a text",
        "transferred": "the match continues on another server, so it is ruled on there",
        "import-server": "only the server's operator can import a match",
        "import-turns": "the imported match's turns don't fit its moves",
        "import-end": "the moves of the imported match lead to another end, or to another player's turn",
        "import-size": "the imported match takes {size} bytes; the limit for an event is {most}",
        "nothing": "there is nothing to reveal: the match takes texts without commitments",
        "early": "not all players have committed yet; reveal your text once they have",
        "revealed": "your text has already been revealed",
        "dropped": "{move} at #{ply} was dropped: {why}",
        # a start
        "no-chance-here": "nothing is left to chance here, so no entropy is needed",
        "player-count": "{game} is played by {counts:or}, not by {count}; an option begins with a hyphen",
        "two-seats": "a player can't take two seats in one match",
        "opening-once": "give the opening once, as {option}, with blanks between the moves",
        "time-alone": "a player alone has all the time in the world: leave out {option!r}",
        "commitment-place": "--commitment belongs to a challenge with --gather",
        "start-option": (
            "{option!r} can't be used here; --entropy=WORD, --gather and --commitment=HEX can, "
            "once each"
        ),
        "wrong-text": "this is not the text that you committed to",
    },
    kind=_kind,
    **{"and": _list("and"), "or": _list("or")},
)
