"""Vacations: vacation."""

from services.app import vacations
from services.app.vacations import VacationStatus
from services.language.answer import Answer
from services.language.invocation import Invocation
from services.language.render.dates import instant


def vacation(call: Invocation) -> Answer:
    """Begin a vacation, make it longer, end it early, or show how many days are left."""
    value = call.line.get("value").lower()
    if not value:
        return Answer(in_words(vacations.status(call.app, call.account())))
    return Answer(in_words(vacations.change(call.app, call.actor, value)))


def in_words(status: VacationStatus) -> str:
    """Return whether the player is on vacation, and how many days are left, in words."""
    where = (
        f"you are on vacation until {instant(status.until)}"
        if status.until is not None
        else "you are not on vacation"
    )
    notified = ""
    if status.matches is not None:
        count = f"{status.matches} match{'es' * (status.matches != 1)}"
        notified = f"; {count} of yours {'were' if status.matches != 1 else 'was'} notified"
    return f"{where}; {status.left} days of vacation are left in {status.year}{notified}"
