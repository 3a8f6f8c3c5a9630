"""The sentences about a match and its events, for the terminal and for mail."""

from typing import Final

from domain.sentences import Sentences

SAY: Final = Sentences(
    "match-text",
    {
        # which match
        "place": ("match {board}, #{ply}", "Partie {board}, #{ply}"),
        # how it began
        "started": ("{game} has started, {players}", "{game} hat begonnen, {players}"),
        "proposed": ("{game} is proposed, {players}", "{game} ist vorgeschlagen, {players}"),
        "challenges": (
            "{makers} challenges {others} to {game}",
            "{makers} fordert {others} zu {game} heraus",
        ),
        "dealt-then": (
            "{what}; the board is dealt once everyone has accepted",
            "{what}; ausgelost wird, sobald alle angenommen haben",
        ),
        "yet-to-accept": (
            "{now}; still to accept: {players}",
            "{now}; es fehlt noch die Annahme durch {players}",
        ),
        "goes-on-here": (
            "{game} is to go on here from #{ply}, {players}; {source}",
            "{game} soll hier nach #{ply} weitergehen, {players}; {source}",
        ),
        "waits-accept": (
            "{what}; it waits for {players} to say accept",
            "{what}; es fehlt noch die Annahme durch {players}",
        ),
        "waits-reveal": (
            "{what}; it waits for {players} to reveal their texts",
            "{what}; es fehlt noch der Text von {players}",
        ),
        "awaited-accept": (
            "it waits for {players} to say accept",
            "es fehlt noch die Annahme durch {players}",
        ),
        "awaited-reveal": (
            "it waits for {players} to reveal their texts",
            "es fehlt noch der Text von {players}",
        ),
        "accepted": ("{player} accepted", "{player} hat angenommen"),
        "gave-entropy": (
            "{player} accepted and gave entropy",
            "{player} hat angenommen und etwas zur Auslosung beigetragen",
        ),
        "gave-none": (
            "{player} accepted and gave no entropy",
            "{player} hat angenommen, ohne etwas zur Auslosung beizutragen",
        ),
        "committed": (
            "{player} accepted and committed to a text for the draw",
            "{player} hat angenommen und sich auf einen Text für die Auslosung festgelegt",
        ),
        "sealed": (
            "all have committed, and seed {k} of chain {chain} draws",
            "alle haben sich festgelegt; ausgelost wird mit Startwert {k} der Kette {chain}",
        ),
        "revealed": ("the text of {player} is revealed", "der Text von {player} liegt offen"),
        "withheld": (
            "{player} did not reveal the text for the draw",
            "{player} hat den Text für die Auslosung nicht gezeigt",
        ),
        "declined": ("{player} declined to play", "{player} hat die Partie abgelehnt"),
        "lapsed": (
            "{player} has not accepted in time",
            "{player} hat nicht rechtzeitig angenommen",
        ),
        "unrevealed": (
            "{player} has not opened the match in time for the deal",
            "{player} hat die Partie nicht rechtzeitig für die Auslosung geöffnet",
        ),
        # moves and turns
        "played": ("{player} played {move}", "{player} hat {move} gezogen"),
        "played-conditional": (
            "{player} played the conditional move {move}",
            "{player} hat den Vorauszug {move} gezogen",
        ),
        "passed": (
            "{player} can't move and is passed",
            "{player} kann nicht ziehen und wird übergangen",
        ),
        "turn": ("it is {side}'s turn ({name})", "am Zug ist {side} ({name})"),
        "last-move": (
            "{now}; the last move was {move}",
            "{now}; der letzte Zug war {move}",
        ),
        "stands-now": (
            "{was}; now it stands at #{ply}",
            "{was}; inzwischen steht sie bei #{ply}",
        ),
        # offers
        "may-answer": (
            "{offer}; {others} can accept or reject it",
            "{offer}; {others} kann annehmen oder ablehnen",
        ),
        # time
        "flagged": ("the time of {player} is over", "die Zeit von {player} ist um"),
        "reminded": ("{player} was reminded", "{player} wurde erinnert"),
        "paused": (
            "all clocks stand still until one of you says resume",
            "alle Uhren stehen still, bis jemand mit resume die Pause beendet",
        ),
        "resumed": ("{player} ended the pause", "{player} hat die Pause beendet"),
        "absent": (
            "{player} is on vacation until {until}",
            "{player} hat Urlaub bis {until}",
        ),
        "returned": (
            "{player} ends the vacation on {until}",
            "{player} beendet den Urlaub am {until}",
        ),
        # the end, and disputes
        "resigned": ("{player} resigned", "{player} hat aufgegeben"),
        "ruled": ("an arbiter ruled", "ein Schiedsrichter hat entschieden"),
        "upheld": (
            "an arbiter upheld claim {claim}",
            "ein Schiedsrichter hat Einspruch {claim} stattgegeben",
        ),
        "dismissed": (
            "an arbiter dismissed claim {claim}",
            "ein Schiedsrichter hat Einspruch {claim} zurückgewiesen",
        ),
        "appealed": (
            "{player} appealed against the ruling on claim {claim}",
            "{player} hat Berufung gegen die Entscheidung zu Einspruch {claim} eingelegt",
        ),
        # the lines above a board
        "game-line": (
            "match {board}: {title} ({rules}{options})",
            "Partie {board}: {title} ({rules}{options})",
        ),
        "players-line": ("players: {players}", "Spieler: {players}"),
        "time-line": ("time: {terms}", "Zeit: {terms}"),
        "clocks-line": ("clocks: {clocks}", "Uhren: {clocks}"),
        "no-clock-limit": ("without limit", "ohne Grenze"),
        "waits-until": (
            "waits until {until}, for {span}; a player who is late has declined",
            "wartet bis {until}, noch {span}; wer zu spät kommt, hat abgelehnt",
        ),
        "paused-since": (
            "paused since {since}; `resume` ends it",
            "Pause seit {since}; `resume` beendet sie",
        ),
        "deadline": ("deadline: {until}, in {span}", "Frist: {until}, noch {span}"),
    },
)
