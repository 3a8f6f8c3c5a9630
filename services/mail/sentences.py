"""The sentences of mails. Those that say how to reply name commands, which are the same in every language."""

from typing import Final

from domain.sentences import Sentences

SAY: Final = Sentences(
    "mail",
    {
        # subjects
        "subject": ("{what}: {game}, match {board}", "{what}: {game}, Partie {board}"),
        "your-move": ("Your move", "Dein Zug"),
        "move-against": ("Your move against {players}", "Dein Zug gegen {players}"),
        "time-against": (
            "Your time is running out against {players}",
            "Deine Zeit läuft ab gegen {players}",
        ),
        "challenges-you": ("{players} challenges you", "{players} fordert dich heraus"),
        "over-against": ("Finished against {players}", "Zu Ende gegen {players}"),
        "you-and": ("You and {players}", "Du und {players}"),
        "case": (
            "matchpost: a case waits in match {board}",
            "matchpost: in Partie {board} wartet ein Fall",
        ),
        "digest": (
            "matchpost: what happened in your matches",
            "matchpost: Neues aus deinen Partien",
        ),
        "wrote-you": (
            "matchpost: {sender} wrote to you",
            "matchpost: {sender} hat dir geschrieben",
        ),
        "wrote-all": (
            "matchpost: {sender} wrote to everybody",
            "matchpost: {sender} hat an alle geschrieben",
        ),
        # what happened
        "reminder": (
            "{place}: it is your turn, and your time is running out",
            "{place}: du bist am Zug, und deine Zeit läuft ab",
        ),
        "before": ("Before that:", "Davor:"),
        "more-matches": ("... and {count} more matches", "... und {count} weitere Partien"),
        "since": ("since the last e-mail:", "seit der letzten Mail:"),
        # what players and arbiters write
        "says": ("{name} says:", "{name} sagt:"),
        "earlier-lines": (
            "... and {count} earlier lines; to see them, reply with: chat",
            "... und {count} frühere Zeilen; du siehst sie mit der Antwort: chat",
        ),
        "writes-you": ("{sender} writes to you:", "{sender} schreibt dir:"),
        "writes-all": ("{sender} writes to everybody:", "{sender} schreibt an alle:"),
        "to-answer": ("To answer, reply with:", "Antworte mit:"),
        "your-text": ("YOUR TEXT", "DEIN TEXT"),
        "sent": (
            "{sender} has sent you a message; to read it, reply with:",
            "{sender} hat dir eine Nachricht geschickt; du liest sie mit der Antwort:",
        ),
        "claim-of": ("the claim of {name}:", "Einspruch von {name}:"),
        "reasons-of": ("the reasons of {name}:", "Begründung von {name}:"),
        "appeal-of": ("the appeal of {name}:", "Berufung von {name}:"),
        "erased": ("(the text was erased)", "(der Text wurde gelöscht)"),
        # how to reply
        "write-move-such-as": (
            "To play, write your move, such as {move}",
            "Zum Ziehen schreib deinen Zug, etwa {move}",
        ),
        "write-move": ("To play, write your move", "Zum Ziehen schreib deinen Zug"),
        "write-accept": ("To play, write accept", "Zum Mitspielen schreib accept"),
        "write-accept-or-move": (
            "To play, write accept, or your move at once, such as {move}",
            "Zum Mitspielen schreib accept, oder gleich deinen Zug, etwa {move}",
        ),
        "write-reveal": (
            (
                "To play, open the match with the browser or program in which you accepted it: your text "
                "for the draw is stored there, and is revealed automatically. Or write reveal and the text"
            ),
            (
                "Zum Mitspielen öffne die Partie in dem Browser oder Programm, in dem du sie angenommen "
                "hast: Dort liegt dein Text für die Auslosung und wird von selbst gezeigt. Oder schreib "
                "reveal und den Text"
            ),
        ),
        "write-answer": (
            "{offer}: write accept or reject",
            "{offer}. Schreib accept oder reject",
        ),
        "in-reply": (
            "{asked}, in the first line of a reply",
            "{asked}, in der ersten Zeile einer Antwort",
        ),
        "in-mail-to": ("{asked}, in an e-mail to", "{asked}, in einer Mail an"),
        "also": ("You can also write: {commands}", "Du kannst auch schreiben: {commands}"),
        "on-the-web": ("On the web: {link}", "Im Netz: {link}"),
        "open-match": ("Open the match", "Partie öffnen"),
        "board-as-text": (
            "The board; as text it is in the plain part of this e-mail",
            "Das Brett; als Text steht es im reinen Textteil dieser Mail",
        ),
        "only-if-refused": (
            "If it can't be played, you get an answer at once; if it is, the next e-mail of the match shows it",
            "Geht er nicht, bekommst du gleich eine Antwort; sonst zeigt ihn die nächste Mail der Partie",
        ),
        "nothing": ("There is nothing for you to do now", "Du hast jetzt nichts zu tun"),
        "to-chat": (
            "To chat with the other players, reply with: chat TEXT",
            "Mit den anderen chattest du mit der Antwort: chat TEXT",
        ),
        "to-rematch": (
            "To play again with the sides exchanged, reply with: rematch",
            "Noch eine Partie, mit getauschten Seiten, bekommst du mit der Antwort: rematch",
        ),
        "to-appeal": (
            "To object to the ruling, once and within 14 days, reply with: appeal TEXT",
            "Berufung gegen die Entscheidung legst du, einmal und binnen 14 Tagen, ein mit der Antwort: appeal TEXT",
        ),
        "to-see-case": ("To see all of it, reply with:", "Alles dazu siehst du mit der Antwort:"),
        "to-rule": (
            "To rule, reply with one of these, with your reasons:",
            "Du entscheidest mit einer dieser Antworten und deiner Begründung:",
        ),
        # below the text
        "keep-secret": (
            "{name}, keep the address you reply to secret: anybody who knows it can play for you",
            "{name}, halte die Adresse geheim, an die du antwortest: Wer sie kennt, kann für dich ziehen",
        ),
        "to-get-less": (
            "To get one e-mail a day or none, reply with",
            "Nur eine Mail am Tag oder gar keine bekommst du mit der Antwort",
        ),
        "why-daily": (
            "You get e-mail once a day. To change that, reply with",
            "Du bekommst einmal am Tag Mail. Das änderst du mit der Antwort",
        ),
        "why-message": (
            "You get e-mail when somebody writes to you. To change that, reply with",
            "Du bekommst Mail, wenn dir jemand schreibt. Das änderst du mit der Antwort",
        ),
        "why-case": (
            "You get e-mail when a case waits for an arbiter. To change that, reply with",
            "Du bekommst Mail, wenn ein Fall auf einen Schiedsrichter wartet. Das änderst du mit der Antwort",
        ),
        # answers
        "not-by-reply": (
            (
                "a reply to an e-mail about a match can't change your account; write "
                "`set {name} password notify daily|none` with your password, or choose it on your account's page"
            ),
            (
                "mit der Antwort auf eine Mail zu einer Partie lässt sich dein Konto nicht ändern; schreib "
                "`set {name} password notify daily|none` mit deinem Passwort, oder wähle es auf deiner Kontoseite"
            ),
        ),
        "outdated-seat": (
            (
                "nothing was carried out, because this match has a new address for your replies since you "
                "changed your password or a mail address, or logged out everywhere; reply to this e-mail instead"
            ),
            (
                "nichts wurde ausgeführt, denn für diese Partie gilt eine neue Adresse, seit du dein Passwort "
                "oder eine Mailadresse geändert oder dich überall abgemeldet hast; antworte stattdessen auf diese Mail"
            ),
        ),
    },
)
