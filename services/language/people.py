"""Commands about accounts: signup, change password, and what a player prefers."""

from typing import Final

from domain.errors import Code, Refusal
from services.language.answer import Answer
from services.language.desk import Call
from services.language.reading import misused

LANGUAGES: Final = {"en": "English", "de": "German"}
"""Languages there is help in."""


def read_language(text: str) -> str:
    """Give a language's code, empty for English; `bad-option` for one there is no help in."""
    code = text.lower()
    if code not in LANGUAGES:
        known = " or ".join(f"{code} ({name})" for code, name in LANGUAGES.items())
        raise Refusal(Code.BAD_OPTION, f"there is no help in {text[:24]!r}; choose {known}")
    return "" if code == "en" else code


def set_preference(call: Call) -> Answer:
    """Set what a player prefers: the language of help."""
    if len(call.words) != 4 or call.words[2].lower() != "language":  # noqa: PLR2004
        raise misused(call)
    name, password, _, language = call.words
    chosen = read_language(language)
    call.desk.ready()
    account = call.desk.accounts.set_language(name, password, chosen)
    (stored,) = call.desk.accounts.name_of([account])
    return Answer(f"{stored} reads help in {LANGUAGES[chosen or 'en']} from now on")


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
