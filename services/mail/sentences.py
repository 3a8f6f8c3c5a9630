"""The sentences of mails. Those that say how to reply name commands, which are the same in every language."""

from typing import Final

from domain.sentences import Sentences

SAY: Final = Sentences(
    "mail",
    {
        # subjects
        "subject": "{what}: {game}, match {board}",
        "your-move": "Your move",
        "move-against": "Your move against {players}",
        "time-against": "Your time is running out against {players}",
        "challenges-you": "{players} challenges you",
        "over-against": "Finished against {players}",
        "you-and": "You and {players}",
        "case": "{site}: a case is waiting in match {board}",
        "digest": "{site}: what happened in your matches",
        "wrote-you": "{site}: {sender} wrote to you",
        "wrote-all": "{site}: {sender} wrote to everybody",
        # what happened
        "reminder": "{place}: it is your turn, and your time is running out",
        "before": "Before that:",
        "more-matches": "... and {count} more matches",
        "since": "since the last e-mail:",
        # what players and arbiters write
        "says": "{name} says:",
        "earlier-lines": "... and {count} earlier lines; to see them, reply with: chat",
        "writes-you": "{sender} writes to you:",
        "writes-all": "{sender} writes to everybody:",
        "to-answer": "To answer, reply with:",
        "your-text": "YOUR TEXT",
        "sent": "{sender} has sent you a message; to read it, reply with:",
        "claim-of": "{name}'s claim:",
        "reasons-of": "{name}'s reasons:",
        "appeal-of": "{name}'s appeal:",
        "erased": "(the text was erased)",
        # how to reply
        "write-move-such-as": "To play, write your move, such as {move}",
        "write-move": "To play, write your move",
        "write-accept": "To play, write accept",
        "write-accept-or-move": "To play, write accept, or make your move right away, such as {move}",
        "write-reveal": (
            "To play, open the match in the browser or program in which you accepted it: your "
            "text for the deal is stored there and will be revealed automatically. Or write "
            "reveal and the text"
        ),
        "write-answer": "{offer}: write accept or reject",
        "in-reply": "{asked}, in the first line of a reply",
        "in-mail-to": "{asked}, in an e-mail to",
        "also": "You can also write: {commands}",
        "on-the-web": "On the web: {link}",
        "open-match": "Open the match",
        "board-as-text": "The board; as text it is in the plain part of this e-mail",
        "only-if-refused": (
            "If the move isn't legal, you'll get an answer at once; otherwise, the next e-mail "
            "about the match will show it"
        ),
        "nothing": "There is nothing for you to do right now",
        "to-chat": "To chat with the other players, reply with: chat TEXT",
        "to-rematch": "To play again with the sides exchanged, reply with: rematch",
        "to-appeal": "To appeal against the ruling (once, within 14 days), reply with: appeal TEXT",
        "to-see-case": "To see the whole case, reply with:",
        "to-see-tournament": "To see the tournament, reply with:",
        "to-rule": "To rule, reply with one of these, with your reasons:",
        # below the text
        "keep-secret": "{name}, keep the address you reply to secret: anyone who knows it can play for you",
        "to-get-less": "To get one e-mail a day, or none, reply with",
        "why-daily": "You get e-mail once a day. To change that, reply with",
        "why-message": "You get e-mail when somebody writes to you. To change that, reply with",
        "why-case": "You get e-mail when a case is waiting for an arbiter. To change that, reply with",
        # answers
        "not-by-reply": (
            "a reply to an e-mail about a match can't change your account; write "
            "`set {name} password notify daily|none` with your password, or choose it on your account's page"
        ),
        "no-command": (
            "there is no command in the e-mail; write one as the subject, or several at the top "
            "of the text, one per line; `help` lists them"
        ),
        "not-confirmed": (
            "the address isn't verified yet; if you entered it at this server, reply again with "
            "the word yes on the first line"
        ),
        "confirmed": "{address} is verified; e-mails about your matches will go there",
        "no-operator": (
            "nobody reads mail at this address, because this server's operator hasn't named one; "
            "try the addresses on its web site or at its domain's registrar"
        ),
        "no-passwords": (
            "this server doesn't accept passwords by e-mail; reply to an e-mail about a match "
            "with just the move, or use the terminal or the web site"
        ),
        "not-needed": "you don't need a userid or password here; just write the move",
        "no-move": (
            "this line is neither a move nor a command; `help {game}` explains how to write moves, and "
            "`chat TEXT` writes to the other players"
        ),
        "too-many": (
            "the e-mail begins with {count} lines, and each counts as a command; at most {most} are "
            "allowed, so none was carried out"
        ),
        "unreadable": "the e-mail can't be read: {problem}",
        "done": "{site}: done",
        "refused-all": "{site}: not accepted",
        "refused-some": "{site}: not all accepted",
        "line": "(line {number})",
        # the text below the last answer within the limit, and below a short one
        "last-answer": (
            "This is the last of {most} answers that we send to an address within an hour. Until the\n"
            "hour is over, your commands are carried out without an answer"
        ),
        "last-answer-but": (
            "This is the last of {most} answers that we send to an address within an hour. Until the\n"
            "hour is over, your commands are carried out without an answer;\n"
            "a command that is refused is still answered"
        ),
        "short-answer": (
            "This answer is short, because nothing shows that the e-mail came from you. To get "
            "full\nanswers, sign up with your e-mail address and reply to the e-mail with the code"
        ),
        "outdated-seat": (
            "nothing was done: this match has had a new address for your replies since you "
            "changed your password or an e-mail address, or logged out everywhere; reply to this "
            "e-mail instead"
        ),
    },
)
