"""Commands about entries to tournaments: inviting players, making a code, and entering."""

from typing import Final

from domain.errors import Code, Refusal
from infra.languages.wording import N_
from services.app import tournament_invitations
from services.app import tournaments as use_cases
from services.app.names import robot_userids
from services.app.play import Course
from services.app.receipts import Answered
from services.language.answer import Answer
from services.language.arguments import read_tournament
from services.language.handlers.play import deliver
from services.language.invocation import Invocation

CODE_FLAG: Final = "--code"
"""Of the line that enters a tournament with a code."""


def invite(call: Invocation) -> Answer:
    """Invite players to a tournament that is for invited players alone."""
    named = call.line.all("userid")[1:]
    asked = tournament_invitations.invite(call.app, call.actor, number_in(call), named)
    said = N_("invited to tournament %(number)s: %(names)s")
    return deliver_to(call, asked, said, names=", ".join(one.lower() for one in named))


def code(call: Invocation) -> Answer:
    """Make a new code for entering a tournament."""
    number = number_in(call)
    made = tournament_invitations.make_code(call.app, call.account(), number)
    return Answer(
        call.words.gettext(
            "the code of tournament %(number)s is %(code)s from now on; it is shown only here",
            number=number,
            code=made,
        )
    )


def enter(call: Invocation) -> Answer:
    """Enter a tournament, in one of teams in that of a captain, or as its organiser enter a robot."""
    named = other_in(call)
    flag, _, code = call.line.get("flag").partition("=")
    if flag and (flag.lower() != CODE_FLAG or not code):
        said = call.words.gettext(
            "%(option)s can't be read; the form is %(form)s",
            option=repr(flag[:24]),
            form=f"{CODE_FLAG}=CODE",
        )
        raise Refusal(Code.BAD_OPTION, said)
    asked = use_cases.enter(call.app, call.actor, number_in(call), named, code)
    entered = N_("%(player)s has entered tournament %(number)s")
    own = N_("you have entered tournament %(number)s; your matches begin when it starts")
    is_robot = named.lower() in robot_userids(call.app)
    return deliver_to(call, asked, entered if is_robot else own, player=named.lower())


def number_in(call: Invocation) -> int:
    """Return the number of the tournament in a line."""
    return read_tournament(call.line.get("board"), call.words)


def other_in(call: Invocation) -> str:
    """Return the userid after the sender's; empty without one."""
    return next(iter(call.line.all("userid")[1:]), "")


def deliver_to(call: Invocation, asked: Course[Answered], said: str, **values: str) -> Answer:
    """Carry out a command of a tournament, and return the answer to its outcome."""

    def accepted(call: Invocation, decided: Answered) -> Answer:
        sentence = call.words.gettext(said, number=decided.board, **values)
        return Answer(sentence, decided=(decided,))

    return deliver(
        call,
        asked,
        accepted,
        N_(
            "tournament %(board)s: %(why)s; repeat the command with the key %(key)s to learn its outcome"
        ),
    )
