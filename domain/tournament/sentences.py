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
        "not-for-three": "{game} isn't a game for three, and groups of three play this tournament",
        "section": "a section has {least} to {most} players",
        "cycles": "each pair plays 1 to {most} matches",
        "points": "points go down from win to draw to loss, and are 0 to {most}",
        "tiebreaks": "the tie-breaks are some of {names}, each once",
        "capacity": "a tournament has room for {least} to {most} players",
        "when-full": "a tournament that starts when full needs a number of players",
        "ratings": "the lowest rating must not be above the highest",
        "finished": "an entry asks for up to {most} finished matches",
        "days": "a round, a stage or a season lasts up to {most} days; 0 is no end but that of its matches",
        "terms-of-form": "these terms are those of another form of tournament",
        "stages": "there are up to {most} stages",
        "qualifiers": "at least one goes on from each section, and at least {least} in all",
        "tie-matches": "a tie has 1 to {most} matches, and up to {most} more if it is drawn",
        "rounds": "a Swiss tournament has {least} to {most} rounds",
        "threes-rounds": "groups of three play {least} to {most} rounds",
        "place-points": "points go down from the first place to the third, and are 0 to {most}",
        "ladder-when-full": "a ladder doesn't start when it is full, because players enter while it runs",
        "ladder-reach": "a challenge goes up to 1 to {reach} places, and a player has 1 to {running} matches at a time",
        "ladder-rest": "the same two wait up to {most} days after their last match",
        "ladder-silence": "the silent drop after {least} to {most} days, or never with 0, by up to {drop} places; 0 is to the bottom",
        "league-moves": "no more are promoted and relegated than the {size} players of a division",
        "league-seasons": "a league has 1 to {most} seasons",
        "league-days": "a league needs the days of its seasons",
        "start-past": "the start is in the past",
        # who, and when
        "no-tournament": "there is no such tournament",
        "exists": "this number is taken",
        "organiser": "only the organiser of the tournament can do this",
        "directs": "only the organiser and the directors of the tournament can do this",
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
        # ladders
        "no-ladder": "this tournament isn't a ladder",
        "ladder-ended": "the ladder has been ended",
        "ladder-back": "matches of your earlier entry are still running; you can enter again once they are over",
        "ladder-full": "the ladder has no room for another player",
        "none-silent": "nobody has been silent long enough",
        # leagues
        "last-season": "no season follows any more",
        "league-full": "the league has no room for another player",
        # teams
        "team-size": "{least} to {most} players play for a team",
        "no-teams": "players enter this tournament by themselves, without teams",
        "team-players": "a team has up to {most} players, each named once",
        "most-teams": "there are {most} teams already",
        "no-team": "there is no such team in this tournament",
        "no-captain": "only the captains of the teams that are playing can do this",
        "not-named": "this team doesn't name you; ask its captain to",
        "by-team": "players enter this tournament in a team that names them",
        "too-few-teams": "two teams with {size} players each are needed to start",
        "other-team": "a substitute has to be named by the captain of the same team",
        # results
        "no-pairing": "there is no pairing {pairing}",
        "no-round": "round {stage} isn't the one that is played",
        "pairs-itself": "this tournament pairs by itself",
        "adjudicated": "pairing {pairing} has a result already",
        "adjudication": "an adjudication has results of matches, and the digest of its reasons",
        "directors": "a tournament has up to {most} directors beside its organiser",
        "old-report": "the result of pairing {pairing} is known already",
        # players who leave
        "withdrawal": "a withdrawal is accepted or silent, and has the digest of its reasons",
        "withdrawn": "the player has left the tournament already",
        "own-section": "nobody rules over a section in which they play; ask an arbiter",
        # substitutes
        "volunteered": "you have already volunteered as a substitute",
        "substitution": "a substitution has the digest of its reasons",
        "no-substitutes": "a ladder has no substitutes; anybody can enter it",
        "no-volunteer": "a substitute is somebody who has volunteered, or waited for room at the start",
        # pairings that were recorded
        "pairing": "the recorded pairings break the rules of the tournament's form",
    },
)
