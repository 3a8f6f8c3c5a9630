"""The sentences of refusals in tournaments."""

from typing import Final

from domain.sentences import Sentences

SAY: Final = Sentences(
    "tournament",
    {
        # terms
        "options": "the game's options aren't in their recorded form",
        "form": "there is no form of tournament {form!r}",
        "not-for-two": "{game} isn't a game for two, and pairs play this tournament",
        "section": "a section has {least} to {most} players",
        "cycles": "each pair plays 1 to {most} matches",
        "points": "points go down from win to draw to loss, and are 0 to {most}",
        "tiebreaks": "the tie-breaks are some of {names}, each once",
        "capacity": "a tournament has room for {least} to {most} players",
        "when-full": "a tournament that starts when full needs a number of players",
        "ratings": "the lowest rating must not be above the highest",
        "start-past": "the start is in the past",
        # who, and when
        "no-tournament": "there is no such tournament",
        "exists": "this number is taken",
        "organiser": "only the organiser of the tournament can do this",
        "server": "only the server itself can do this",
        "drafted": "entry isn't open yet",
        "open": "entry is open already",
        "started": "the tournament has started",
        "not-started": "the tournament hasn't started yet",
        "cancelled": "the tournament was cancelled",
        "confirmed": "the places have been confirmed",
        "running": "not all matches are over: {left} are still to be played",
        # entries
        "entered": "you have already entered",
        "not-entered": "there is no such entry",
        "rating-low": "this tournament is for players rated {least} or higher; you have {rating}",
        "rating-high": "this tournament is for players rated {most} or lower; you have {rating}",
        "too-few": "{least} players are needed to start, and {count} have entered",
        "no-robots": "robots can't enter this tournament",
        # results
        "no-pairing": "there is no pairing {pairing}",
        "old-report": "the result of pairing {pairing} is known already",
        # players who leave
        "withdrawal": "a withdrawal is accepted or silent, and has the digest of its reasons",
        "withdrawn": "the player has left the tournament already",
        "own-section": "nobody rules over a section in which they play; ask an arbiter",
        # substitutes
        "volunteered": "you have already volunteered as a substitute",
        "substitution": "a substitution has the digest of its reasons",
        "no-volunteer": "a substitute is somebody who has volunteered, or waited for room at the start",
        # pairings that were recorded
        "pairing": "the recorded pairings of a section aren't a round robin of its players",
    },
)
