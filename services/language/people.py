"""Commands about accounts: signup, passwords, addresses, preferences, and leaving."""

from typing import Final

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.accounts import Account, read_address
from services.app import contact
from services.language.answer import Answer
from services.language.invocation import Invocation

LANGUAGES: Final = {"en": "English", "de": "German"}
"""Languages there is help in."""

NOTICES: Final = {
    "move": "a mail at once whenever something happens",
    "daily": "one mail a day, and a reminder when your time runs out",
    "none": "no mail, not even reminders",
}
"""When mail is sent, and how that is said."""

CHALLENGES: Final = {
    contact.ANYONE: "of anybody",
    contact.KNOWN: "only of players they have played with, written to or challenged",
    contact.NONE: "of nobody",
}
"""Whose challenges by name are taken, and how that is said."""


_CODES: Final = (
    "; where the server sends mail, a code comes to each new address: answer it to get mail there"
)


def read_language(text: str) -> str:
    """Return a language's code, empty for English; `bad-option` for one there is no help in."""
    code = _read_choice(text, LANGUAGES, "language of help")
    return "" if code == "en" else code


def read_notify(text: str) -> str:
    """Return a time for mail; `bad-option` for what is none."""
    return _read_choice(text, NOTICES, "time for mail")


def read_challenges(text: str) -> str:
    """Return whose challenges by name are taken; `bad-option` for what can't be chosen."""
    return _read_choice(text, CHALLENGES, "choice of challenges")


def _read_choice(text: str, known: dict[str, str], what: str) -> str:
    if text.lower() not in known:
        choices = " or ".join(f"{code} ({meaning})" for code, meaning in known.items())
        raise Refusal(Code.BAD_OPTION, f"{text[:24]!r} is no {what}; choose {choices}")
    return text.lower()


def signup(call: Invocation) -> Answer:
    """Make an account."""
    _check_password(call)
    call.app.ready()
    addresses = call.line.all("address")
    account = call.app.accounts.signup(*call.sender, addresses)
    welcome = f"welcome, {_name(call, account)}; `help` lists what you can do"
    return Answer(welcome + (_CODES if addresses else ""))


def _check_password(call: Invocation) -> None:
    """Refuse a mail address in the password's place: a word before it was forgotten."""
    try:
        read_address(call.line.get("password"))
    except Refusal:
        return
    raise Refusal(
        Code.BAD_PASSWORD,
        f"a mail address stands in the place of the password; the form is `{call.form}`",
    )


def change_password(call: Invocation) -> Answer:
    """Return an account another password, which ends all sessions and, where asked, all tokens."""
    _admit(call)
    new, end = call.line.get("new"), call.line.has("end_tokens")
    account = call.app.accounts.change_password(*call.sender, new, tokens=end)
    tokens = "and its tokens are ended" if end else "and its tokens stay good"
    return Answer(
        f"the password of {_name(call, account)} is changed; it is logged out everywhere, {tokens}"
    )


def add_addresses(call: Invocation) -> Answer:
    """Add mail addresses."""
    _admit(call)
    account = call.app.accounts.add_addresses(*call.sender, call.line.all("address"))
    return _addressed(call, account)


def change_addresses(call: Invocation) -> Answer:
    """Replace all mail addresses."""
    _admit(call)
    account = call.app.accounts.change_addresses(*call.sender, call.line.all("address"))
    return _addressed(call, account)


def _addressed(call: Invocation, account: AccountId) -> Answer:
    """Say how many addresses there are: an answer may be read by others than their owner."""
    count = len(call.profile(account).addresses)
    told = "no mail address" if not count else f"{count} mail address{'es' * (count > 1)}"
    return Answer(f"{_name(call, account)} has {told} now{_CODES if count else ''}")


def verify(call: Invocation) -> Answer:
    """Prove a mail address, by the code that was mailed there."""
    _admit(call)
    address = call.app.standing.prove_with_password(*call.sender, call.line.get("value"))
    return Answer(f"{address} is yours; mail goes there from now on")


def set_preference(call: Invocation) -> Answer:
    """Set what a player prefers everywhere: the language of help, when mail is sent, challenges."""
    _admit(call)
    if call.line.has("notify"):
        return _set_notify(call)
    if call.line.has("challenges"):
        return _set_challenges(call)
    chosen = read_language(call.line.get("value"))
    account = call.app.accounts.set_language(*call.sender, chosen)
    return Answer(f"{_name(call, account)} reads help in {LANGUAGES[chosen or 'en']} from now on")


def _set_notify(call: Invocation) -> Answer:
    when = read_notify(call.line.get("value"))
    account = call.app.accounts.change(
        *call.sender, lambda record: replace(record, notify=when, signed_off=False)
    )
    return Answer(f"from now on {_name(call, account)} gets {NOTICES[when]}")


def _set_challenges(call: Invocation) -> Answer:
    whose = read_challenges(call.line.get("value"))
    account = call.app.accounts.change(
        *call.sender, lambda record: replace(record, challenges=whose)
    )
    return Answer(
        f"{_name(call, account)} takes challenges by name {CHALLENGES[whose]} from now on"
    )


def set_for_game(call: Invocation) -> Answer:
    """Set how a game is drawn for a player, or what `set` without a game does."""
    if any(call.line.has(part) for part in ("language", "notify", "challenges")):
        return set_preference(call)
    _admit(call)
    display, known = call.line.get("value").lower(), call.rules.displays
    if display not in known:
        raise Refusal(
            Code.BAD_OPTION,
            f"{call.rules.key} has no display {display[:24]!r}; it is {' or '.join(known)}",
        )
    game = call.rules.key

    def chosen(record: Account) -> Account:
        others = (pair for pair in record.displays if pair[0] != game)
        return replace(record, displays=(*others, (game, display)))

    account = call.app.accounts.change(*call.sender, chosen)
    return Answer(f"{call.rules.title} is drawn {display} for {_name(call, account)} from now on")


def signoff(call: Invocation) -> Answer:
    """Stop all mail."""
    _admit(call)
    account = call.app.accounts.signoff(*call.sender)
    name = _name(call, account)
    return Answer(
        f"{name} gets no mail any more; `set {name} password notify move` starts it again, "
        f"`delete {name} password` erases the account"
    )


def delete(call: Invocation) -> Answer:
    """Erase an account and all personal data."""
    call.app.ready()
    call.app.accounts.delete(*call.sender, call.app.forget)
    return Answer(
        "the account and all that was personal in it are erased; matches go on under "
        "`a former player`, and are lost on time where they wait for a move of yours"
    )


def _admit(call: Invocation) -> None:
    """Let a command go on whose password is right, and that is not one too many in a minute."""
    call.app.ready()  # first: even a good password leaves a trace
    call.account()


def _name(call: Invocation, account: AccountId) -> str:
    (stored,) = call.app.accounts.name_of([account])
    return stored or "you"
