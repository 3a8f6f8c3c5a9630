"""The sentences of refusals by the application: why a use case can't be carried out.

The sentences of the use cases: why one is refused.
"""

from collections.abc import Mapping
from typing import Final

from domain.sentences import Sentences

REFUSED: Final[Mapping[str, str]] = {
    # whom a player wants to meet; each follows the player's name
    "not-wanted": "{player} {why}",
    "no-challenges": "doesn't take challenges from you",
    "is-suspended": "is suspended and can't start matches",
    "kept-from-matches": "can't start or join matches at the moment",
    "none-by-name": "doesn't accept challenges by name; try an open one",
    "only-known": (
        "only accepts challenges by name from players they have played, written to or challenged"
    ),
    "robot-messages": "is a robot, and doesn't read messages",
    "no-messages": "doesn't take messages from you",
    "robot-chat": "is a robot, and doesn't read chat",
    "no-chat": "doesn't read your chat",
    "no-follows": "doesn't let you follow or watch",
    # all others
    "deleted": "the account has just been deleted",
    "no-session": "you have no session with this id",
    "no-token": "you have no token with this id",
    "days-form": "{text!r} isn't a number of days; write one, or `back`",
    "analysed-later": "match {board} can only be analysed once it is over",
    "analysed-elsewhere": "match {board} continues on another server, so it can't be analysed here",
    "block-self": "you can't block yourself",
    "follow-self": "you can't follow yourself",
    "no-message": "there is no such message; it may have been erased",
    "open-commitment": "a commitment isn't an option of an open challenge; send it separately",
    "no-chance": "nothing is left to chance here, so no entropy is needed",
    "no-board": "there is no match {board}",
    "no-ply-yet": "match {board} is at #{now}; there is no #{ply} yet",
    "log-away": (
        "the published log can't be read right now; try again in a minute; if that doesn't "
        "help, the server's log says why"
    ),
    "log-damaged": "the published log is damaged; the server's log says where",
    "moved-on": "the match kept changing in the meantime; try again",
    "lines-long": "all your lines together can have at most {most} moves",
    "line-long": "a line can have at most {most} moves",
    "match-over": "the match is over",
    "not-begun": "the match is waiting for all players to accept",
    "conditional-most": "{most} conditional moves are the limit; delete some first",
    "no-reply": "the line has no move of yours: write your opponent's move, then your reply",
    "no-pass": "there is no command for passing: the server passes for a player who can't move",
    "conditional-turn": "it is your turn now: play the first of these",
    "over-before-it": "move {number}: the match would be over before it",
    "later-ply": "after a move with a ply number every move needs one, such as m13-j7#6",
    "other-ply": "{move} would be played at #{at}, not at #{ply}",
    "arbiters-only": "only arbiters can do this; the server's operator appoints them",
    "which-sanction": "say which sanction",
    "report-self": "you can't report yourself",
    "no-report": "there is no report of this id",
    "report-decided": "somebody has decided on this report already",
    "own-report": "nobody decides on a report that is about them or that they made",
    "no-text-to-remove": "this report is about a player, so there is no text to remove",
    "sanction-reason": "give a reason, which the player will read",
    "sanction-days": "a sanction lasts up to {most} days, or has no end with 0",
    "no-sanction": "there are no sanctions against oneself or against operators",
    "no-sanction-here": "there is no sanction of this id",
    "appealed": "this was appealed, lifted or answered already",
    "appeal-empty": "write why you appeal",
    "own-appeal": "somebody else decides on this: it is yours",
    "may-not-write-until": "moderators have decided that you can't write to others until {day}; your account's page says why, and takes an appeal",
    "may-not-write": "moderators have decided that you can't write to others; your account's page says why, and takes an appeal",
    "may-not-start-until": "moderators have decided that you can't start or join matches until {day}; your account's page says why, and takes an appeal",
    "may-not-start": "moderators have decided that you can't start or join matches; your account's page says why, and takes an appeal",
    "told-warning": "this is a warning by the moderators: {why}",
    "told-no-chat-until": "until {day} you can't write to others: {why}",
    "told-no-chat": "you can't write to others any more: {why}",
    "told-no-matches-until": "until {day} you can't start or join matches; those you are playing go on: {why}",
    "told-no-matches": "you can't start or join matches any more; those you are playing go on: {why}",
    "told-locked-until": "your account is suspended until {day}: {why}",
    "told-locked": "your account is suspended: {why}",
    "told-removed": "a text of yours was removed: {why}",
    "told-decided": "your report was looked at and decided; thank you",
    "told-lifted": "a sanction against you was lifted",
    "told-stands": "your appeal was looked at, and the sanction stands",
    "choice": "{text!r} isn't one of {choices}",
    "clubs-by-operators": "on this server only operators found clubs; ask one of them",
    "no-club": "there is no club {path!r} here, or only its members see it",
    "no-tournament": "there is no tournament {number}, or only members of its club see it",
    "tournaments": "you can have at most {most} tournaments at a time; finish or cancel one first",
    "many-flags": "this tournament is for players who have lost at most {most} % of their finished matches on time; it was {timed} of {count}",
    "code-needed": "this tournament can be entered only with its code, which its organiser has",
    "wrong-code": "this isn't the code of this tournament; its organiser has it",
    "no-code": "players enter this tournament without a code",
    "code-too-late": "the tournament is over",
    "robots-uninvited": "robots are not invited; the organiser enters them",
    "few-finished": "this tournament is for players who have finished at least {least} matches; so far {count} count",
    "no-team-yet": "no team of this tournament names you; ask a captain to, or make a team of your own",
    "which-team": "several teams name you; say whose you enter in",
    "tournament-of-club": "this tournament is for members of its club",
    "tournament-organiser": "only the organiser of the tournament can do this",
    "tournament-directors": "only the organiser, the directors and the arbiters can do this",
    "not-of-tournament": "match {board} isn't one of this tournament",
    "tournament-list": "a list is one of open, running, ended and own",
    "no-trf": "only a Swiss tournament has a report in TRF16, from its first round on",
    "three-places": "give the points of three places, such as 2, 1 and 0",
    "enter-yourself": "players enter tournaments themselves; an organiser can enter robots",
    "club-by-link": "{club} is joined with a link; ask one of its organisers for one",
    "club-link-over": "this link doesn't lead to a club any more; ask for another",
    "no-club-request": "{name} isn't asking to join",
    "no-club-member": "{name} is no member of {club}",
    "club-pairs-nobody": "{club} doesn't let its organisers pair members; its owners can change that",
    "told-pairs": "organisers of {club} may pair its members with each other now, in matches that begin at once; leave the club if you don't want that",
    "batch-of": "a batch pairs the members of a club or the entrants of a tournament; name one of them",
    "batch-key": "this key is of another batch; give each batch its own",
    "batch-terms": "the matches have the game, options and time control of tournament {number}; leave them out",
    "batch-tournament": "tournament {number} doesn't take players and isn't running",
    "not-entrant": "{name} isn't among the players of tournament {number}",
    "no-batch": "you have no batch of this key",
    "no-club-link": "the club has no link of this id",
    "club-links": "a club can have {most} links at a time; revoke one first",
    "club-closed": "{club} is closed",
    "owners-only": "only owners of {club} can do this",
    "organisers-only": "only organisers and owners of {club} can do this",
    "for-club-members": "this challenge is for the members of a club, and you aren't one",
    "no-challenge-here": "there is no challenge {challenge}; it may have expired",
    "moderators-only": "only moderators can do this; an operator appoints them",
    "operators-only": "only operators can do this",
    "last-operator": "{name} is the only operator; appoint another first",
    "first-link-over": (
        "this link is no longer valid: it was used, the server has been started again, or there is an operator by now"
    ),
    "no-role": "there is no role {role!r}",
    "suspend-self": "you can't suspend yourself; another operator can",
    "admission-value": "{value!r} isn't a value of the admission's rule {name}",
    "too-many-names": "at most {most} accounts can be made at once",
    "no-backups": "backups are not set up here; MATCHPOST_BACKUP names a place for them",
    "backups-away": "the place of the backups can't be read right now; `matchpost doctor` says more",
    "real-name-long": "a real name can have at most {most} characters",
    "real-name-form": "a real name is a line of printable characters",
    "act-reason": "a reason can have at most {most} characters",
    "cases-readers": "only the players of a match and arbiters can read its cases",
    "no-case-waits": (
        "no case of this match is waiting for a ruling; to rule anyway, say that it is of "
        "your own motion"
    ),
    "no-ruling": "no arbiter has ruled in this match",
    "claimants": "only the players of a match and arbiters can make a claim",
    "own-match": "you play in this match; another arbiter rules on it",
    "no-draft": "you have submitted nothing in match {board}",
    "draft-ply": "the match is at #{now}, not at #{ply}",
    "draft-line": "the moves up to #{ply} have changed since you submitted it; look again",
    "no-puzzle": "{game} isn't a puzzle: only games played alone have scores",
    "puzzle": "{game} is a puzzle and has scores instead; ask for those",
    "recipients": "a message goes to 1 to {most} players, not {count}",
    "to-all": "only arbiters can write to everybody; try `message`",
    "no-robots": "{robot} can't play here at the moment, because this server isn't running robots",
    "robot-matches": (
        "you have {most} unfinished matches with robots, and that is the limit; finish one, "
        "or resign"
    ),
    "slow-matches": (
        "you have {most} unfinished matches with {robot}, and that is the limit; finish one, "
        "or resign"
    ),
    "not-with": "{player} doesn't want to play with {other}",
    "not-opener": "challenge {challenge} is not yours: only the player who opened it can ask a robot to join",
    "no-user": "there is no user {name!r}",
    "against-self": "a player can't play against themselves; name two",
    "two-at-most": "name at most two players",
    "password-again": "enter your password again: it has been more than ten minutes",
    "rematch-puzzle": "match {board} is a puzzle: start {game} again in place of a rematch",
    "rematch-early": "match {board} isn't over; you can ask for a rematch after that",
    "rematch-gone": "a player of this match has deleted their account; challenge somebody else",
    "time-form": "write time as SIDE=3d or SIDE=12h, and a comma between two of them",
    "dismiss-none": "there is no claim to dismiss",
    "back-ply": "`back` needs the ply to go back to, and nothing else takes one",
    "result-sides": "`result` needs the sides that win, and nothing else takes any",
    "time-sides": "`time` needs sides; apart from it, only `back` can grant time",
    "not-named": "you aren't one of the players; name yourself as one",
    "starts": (
        "{most} of your challenges are waiting for an answer, and that is the limit; wait "
        "until one is accepted or declined. A challenge you withdraw before that still "
        "counts for a day"
    ),
    "no-hand-in": "{game} isn't a puzzle, so there is nothing to submit",
    "no-solution": "a solution needs at least one move; nothing was submitted",
    "long-solution": "a solution has at most {most} moves",
    "puzzle-over": "the puzzle would be over before {text!r}",
    "not-on-disks": "it hasn't been saved safely yet; try again in a moment",
    "no-log": "this server doesn't publish a log",
    "vacation-past": "a vacation has to end on a later day",
    "reset-empty": "enter your name or your e-mail address",
    "ended-early": "match {board} ended before it had a position",
    "no-position": "match {board} has no position yet",
    "no-case": "match {board} has no case",
    "no-such-case": "match {board} has no case {number}",
    "no-picture": "there is no such picture",
    "long-line": "a line of moves has at most {most} characters",
    "no-display-setting": "there is no such setting of the display",
    "empty-form": "the form doesn't say what to do",
    "not-a-puzzle": "{game} isn't a puzzle",
    "vacation-day": "choose the last day of your vacation",
    "token-days": "enter a number of days, or leave it empty for a token that works until it is revoked",
    "which-robot": "the form does not say which robot",
    "not-for-count": "{game} can't be played by {count} players",
    "too-many-between": (
        "{player} has {most} unanswered challenges from you, and that is the limit; wait "
        "until one is accepted or declined. A challenge you withdraw before that still "
        "counts for a day"
    ),
    "damaged": (
        "match {board} can't be read; the server's operator can see why with `matchpost "
        "verify {board}`"
    ),
    "no-mail-here": "this server doesn't send mail; ask its operator for a new password",
    "link-used": "this link has already been used, or is more than an hour old; ask for another",
    "not-published": "it is recorded, and will be in the published log within a minute; ask again then",
    "not-in-log": "the log doesn't have this command where its outcome says it is",
    "events-of-match": "match {board} has {count} events, not {seq}",
    "ruling-word": "{word!r} isn't a ruling; write one of {known}",
    "no-side": "{word!r} is neither a side nor a player of this match; the sides are {known}",
    "nobodys-draft": "it is nobody's turn; submit a move when it is yours",
    "others-draft": "it is {side}'s turn ({player}); submit a move when it is your turn",
    "whole-number": "write a whole number",
    "no-such-list": "there is no list {word!r}; the lists are {known}",
    "no-better-line": "the analysis of match {board} has no better line at move {move}",
    "no-file": "there is no such file",
}


SAY: Final = Sentences(
    "app",
    {
        # answers of pages
        "bad-address": "the address of this page has a value that can't be used",
        "pending": "your request has been received but not decided yet; reload the page in a moment",
        # notifications in browsers
        "push-off": "this server doesn't send notifications",
        "push-service": "this browser gets its notifications from a service that this server does not know",
        "push-keys": "the keys of this browser can't be used; allow notifications once more",
        **REFUSED,
        # the deal, and the texts for it
        "commitment-form": "a commitment is the SHA-256 of a text: 64 hex digits",
        "server-deals": "the server deals in this match; write accept without --commitment",
        "draws-nothing": "nothing is dealt in this match; just write accept",
        "draw-over": "the match is over, so it no longer needs a text",
        "draw-late": "the match is not waiting for texts",
        "draw-wrong": "no player of the match has committed to this text",
        "draw-early": "not all players have committed yet; reveal it when they have",
        "draw-revealed": "this text has already been revealed",
        # preferences
        "no-language": "there is no language {word!r}; the languages are {known}",
        "no-mail-choice": (
            "{word!r} isn't a choice for mail: it is move (at once), daily (one mail a day, and reminders) or none"
        ),
        "no-challenge-choice": (
            "{word!r} doesn't say whose challenges you accept: anyone, known (players you have met) or none"
        ),
        "no-receipt-choice": "{word!r} isn't a choice for receipts: it is on or off",
        "no-display": "{game} has no display {word!r}; the displays are {known}",
        "account-gone": "the account has just been deleted",
        "key-reused": "this key was used before, for a text that has been erased",
        "over-before": "move {number}: the match would be over: {detail}",
        "bad-move": "move {number}: {problem}",
    },
)
