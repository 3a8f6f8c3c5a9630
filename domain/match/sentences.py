"""The sentences of refusals that are the same in every game."""

from collections.abc import Mapping
from typing import Final

from domain.sentences import Form, Sentences

_GERMAN_KINDS: Final[Mapping[str, str]] = {
    "draw": "Remis",
    "undo": "Rücknahme",
    "abort": "Abbruch",
    "pause": "Pause",
    "transfer": "Umzug auf einen anderen Server",
    "count": "Zählung",
    "deal": "Auslosung durch den Server",
}


def _list(joint: str, german_joint: str) -> Form:
    """Return the form of words in one string: they are joined by a word of the language."""

    def joined(names: str, language: str) -> str:
        return f" {german_joint if language == 'de' else joint} ".join(names.split(" "))

    return joined


SAY = Sentences(
    "",
    {
        # the server
        "failed": (
            "the server failed to decide this command; its operator has been notified",
            "der Server ist an diesem Befehl gescheitert; sein Betreiber ist verständigt",
        ),
        # who acts, and when
        "no-match": ("there is no such match", "diese Partie gibt es nicht"),
        "no-player": (
            "only its players can act in this match",
            "in dieser Partie können nur ihre Spieler etwas tun",
        ),
        "left": (
            "you have left the match, and the others play on",
            "dieser Platz ist aus der Partie ausgeschieden, und die anderen spielen weiter",
        ),
        "over": ("the match is over", "die Partie ist zu Ende"),
        # where an imported match comes from
        "from-record": (
            "imported from a record: unproven",
            "aus einer Mitschrift übernommen: unbewiesen",
        ),
        "from-board": (
            "imported from board {board} of another server; no log proves it",
            "übernommen von Partie {board} eines anderen Servers; kein Protokoll beweist es",
        ),
        "from-server": (
            "imported from {host}, board {board}; proven by its log",
            "übernommen von {host}, Partie {board}; von dessen Protokoll bewiesen",
        ),
        # moves
        "too-long": (
            "the text has {length} characters; {most} are the most",
            "der Text hat {length} Zeichen; höchstens {most} sind möglich",
        ),
        "stale": (
            "the match has moved on meanwhile; `#{meant}` was meant, and it stands at `#{ply}`",
            "die Partie ist inzwischen weitergegangen; `#{meant}` war gemeint, und sie steht bei `#{ply}`",
        ),
        "played-already": (
            "you have already played this move, perhaps in another tab",
            "dieser Zug ist schon gespielt, vielleicht in einem anderen Tab",
        ),
        "turn": (
            "you play {side}, and it is {turn}'s turn",
            "am Zug ist {turn}, nicht {side}",
        ),
        "no-turn": (
            "you play {side}, and it is nobody's turn",
            "niemand ist am Zug, auch nicht {side}",
        ),
        "moved": (
            "you can decline a match only before your first move; resign instead",
            "ablehnen kann man eine Partie nur vor dem eigenen ersten Zug; danach bleibt nur, aufzugeben",
        ),
        # offers
        "proposed": (
            "a {kind} is proposed; answer that first",
            "vorgeschlagen ist schon: {kind:kind}; zuerst wird darauf geantwortet",
        ),
        "offered": (
            "your offer of a {kind} stands already",
            "der eigene Vorschlag steht schon: {kind:kind}",
        ),
        "paused": (
            "a pause can't be proposed: the match is paused already",
            "eine Pause kann nicht vorgeschlagen werden: die Partie pausiert schon",
        ),
        "clockless": (
            "a pause can't be proposed: the match has no clocks",
            "eine Pause kann nicht vorgeschlagen werden: die Partie hat keine Uhren",
        ),
        "alone": (
            "there is nobody to propose anything to",
            "es ist niemand da, dem etwas vorgeschlagen werden könnte",
        ),
        "no-such-offer": (
            "{kind!r} can't be proposed; {kinds:and} can",
            "{kind!r} kann nicht vorgeschlagen werden; möglich sind {kinds:and}",
        ),
        "no-offer": (
            "no offer stands; one lapses when another player moves",
            "es steht kein Vorschlag; er verfällt, wenn ein anderer Spieler zieht",
        ),
        "own-offer": (
            "your own offer is for the others to answer",
            "auf den eigenen Vorschlag antworten die anderen",
        ),
        "accepted": (
            "you have accepted the {kind} already",
            "das ist schon angenommen: {kind:kind}",
        ),
        "no-undo": (
            "you have no move to take back",
            "es gibt keinen eigenen Zug, der zurückgenommen werden könnte",
        ),
        # clocks
        "flag": (
            "the time of {side} is over; the flag falls now",
            "die Bedenkzeit von {side} ist abgelaufen",
        ),
        "late": (
            "the time to accept or to reveal is over; the match ends now",
            "die Zeit zum Annehmen oder Offenlegen ist vorbei; die Partie endet jetzt",
        ),
        "server-only": (
            "only the server reminds and flags",
            "nur der Server erinnert und stellt das Ende der Zeit fest",
        ),
        "no-clock": ("no clock runs in the match", "in der Partie läuft keine Uhr"),
        "ply": ("the match stands at #{ply} now", "die Partie steht jetzt bei #{ply}"),
        "not-due": (
            "no reminder and no flag is due yet",
            "noch ist keine Erinnerung fällig und keine Zeit abgelaufen",
        ),
        "not-paused": ("the match is not paused", "die Partie pausiert nicht"),
        "no-clocks": (
            "the match has no clocks that could stop",
            "die Partie hat keine Uhren, die stillstehen könnten",
        ),
        "vacation-over": ("the vacation is over already", "der Urlaub ist schon vorbei"),
        # claims, rulings and appeals
        "claim-stands": (
            "claim {claim} waits for a ruling; make another after it",
            "Einspruch {claim} wartet auf eine Entscheidung; danach ist ein weiterer möglich",
        ),
        "claims": (
            "you have made {most} claims in this match, which is the most",
            "in dieser Partie sind schon {most} eigene Einsprüche eingelegt; mehr sind nicht möglich",
        ),
        "no-ply": (
            "the match has no #{meant}; it stands at #{ply}",
            "die Partie hat kein #{meant}; sie steht bei #{ply}",
        ),
        "no-claim": (
            "the match has no claim {claim}",
            "die Partie hat keinen Einspruch {claim}",
        ),
        "digest": (
            "a text goes into the log as a salted SHA-256 of 32 bytes",
            "ein Text steht im Protokoll als gesalzener SHA-256 aus 32 Bytes",
        ),
        "own-case": (
            "a player of the match can't rule in it",
            "ein Spieler der Partie kann in ihr nicht entscheiden",
        ),
        "same-arbiter": (
            "another arbiter than the first rules on an appeal",
            "über eine Berufung entscheidet ein anderer Schiedsrichter als der erste",
        ),
        "ruled": (
            "there is a ruling on claim {claim}, and no appeal waits",
            "über Einspruch {claim} ist entschieden, und keine Berufung wartet",
        ),
        "final": (
            "the ruling on the appeal in claim {claim} is final",
            "die Entscheidung über die Berufung zu Einspruch {claim} ist endgültig",
        ),
        "unruled": (
            "there is no ruling on claim {claim} yet",
            "über Einspruch {claim} ist noch nicht entschieden",
        ),
        "appealed": (
            "an appeal in claim {claim} was made already; there is one",
            "zu Einspruch {claim} gibt es schon eine Berufung; mehr sind nicht möglich",
        ),
        "appeal-late": (
            "an appeal is possible for {days} days after the ruling",
            "eine Berufung ist {days} Tage lang nach der Entscheidung möglich",
        ),
        "remedy-dismissed": (
            "a ruling that dismisses changes nothing in the match",
            "eine abweisende Entscheidung ändert nichts an der Partie",
        ),
        "no-remedy": (
            "a ruling that upholds says what changes: back to a ply, a result, annulled, or time",
            "wer stattgibt, nennt, was sich ändert: Rücksetzung, Ergebnis, Annullierung oder Zeit",
        ),
        "one-remedy": (
            "choose one of back to a ply, a result and annulled; time is for a match that goes on",
            "Rücksetzung, Ergebnis und Annullierung schließen sich aus; Zeit gibt es nur, wenn es weitergeht",
        ),
        "undrawn": (
            "the match has not begun; it can be annulled, or a seat can get time",
            "die Partie hat nicht begonnen; sie kann annulliert werden, oder ein Spieler kann Zeit bekommen",
        ),
        "terminal": (
            "by its rules the match is over at #{ply}; set it back further",
            "nach ihren Regeln ist die Partie bei #{ply} zu Ende; sie muss weiter zurückgesetzt werden",
        ),
        "winners": (
            "winners are seats of the match in order, at least one",
            "Gewinner sind Plätze der Partie in ihrer Reihenfolge, mindestens einer",
        ),
        "grants": (
            "time goes once to a seat that plays on, from 1 ms to {days} days",
            "Zeit bekommt je einmal ein Platz, der weiterspielt, von 1 ms bis {days} Tage",
        ),
        # the start
        "started": ("the match has started already", "die Partie hat schon begonnen"),
        "begun": (
            "the match has started; there is nothing to reveal",
            "die Partie hat begonnen; es gibt nichts mehr offenzulegen",
        ),
        "players": ("{title} is played by {counts:or}", "Spieler in {title}: {counts:or}"),
        "twice": (
            "a player can't take two seats of one match",
            "niemand kann in einer Partie zwei Plätze einnehmen",
        ),
        "no-draw": (
            "this match has no draw between players; leave out --gather",
            "in dieser Partie gibt es keine Ziehung zwischen Spielern; --gather gehört hier nicht hin",
        ),
        "misfit": (
            "the commitments don't fit the match",
            "die Festlegungen passen nicht zu der Partie",
        ),
        "misfit-invitation": (
            "the invitation doesn't fit the match",
            "die Einladung passt nicht zu der Partie",
        ),
        "commitment": (
            "a commitment is a SHA-256: 32 bytes, or 64 hex digits",
            "eine Festlegung ist ein SHA-256: 32 Bytes oder 64 hexadezimale Ziffern",
        ),
        "joined": (
            "you have accepted this match already",
            "diese Partie ist schon angenommen",
        ),
        "invited": (
            "the match has not begun, because not all players have accepted it",
            "die Partie hat noch nicht begonnen, weil noch nicht alle sie angenommen haben",
        ),
        "waits": (
            "the match waits until all players have accepted it; say accept or decline",
            "die Partie wartet, bis alle Spieler sie angenommen haben; möglich sind accept und decline",
        ),
        "unrevealed": (
            "the match waits until all players have revealed what they committed to",
            "die Partie wartet, bis alle Spieler offengelegt haben, worauf sie sich festgelegt haben",
        ),
        "uncommitted": (
            "the match needs your commitment; accept with one",
            "die Partie braucht eine Festlegung; angenommen wird sie mit einer",
        ),
        "takes-text": (
            "the match takes no commitments; accept with a text",
            "die Partie kennt keine Festlegungen; angenommen wird sie mit einem Text",
        ),
        "transferred": (
            "the match goes on at another server, so it is ruled on there",
            "die Partie geht auf einem anderen Server weiter; dort wird über sie entschieden",
        ),
        "import-server": (
            "only the server's operator imports a match",
            "nur der Betreiber des Servers übernimmt eine Partie von anderswo",
        ),
        "import-turns": (
            "the turns of the imported match do not fit its moves",
            "die Bedenkzeiten der übernommenen Partie passen nicht zu ihren Zügen",
        ),
        "import-end": (
            "the moves of the imported match lead to another end, or to another player's turn",
            "die Züge der übernommenen Partie führen zu einem anderen Ende, oder ein anderer ist am Zug",
        ),
        "import-size": (
            "the imported match takes {size} bytes; {most} are the most for an event",
            "die übernommene Partie braucht {size} Bytes; ein Ereignis hat höchstens {most}",
        ),
        "nothing": (
            "there is nothing to reveal: the match takes texts without commitments",
            "es gibt nichts offenzulegen: die Partie nimmt Texte ohne Festlegungen",
        ),
        "early": (
            "not all players have committed yet; reveal your text when they have",
            "noch haben sich nicht alle Spieler festgelegt; danach kann der Text offengelegt werden",
        ),
        "revealed": ("your text is revealed already", "der Text ist schon offengelegt"),
        "dropped": (
            "{move} at #{ply} was dropped: {why}",
            "{move} bei #{ply} ist weggefallen: {why}",
        ),
        # a start
        "no-chance-here": (
            "chance decides nothing here, so it takes no entropy",
            "hier entscheidet der Zufall nichts, also wird dafür kein Wort gebraucht",
        ),
        "player-count": (
            "{game} is played by {counts:or}, not by {count}; an option begins with a hyphen",
            "{game} spielen {counts:or}, nicht {count}; eine Option beginnt mit einem Bindestrich",
        ),
        "two-seats": (
            "a player can't take two seats of one match",
            "auf zwei Plätzen einer Partie kann niemand zugleich sitzen",
        ),
        "time-alone": (
            "who plays alone has all the time: leave {option!r} out",
            "wer allein spielt, hat alle Zeit: {option!r} kann weg",
        ),
        "commitment-place": (
            "--commitment belongs to a challenge with --gather",
            "--commitment gehört zu einer Herausforderung mit --gather",
        ),
        "start-option": (
            "{option!r} can't stand here; --entropy=WORD, --gather and --commitment=HEX can, once each",
            "{option!r} geht hier nicht; möglich sind --entropy=WORT, --gather und --commitment=HEX, je einmal",
        ),
        "wrong-text": (
            "this is not the text that you committed to",
            "auf diesen Text lautet die Festlegung nicht",
        ),
    },
    kind=lambda kind, _: _GERMAN_KINDS.get(str(kind), str(kind)),
    **{"and": _list("and", "und"), "or": _list("or", "oder")},
)
