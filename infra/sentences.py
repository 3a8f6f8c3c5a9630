"""The sentences of refusals by what the server stores: accounts, challenges, texts, archive."""

from typing import Final

from domain.sentences import Sentences, counted

SAY: Final = Sentences(
    "server",
    {
        "name-taken": (
            "the userid {name!r} is taken; choose another",
            "der Name {name!r} ist vergeben; bitte einen anderen wählen",
        ),
        "no-user": (
            "there is no user {name!r}; check how the userid is spelt",
            "es gibt keinen Spieler {name!r}; bitte die Schreibweise prüfen",
        ),
        "account-busy": (
            "the account was changed elsewhere at the same moment; try again",
            "das Konto wurde im selben Moment anderswo geändert; bitte noch einmal versuchen",
        ),
        "push-devices": (
            "{most} browsers are allowed notifications; remove one first",
            "{most} Browser dürfen schon benachrichtigen; bitte erst einen entfernen",
        ),
        "account-deleted": ("the account was deleted", "das Konto ist gelöscht"),
        "suspended": (
            "the account of {name} is suspended; write to those who run this server",
            "das Konto von {name} ist gesperrt; bitte an die Betreiber dieses Servers wenden",
        ),
        "wrong-password": (
            "this is not the password of {name}",
            "das ist nicht das Passwort von {name}",
        ),
        "passwords-busy": (
            "too many passwords are being checked; try again in a minute",
            "gerade werden zu viele Passwörter geprüft; bitte in einer Minute noch einmal versuchen",
        ),
        "name-form": (
            "{name!r} is no userid: a letter, then 1 to 19 letters, digits, - or _",
            "{name!r} ist kein Name: ein Buchstabe, dann 1 bis 19 Buchstaben, Ziffern, - oder _",
        ),
        "signups-closed": (
            "this server makes no new accounts; write to those who run it if you need one",
            "dieser Server nimmt keine neuen Konten an; wer eines braucht, schreibt an die Betreiber",
        ),
        "name-reserved": (
            "{name!r} is a name of the server or a word of its commands, or looks like one; choose another",
            "{name!r} ist ein Name des Servers oder ein Wort seiner Befehle, oder sieht einem ähnlich; bitte einen anderen wählen",
        ),
        "name-alike": (
            "{name!r} looks like the userid of another player; choose another",
            "{name!r} sieht aus wie der Name eines anderen Spielers; bitte einen anderen wählen",
        ),
        "name-rests": (
            "a player who was called {name!r}, or much like it, has left within a year; choose another",
            "wer {name!r} oder ähnlich hieß, ist erst vor weniger als einem Jahr gegangen; bitte einen anderen Namen wählen",
        ),
        "password-length": (
            "a password has {least} to {most} characters, not {length}",
            "ein Passwort hat {least} bis {most} Zeichen, nicht {length}",
        ),
        "password-form": (
            "a password has no tabs, line breaks or other control characters",
            "ein Passwort hat keine Tabulatoren, Zeilenumbrüche oder andere Steuerzeichen",
        ),
        "password-ends": (
            "a password neither begins nor ends with a space",
            "ein Passwort beginnt und endet nicht mit einem Leerzeichen",
        ),
        "password-name": (
            "this password is little more than the userid, or words that everybody here knows; choose another",
            "dieses Passwort ist kaum mehr als der Name oder Wörter, die hier alle kennen; bitte ein anderes wählen",
        ),
        "password-common": (
            "this is one of the 10,000 passwords that are tried first; choose another",
            "das ist eines der 10.000 Passwörter, die als Erste ausprobiert werden; bitte ein anderes wählen",
        ),
        "address-length": (
            "a mail address has at most {most} characters, not {length}",
            "eine Mailadresse hat höchstens {most} Zeichen, nicht {length}",
        ),
        "address-ascii": (
            "{address} has letters that not every mail server takes; use ASCII only, and write the domain in its xn-- form",
            "{address} hat Buchstaben, die nicht jeder Mailserver annimmt; möglich ist nur ASCII, die Domain in ihrer Form mit xn--",
        ),
        "address-form": (
            "{address} is no plain mail address; write it like name@example.org, without display name, quotes or comments",
            "{address} ist keine einfache Mailadresse; sie sieht aus wie name@example.org, ohne Anzeigename, Anführungszeichen und Kommentare",
        ),
        "address-twice": (
            "{address!r} is given twice; give each mail address once",
            "{address!r} steht zweimal da; jede Mailadresse genügt einmal",
        ),
        "addresses": (
            "an account has at most {most} mail addresses, not {count}",
            "ein Konto hat höchstens {most} Mailadressen, nicht {count}",
        ),
        "blocks": (
            "an account blocks at most {most} others; unblock one",
            "ein Konto blockiert höchstens {most} andere; erst muss eine Blockade weg",
        ),
        "watched": (
            "an account watches at most {most} matches; take one off your list",
            "ein Konto beobachtet höchstens {most} Partien; erst muss eine von der Liste",
        ),
        "followed": (
            "an account follows at most {most} players; take one off your list",
            "ein Konto folgt höchstens {most} Spielern; erst muss einer von der Liste",
        ),
        "muted": (
            "an account mutes at most {most} chats; end one of them",
            "ein Konto schaltet höchstens {most} Chats stumm; erst muss einer wieder zu hören sein",
        ),
        "no-challenge": (
            "there is no challenge {challenge}; it may have expired, look again",
            "es gibt keine Herausforderung {challenge}; vielleicht ist sie abgelaufen",
        ),
        "challenges": (
            "{most} challenges wait that you have opened, or that you have joined; that is the most",
            "{most} eigene oder angenommene Herausforderungen warten schon; mehr sind nicht möglich",
        ),
        "challenge-form": (
            "{text!r} is no challenge: an id has {length} or {link} letters and digits 2 to 7",
            "{text!r} ist keine Herausforderung: ihre Kennung hat {length} oder {link} Buchstaben und Ziffern von 2 bis 7",
        ),
        "note-long": (
            "the note has {length} characters; {most} are the most",
            "die Notiz hat {length} Zeichen; höchstens {most} sind möglich",
        ),
        "withdrawn": (
            "challenge {challenge} was withdrawn",
            "Herausforderung {challenge} wurde zurückgezogen",
        ),
        "own-challenge": (
            "challenge {challenge} is your own; wait for others to take it, or withdraw it",
            "Herausforderung {challenge} ist die eigene; andere können sie annehmen",
        ),
        "taken": (
            "challenge {challenge} was taken by others; look for another, or open one",
            "Herausforderung {challenge} haben schon andere angenommen",
        ),
        "no-part": (
            "you have no part in challenge {challenge}, so leave it to others",
            "Herausforderung {challenge} ist Sache anderer",
        ),
        "full": (
            "challenge {challenge} is full, and its match starts; decline or resign there",
            "Herausforderung {challenge} ist vollzählig, und ihre Partie beginnt; ablehnen oder aufgeben geht dort",
        ),
        "text-empty": ("the text is empty; write something", "der Text ist leer"),
        "text-long": (
            "the text has {length} characters; {most} are the most",
            "der Text hat {length} Zeichen; höchstens {most} sind möglich",
        ),
        "message-recipients": (
            "a message goes to 1 to {most} players, not {count}",
            "eine Nachricht geht an 1 bis {most} Spieler, nicht an {count}",
        ),
        "strangers": (
            "at most {most} messages a day go to players who have neither played with you nor written to you; try again in {hours:hours}",
            "höchstens {most} Nachrichten am Tag gehen an Spieler, die weder mit diesem Konto gespielt noch ihm geschrieben haben; bitte in {hours:hours} noch einmal versuchen",
        ),
        "notes": (
            "an account keeps at most {most} notes; empty one of another match",
            "ein Konto behält höchstens {most} Notizen; erst muss eine andere leer werden",
        ),
        "sessions": (
            "an account has at most {most} sessions; log in once more",
            "ein Konto hat höchstens {most} Sitzungen; bitte noch einmal anmelden",
        ),
        "sessions-busy": (
            "the account's sessions were ended at the same moment; log in again",
            "die Sitzungen des Kontos wurden im selben Moment beendet; bitte noch einmal anmelden",
        ),
        "statements": (
            "you have {most} statements in match {board}, and that is the most",
            "in Partie {board} stehen schon {most} eigene Äußerungen; mehr sind nicht möglich",
        ),
        "label-long": (
            "a label has at most {most} characters, not {length}",
            "eine Bezeichnung hat höchstens {most} Zeichen, nicht {length}",
        ),
        "label-form": (
            "a label is 1 to {most} printable characters that tell you where the token is used",
            "eine Bezeichnung hat 1 bis {most} druckbare Zeichen und sagt, wo das Token gebraucht wird",
        ),
        "token-scopes": (
            "a token has one or more of the scopes {scopes}, no others",
            "ein Token hat eines oder mehrere der Rechte {scopes}, keine anderen",
        ),
        "token-days": (
            "a token lasts {least} to {most} days or until it is revoked, not {days}",
            "ein Token gilt {least} bis {most} Tage oder bis es beendet wird, nicht {days}",
        ),
        "tokens": (
            "an account has at most {most} tokens; revoke one of them",
            "ein Konto hat höchstens {most} Token; erst muss eines beendet werden",
        ),
        "archive-damaged": (
            "match {board} can't be read from the archive; the server's log says why",
            "Partie {board} ist im Archiv nicht lesbar; das Protokoll des Servers sagt, warum",
        ),
        "archive-away": (
            "the archive can't be read now; try again in a minute",
            "das Archiv ist gerade nicht lesbar; bitte in einer Minute noch einmal versuchen",
        ),
        "no-board": ("there is no match {board}", "es gibt keine Partie {board}"),
        "no-analyses": (
            "this server analyses no matches now, because it runs no process for that; its operator can, see MATCHPOST_ROBOTS",
            "dieser Server analysiert gerade keine Partien, weil er keinen Prozess dafür hat; sein Betreiber kann das ändern, siehe MATCHPOST_ROBOTS",
        ),
        "analysis-killed": (
            "the analysis of match {board} was stopped, because its process was killed {kills} times at the same position; ask for it again in an hour",
            "die Analyse von Partie {board} wurde beendet, weil ihr Prozess {kills}-mal bei derselben Stellung abbrach; in einer Stunde lässt sie sich noch einmal anfordern",
        ),
        "analyses-wait": (
            "{most} matches wait to be analysed; try again later",
            "{most} Partien warten auf ihre Analyse; bitte später noch einmal versuchen",
        ),
        "analyses-own": (
            "{most} matches are being analysed for you; wait until one is done",
            "{most} Partien werden schon im eigenen Auftrag analysiert; wenn eine fertig ist, geht es weiter",
        ),
        "codes-withheld": (
            "no code was sent to your address, because too many were asked for today; give the address again in {hours:hours}",
            "an die Adresse ging kein Code, weil heute schon zu viele verlangt wurden; bitte in {hours:hours} noch einmal eintragen",
        ),
        "code-wrong": (
            "this code verifies no e-mail address of the account; add the address again, and a new one is sent",
            "dieser Code bestätigt keine Mailadresse des Kontos; gib die Adresse noch einmal an, dann wird ein neuer geschickt",
        ),
        "list-busy": (
            "this list changes too often to be read; try again in a minute",
            "diese Liste ändert sich gerade zu oft; bitte in einer Minute noch einmal versuchen",
        ),
        "older-away": (
            "older finished matches of this list can't be read now; try again in a minute",
            "ältere beendete Partien dieser Liste sind gerade nicht lesbar; bitte in einer Minute noch einmal versuchen",
        ),
        "older-damaged": (
            "older finished matches of this list can't be read; the server's log says why",
            "ältere beendete Partien dieser Liste sind nicht lesbar; das Protokoll des Servers sagt, warum",
        ),
        "not-kept": (
            "the server can't make sure now that it keeps a move, so it takes none; its operator has been notified; try again in a minute",
            "der Server kann gerade nicht sicherstellen, dass er einen Zug behält, also nimmt er keinen an; sein Betreiber ist verständigt; bitte in einer Minute noch einmal versuchen",
        ),
        "disk-full": (
            "the disk of this server is full, so it takes no moves until its operator has made room; everything can still be read, and nothing is lost",
            "die Platte dieses Servers ist voll, also nimmt er keine Züge an, bis sein Betreiber Platz gemacht hat; lesen lässt sich alles, und nichts ist verloren",
        ),
        "no-writes": (
            "the server can only be read just now, because its disk is full or a copy of it is away; nothing was changed; try again later",
            "der Server lässt sich gerade nur lesen, weil seine Platte voll ist oder eine Kopie fehlt; nichts wurde geändert; bitte später noch einmal versuchen",
        ),
        "plies": (
            "a match has at most {most} plies by commands; end it by resigning, by an offer, or as the game has it",
            "eine Partie hat höchstens {most} Züge; sie endet durch Aufgabe, ein Angebot oder nach ihren Regeln",
        ),
        "too-many-attempts": (
            "too many wrong passwords for {name!r}; try again in {minutes:minutes}",
            "zu viele falsche Passwörter für {name!r}; bitte in {minutes:minutes} noch einmal versuchen",
        ),
        "minute-rate": (
            "more than {most} {what} in a minute; try again in {seconds:seconds}",
            "mehr als {most} {what} in einer Minute; bitte in {seconds:seconds} noch einmal versuchen",
        ),
        "commands": ("commands", "Befehle"),
        "network-passwords": ("passwords from your network", "Passwörter aus diesem Netz"),
        "account-requests": ("requests of your account", "Anfragen von diesem Konto"),
        "network-requests": (
            "more than {most} requests without a valid token came from your address in a minute; try again in {seconds:seconds}, or send a token",
            "mehr als {most} Anfragen ohne gültiges Token kamen in einer Minute von dieser Adresse; bitte in {seconds:seconds} noch einmal versuchen oder ein Token mitschicken",
        ),
        "resets-fast": (
            "too many requests for a new password came from your network; try again in an hour",
            "zu viele Bitten um ein neues Passwort kamen aus diesem Netz; bitte in einer Stunde noch einmal versuchen",
        ),
        "text-form": (
            "character {place} of the text is {character}; a text has no control characters but newlines and tabs, and no halves of surrogate pairs",
            "Zeichen {place} des Textes ist {character}; ein Text hat außer Zeilenenden und Tabulatoren keine Steuerzeichen und keine halben Ersatzzeichenpaare",
        ),
        "note-form": (
            "character {place} of the note is {character}; a note is one line without control characters and halves of surrogate pairs",
            "Zeichen {place} der Notiz ist {character}; eine Notiz ist eine Zeile ohne Steuerzeichen und ohne halbe Ersatzzeichenpaare",
        ),
        "key-reused": (
            "the key was used for another challenge before; choose a new one",
            "der Schlüssel dieser Anfrage gehört schon zu einer anderen Herausforderung; bitte einen neuen wählen",
        ),
    },
    seconds=counted("second", "seconds", german=("Sekunde", "Sekunden")),
    hours=counted("hour", "hours", german=("Stunde", "Stunden")),
    minutes=counted("minute", "minutes", german=("Minute", "Minuten")),
)
