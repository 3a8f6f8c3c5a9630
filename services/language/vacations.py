"""Vacations: vacation."""

from domain.errors import Code, Refusal
from services.app import vacations
from services.app.vacations import VacationStatus
from services.language.answer import Answer
from services.language.invocation import Invocation
from services.language.times import instant

_DIGITS = 3


def vacation(call: Invocation) -> Answer:
    """Begin a vacation, make it longer, end it early, or say how many days there are."""
    value = call.line.get("value").lower()
    if not value:
        return Answer(in_words(vacations.status(call.app, call.account())))
    if value == "back":
        return _changed(vacations.end(call.app, call.actor))
    return _changed(vacations.take(call.app, call.actor, read_days(value)))


def read_days(text: str) -> int:
    """Return a number of days; `bad-option` for text that is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise Refusal(Code.BAD_OPTION, f"{text[:24]!r} is no number of days; write one, or `back`")
    return int(text)


def in_words(status: VacationStatus) -> str:
    """Say whether the player is on vacation, and how many days are left."""
    where = (
        f"you are on vacation until {instant(status.until)}"
        if status.until is not None
        else "you are not on vacation"
    )
    return f"{where}; {status.left} days of vacation are left in {status.year}"


def _changed(status: VacationStatus) -> Answer:
    count = f"{status.matches} match{'es' * (status.matches != 1)}"
    return Answer(f"{in_words(status)}; {count} of yours with a clock heard of it")
