"""The sentences about a match and its events, for the terminal and for mail."""

from typing import Final

from domain.sentences import Sentences

SAY: Final = Sentences(
    "match-text",
    {
        # which match
        "place": "match {board}, #{ply}",
        # how it began
        "started": "{game} has started, {players}",
        "paired": "{what}, in tournament {number}",
        "opening": "the match begins with {moves}",
        "proposed": "{game} is proposed, {players}",
        "challenges": "{makers} challenges {others} to {game}",
        "dealt-then": "{what}; the board is dealt once everyone has accepted",
        "yet-to-accept": "{now}; still to accept: {players}",
        "goes-on-here": "{game} is to continue here from #{ply}, {players}; {source}",
        "waits-accept": "{what}; it's waiting for {players} to accept",
        "waits-reveal": "{what}; it's waiting for {players} to reveal their texts",
        "awaited-accept": "waiting for {players} to accept",
        "awaited-reveal": "waiting for {players} to reveal their texts",
        "accepted": "{player} accepted",
        "gave-entropy": "{player} accepted, with a secret word for the deal",
        "gave-none": "{player} accepted, without a secret word for the deal",
        "committed": "{player} accepted and committed to a text for the deal",
        "sealed": "everyone has committed; seed {k} of chain {chain} makes the deal",
        "revealed": "{player}'s text has been revealed",
        "withheld": "{player} didn't reveal the text for the deal",
        "declined": "{player} declined to play",
        "lapsed": "{player} didn't accept in time",
        "unrevealed": "{player} didn't open the match in time for the deal",
        # moves and turns
        "played": "{player} played {move}",
        "played-conditional": "{player} played the conditional move {move}",
        "passed": "{player} can't move and passes",
        "turn": "it is {side}'s turn ({name})",
        "last-move": "{now}; the last move was {move}",
        "stands-now": "{was}; it is now at #{ply}",
        # offers
        "may-answer": "{offer}; {others} can accept or reject it",
        # time
        "flagged": "{player} ran out of time",
        "reminded": "{player} was reminded",
        "paused": "all clocks are stopped until one of you writes resume",
        "resumed": "{player} ended the pause",
        "played-until": "{player} played until #{ply}, then a substitute took over",
        "taken-over": "a substitute, {player}, has taken over the seat",
        "absent": "{player} is on vacation until {until}",
        "returned": "{player}'s vacation ends on {until}",
        # the end, and disputes
        "resigned": "{player} resigned",
        "ruled": "an arbiter ruled",
        "upheld": "an arbiter upheld claim {claim}",
        "dismissed": "an arbiter dismissed claim {claim}",
        "appealed": "{player} appealed against the ruling on claim {claim}",
        # the lines above a board
        "game-line": "match {board}: {title} ({rules}{options})",
        "against": "{one} against {other}",
        "players-line": "players: {players}",
        "time-line": "time: {terms}",
        "clocks-line": "clocks: {clocks}",
        "no-clock-limit": "no limit",
        "waits-until": "waiting until {until}, for {span}; a player who is late declines",
        "paused-since": "paused since {since}; write resume to end the pause",
        "deadline": "deadline: {until}, in {span}",
    },
)
