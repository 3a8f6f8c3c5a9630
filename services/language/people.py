"""Commands about accounts: signup and change password."""

from services.language.answer import Answer
from services.language.desk import Call
from services.language.reading import misused


def signup(call: Call) -> Answer:
    """Make an account."""
    if len(call.words) != 2:  # noqa: PLR2004 - userid, password
        raise misused(call)
    name, password = call.words
    call.desk.ready()
    account = call.desk.accounts.signup(name, password)
    (stored,) = call.desk.accounts.name_of([account])
    return Answer(f"welcome, {stored}; `help` lists what you can do")


def change_password(call: Call) -> Answer:
    """Give an account another password."""
    if len(call.words) != 3:  # noqa: PLR2004 - userid, old, new
        raise misused(call)
    name, old, new = call.words
    call.desk.ready()
    account = call.desk.accounts.change_password(name, old, new)
    (stored,) = call.desk.accounts.name_of([account])
    return Answer(f"the password of {stored} is changed")
