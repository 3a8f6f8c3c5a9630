"""The sentences of refusals by the application: why a use case can't be carried out."""

from collections.abc import Mapping
from typing import Final

REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    # whom a player wants to meet; each follows the player's name
    "not-wanted": ("{player} {why}", "{player} {why}"),
    "no-challenges": (
        "takes no challenges from you",
        "nimmt von diesem Konto keine Herausforderungen an",
    ),
    "is-suspended": ("is suspended and starts no matches", "ist gesperrt und beginnt nichts Neues"),
    "none-by-name": (
        "accepts no challenges by name; an open one is for anybody",
        "nimmt keine Herausforderungen an den eigenen Namen an; eine offene ist für alle da",
    ),
    "only-known": (
        (
            "accepts challenges by name only from players that they have played with, "
            "written to or challenged"
        ),
        (
            "nimmt Herausforderungen an den eigenen Namen nur von Bekannten an: nach einer Partie, "
            "einer Nachricht oder einer Herausforderung"
        ),
    ),
    "robot-messages": (
        "is a robot, and reads no messages",
        "ist ein Roboter und liest keine Nachrichten",
    ),
    "no-messages": ("takes no messages from you", "nimmt von diesem Konto keine Nachrichten an"),
    "robot-chat": ("is a robot, and reads no chat", "ist ein Roboter und liest keinen Chat"),
    "no-chat": ("reads no chat of yours", "liest keinen Chat von diesem Konto"),
    "no-follows": (
        "does not let you follow or watch",
        "erlaubt diesem Konto nicht, zu folgen oder Partien zu beobachten",
    ),
    # all others
    "deleted": ("the account has just been deleted", "das Konto ist gerade gelöscht worden"),
    "no-session": ("you have no session of this id", "eine solche Sitzung gibt es nicht"),
    "no-token": ("you have no token of this id", "ein solches Token gibt es nicht"),
    "days-form": (
        "{text!r} is no number of days; write one, or `back`",
        "{text!r} ist keine Zahl von Tagen",
    ),
    "analysed-later": (
        "match {board} is analysed when it is over, because people play it",
        "Partie {board} wird erst nach ihrem Ende analysiert, weil Menschen sie spielen",
    ),
    "analysed-elsewhere": (
        "match {board} goes on at another server, so it is not analysed here",
        "Partie {board} geht auf einem anderen Server weiter und wird hier nicht analysiert",
    ),
    "block-self": ("you can't block yourself", "sich selbst kann niemand blockieren"),
    "follow-self": ("you can't follow yourself", "sich selbst kann niemand folgen"),
    "no-message": (
        "there is no such message; it may have been erased",
        "eine solche Nachricht gibt es nicht; vielleicht ist sie gelöscht worden",
    ),
    "open-commitment": (
        "a commitment is no option of an open challenge; send it beside the options",
        "eine Festlegung ist keine Option einer offenen Herausforderung; sie steht neben den Optionen",
    ),
    "no-chance": (
        "chance decides nothing here, so it takes no entropy",
        "hier entscheidet der Zufall nichts, also wird dafür kein Wort gebraucht",
    ),
    "no-board": ("there is no match {board}", "es gibt keine Partie {board}"),
    "no-ply-yet": (
        "match {board} stands at #{now}; there is no #{ply} yet",
        "Partie {board} steht bei #{now}; #{ply} gibt es noch nicht",
    ),
    "log-away": (
        "the published log can't be read now; try again in a minute, and if that does not help, the server's log says why",
        "das veröffentlichte Protokoll ist gerade nicht lesbar; bitte in einer Minute noch einmal versuchen, und wenn das nicht hilft, steht im Protokoll des Servers, warum",
    ),
    "log-damaged": (
        "the published log is damaged; the server's log says where",
        "das veröffentlichte Protokoll ist beschädigt; das Protokoll des Servers sagt, wo",
    ),
    "moved-on": (
        "the match moved on again and again meanwhile; try again",
        "die Partie ging währenddessen immer wieder weiter; bitte noch einmal versuchen",
    ),
    "lines-long": (
        "{most} moves in all lines are the most",
        "mehr als {most} Züge in allen Zugfolgen sind nicht möglich",
    ),
    "line-long": (
        "{most} moves in a line are the most",
        "mehr als {most} Züge in einer Zugfolge sind nicht möglich",
    ),
    "match-over": ("the match is over", "die Partie ist zu Ende"),
    "not-begun": (
        "the match waits until all players have accepted it",
        "die Partie wartet, bis alle Spieler sie angenommen haben",
    ),
    "conditional-most": (
        "{most} conditional moves are the most; drop some of yours first",
        "mehr als {most} Vorauszüge sind nicht möglich; lösche erst einige",
    ),
    "no-reply": (
        "the line has no move of yours: write the other's, then your reply",
        "in der Zugfolge fehlt ein eigener Zug: zuerst der des Gegners, dann die Antwort darauf",
    ),
    "no-pass": (
        "nobody passes by a command: a player who can't move is passed by the server",
        "niemand passt mit einem Befehl: wer nicht ziehen kann, den übergeht der Server",
    ),
    "conditional-turn": (
        "it is your turn now: play the first of these",
        "der erste dieser Züge ist schon an der Reihe: spiel ihn",
    ),
    "over-before-it": (
        "move {number}: the match would be over before it",
        "Zug {number}: die Partie wäre schon vorher zu Ende",
    ),
    "later-ply": (
        "after a move for a later ply each move needs its own, such as m13-j7#6",
        "nach einem Zug für später braucht jeder Zug seine Nummer, zum Beispiel m13-j7#6",
    ),
    "other-ply": (
        "{move} would be played at #{at}, not at #{ply}",
        "{move} würde bei #{at} gespielt, nicht bei #{ply}",
    ),
    "arbiters-only": (
        "only arbiters can do this; an operator makes arbiters",
        "das können nur Schiedsrichter; der Betreiber ernennt sie",
    ),
    "cases-readers": (
        "only the players of a match and arbiters can read its cases",
        "die Fälle einer Partie können nur ihre Spieler und Schiedsrichter lesen",
    ),
    "no-case-waits": (
        "no case of this match waits for a ruling; to rule all the same, say that it is of your own motion",
        "kein Fall dieser Partie wartet auf eine Entscheidung; aus eigenem Antrieb ist eine möglich, wenn das dabeisteht",
    ),
    "no-ruling": (
        "no arbiter has ruled in this match",
        "in dieser Partie hat noch kein Schiedsrichter entschieden",
    ),
    "claimants": (
        "only the players of a match and arbiters can make a claim",
        "Einspruch können nur die Spieler der Partie und Schiedsrichter einlegen",
    ),
    "own-match": (
        "you play in this match; another arbiter rules on it",
        "über eine eigene Partie entscheidet ein anderer Schiedsrichter",
    ),
    "no-draft": (
        "you have submitted nothing in match {board}",
        "in Partie {board} liegt kein Entwurf",
    ),
    "draft-ply": (
        "the match stands at #{now}, not at #{ply}",
        "die Partie steht bei #{now}, nicht bei #{ply}",
    ),
    "draft-line": (
        "other moves lead to #{ply} than when you submitted it; look again",
        "zu #{ply} führen inzwischen andere Züge; bitte noch einmal ansehen",
    ),
    "no-puzzle": (
        "{game} is no puzzle: only games played alone have scores",
        "{game} ist kein Rätsel: Punkte gibt es nur in Spielen für einen",
    ),
    "puzzle": (
        "{game} is played alone, so it has scores instead; ask for those",
        "{game} spielt man allein; statt Wertungen gibt es Punkte",
    ),
    "recipients": (
        "a message goes to 1 to {most} players, not {count}",
        "eine Nachricht geht an 1 bis {most} Spieler, nicht an {count}",
    ),
    "to-all": (
        "only arbiters write to everybody; try `message`",
        "an alle schreiben nur Schiedsrichter",
    ),
    "no-robots": (
        "{robot} plays no matches here, because this server runs no robots now",
        "{robot} spielt hier keine Partien, weil dieser Server gerade keine Roboter hat",
    ),
    "robot-matches": (
        "{most} matches with robots that you have started are not over, and that is the most; finish one, or resign",
        "{most} begonnene Partien mit Robotern sind noch nicht zu Ende; mehr sind nicht möglich, bis eine endet",
    ),
    "slow-matches": (
        "{most} matches with {robot} that you have started are not over, and that is the most; finish one, or resign",
        "{most} begonnene Partien mit {robot} sind noch nicht zu Ende; mehr sind nicht möglich, bis eine endet",
    ),
    "not-with": ("{player} does not play with {other}", "{player} spielt nicht mit {other}"),
    "not-opener": (
        "challenge {challenge} is not yours: only the player who opened it can ask a robot to join",
        "Herausforderung {challenge} stammt von jemand anderem: nur wer sie gestellt hat, kann einen Roboter dazuholen",
    ),
    "no-user": ("there is no user {name!r}", "es gibt keinen Spieler {name!r}"),
    "against-self": (
        "a player can't play against themselves; name two",
        "niemand spielt gegen sich selbst; gebraucht werden zwei Spieler",
    ),
    "two-at-most": ("name two players at most", "höchstens zwei Spieler können genannt werden"),
    "password-again": (
        "give your password too: you gave it more than ten minutes ago",
        "dafür wird noch einmal das Passwort gebraucht: es wurde vor mehr als zehn Minuten eingegeben",
    ),
    "rematch-puzzle": (
        "match {board} is a puzzle: start {game} again in place of a rematch",
        "Partie {board} ist ein Rätsel: {game} beginnt man einfach noch einmal",
    ),
    "rematch-early": (
        "match {board} is not over; a rematch comes after its end",
        "Partie {board} ist noch nicht zu Ende; eine Revanche gibt es erst danach",
    ),
    "rematch-gone": (
        "a player of the match has deleted their account; challenge another",
        "ein Spieler der Partie hat sein Konto gelöscht; für eine neue Partie wird ein anderer gebraucht",
    ),
    "time-form": (
        "write time as SIDE=3d or SIDE=12h, and a comma between two of them",
        "Zeit schreibt man als SEITE=3d oder SEITE=12h, mit Komma dazwischen",
    ),
    "dismiss-none": (
        "there is no claim to dismiss",
        "es gibt keinen Einspruch, der abgewiesen werden könnte",
    ),
    "back-ply": (
        "`back` needs the ply to go back to, and only `back` has one",
        "wer die Partie zurücksetzt, nennt den Zug, nach dem es weitergeht",
    ),
    "result-sides": (
        "`result` needs the sides that win, and only `result` has some",
        "zu einem Ergebnis gehören die Seiten, die gewinnen, und nur dazu",
    ),
    "time-sides": (
        "`time` needs sides; beside it only `back` can grant time",
        "zur Zeit gehören Seiten; außerdem gibt es sie nur beim Zurücksetzen",
    ),
    "not-named": (
        "you are none of the players; name yourself as one",
        "unter den Spielern fehlt, wer die Partie beginnt",
    ),
    "starts": (
        "{most} of your challenges wait for an answer, and that is the most; wait until one is accepted or declined. One that you take back before that counts for a day from its start",
        "{most} Herausforderungen warten auf eine Antwort, mehr sind nicht möglich; es geht weiter, sobald eine angenommen oder abgelehnt ist. Eine, die vorher zurückgezogen wird, zählt noch einen Tag lang ab ihrem Beginn",
    ),
    "no-hand-in": (
        "{game} is no puzzle, so it can't be handed in",
        "{game} ist kein Rätsel und lässt sich nicht abgeben",
    ),
    "no-solution": (
        "a solution has a move; nothing was handed in",
        "eine Lösung hat mindestens einen Zug; abgegeben ist nichts",
    ),
    "long-solution": (
        "a solution has {most} moves at most",
        "eine Lösung hat höchstens {most} Züge",
    ),
    "puzzle-over": (
        "the puzzle is over before {text!r}",
        "das Rätsel ist schon vor {text!r} zu Ende",
    ),
    "not-on-disks": (
        "it is not on enough disks yet; try again in a moment",
        "es ist noch nicht auf genügend Platten; bitte gleich noch einmal versuchen",
    ),
    "no-log": (
        "this server publishes no log",
        "dieser Server veröffentlicht kein Protokoll",
    ),
    "vacation-past": (
        "a vacation ends on a later day than that",
        "ein Urlaub endet an einem späteren Tag als diesem",
    ),
    "reset-empty": (
        "enter your name or your mail address",
        "bitte den Namen oder die Mailadresse angeben",
    ),
    "ended-early": (
        "match {board} ended before it had a position",
        "Partie {board} war zu Ende, bevor es eine Stellung gab",
    ),
    "no-position": (
        "match {board} waits, and has no position yet",
        "Partie {board} wartet und hat noch keine Stellung",
    ),
    "no-case": (
        "match {board} has no case",
        "in Partie {board} gibt es keinen Fall",
    ),
    "no-such-case": (
        "match {board} has no case {number}",
        "in Partie {board} gibt es keinen Fall {number}",
    ),
    "no-picture": (
        "there is no such picture",
        "ein solches Bild gibt es nicht",
    ),
    "long-line": (
        "a line of moves has at most {most} characters",
        "eine Zugfolge hat höchstens {most} Zeichen",
    ),
    "no-display-setting": (
        "there is no such setting of the display",
        "eine solche Einstellung der Anzeige gibt es nicht",
    ),
    "empty-form": (
        "the form does not say what to do",
        "das Formular sagt nicht, was geschehen soll",
    ),
    "not-a-puzzle": (
        "{game} is no puzzle",
        "{game} ist kein Rätsel",
    ),
    "vacation-day": (
        "choose the last day of the vacation",
        "bitte den letzten Tag des Urlaubs wählen",
    ),
    "token-days": (
        "the days of a token are a number, or empty until it is revoked",
        "die Tage eines Tokens sind eine Zahl, oder leer, bis es beendet wird",
    ),
    "which-robot": (
        "the form does not say which robot",
        "das Formular sagt nicht, welcher Roboter",
    ),
    "not-for-count": (
        "{game} is not played by {count}",
        "{game} wird nicht zu {count} gespielt",
    ),
    "too-many-between": (
        "{player} has not answered {most} of your challenges, and that is the most; wait until one is accepted or declined. One that you take back before that counts for a day from its start",
        "{player} hat {most} Herausforderungen von hier noch nicht beantwortet, und mehr sind nicht möglich; erst muss eine angenommen oder abgelehnt sein. Eine, die vorher zurückgezogen wird, zählt noch einen Tag lang ab ihrem Beginn",
    ),
    "damaged": (
        "match {board} can't be read; its operator sees why with `matchpost verify {board}`",
        "Partie {board} ist nicht lesbar; der Betreiber sieht mit `matchpost verify {board}`, warum",
    ),
    "no-mail-here": (
        "this server sends no mail; ask its operator for a new password",
        "dieser Server verschickt keine Mail; ein neues Passwort gibt es beim Betreiber",
    ),
    "link-used": (
        "this link was used, or is older than an hour; ask for another one",
        "dieser Link ist benutzt worden oder älter als eine Stunde; bitte einen neuen anfordern",
    ),
    "not-published": (
        "it is recorded, and will be in the published log within a minute; ask again then",
        "es ist aufgezeichnet und steht in einer Minute im veröffentlichten Protokoll; dann bitte noch einmal",
    ),
    "not-in-log": (
        "the log does not have this command where its outcome says",
        "das Protokoll hat diesen Befehl nicht an der Stelle, die sein Ergebnis nennt",
    ),
    "events-of-match": (
        "match {board} has {count} events, not {seq}",
        "Partie {board} hat {count} Ereignisse, nicht {seq}",
    ),
    "ruling-word": (
        "{word!r} is no ruling; write one of {known}",
        "{word!r} ist keine Entscheidung; möglich sind {known}",
    ),
    "no-side": (
        "{word!r} is no side and no player of this match; its sides: {known}",
        "{word!r} ist keine Seite und niemand in dieser Partie; ihre Seiten: {known}",
    ),
    "nobodys-draft": (
        "it is nobody's turn; submit a move when it is your turn",
        "niemand ist am Zug; ein Zug kann erst abgeschickt werden, wenn er an der Reihe ist",
    ),
    "others-draft": (
        "it is {side}'s turn ({player}); submit a move when it is your turn",
        "{side} ist am Zug ({player}); ein Zug kann erst abgeschickt werden, wenn er an der Reihe ist",
    ),
    "whole-number": ("write a whole number", "bitte eine ganze Zahl schreiben"),
    "no-such-list": (
        "there is no list {word!r}; the lists are {known}",
        "eine Liste {word!r} gibt es nicht; die Listen sind {known}",
    ),
    "no-better-line": (
        "the analysis of match {board} has no better line at move {move}",
        "die Analyse der Partie {board} hat bei Zug {move} keine bessere Zugfolge",
    ),
    "no-file": ("there is no such file", "eine solche Datei gibt es nicht"),
}
