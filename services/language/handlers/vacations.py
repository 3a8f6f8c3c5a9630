"""Vacations: vacation."""

from infra.languages.wording import Wording
from services.app import vacations
from services.app.vacations import VacationStatus
from services.language.answer import Answer
from services.language.invocation import Invocation


def vacation(call: Invocation) -> Answer:
    """Begin a vacation, make it longer, end it early, or show how many days are left."""
    value = call.line.get("value").lower()
    if not value:
        return Answer(in_words(vacations.status(call.app, call.account()), call.words))
    return Answer(in_words(vacations.change(call.app, call.actor, value), call.words))


def in_words(status: VacationStatus, words: Wording) -> str:
    """Return whether the player is on vacation, and how many days are left, in words."""
    if status.until is None:
        said = [words.gettext("you are not on vacation")]
    else:
        until = words.stamp(status.until)
        said = [words.gettext("you are on vacation until %(moment)s", moment=until)]
    said.append(
        words.ngettext(
            "%(count)s day of vacation is left in %(year)s",
            "%(count)s days of vacation are left in %(year)s",
            status.left,
            year=status.year,
        )
    )
    if status.matches is not None:
        said.append(
            words.ngettext(
                "%(count)s match of yours was notified",
                "%(count)s matches of yours were notified",
                status.matches,
            )
        )
    return "; ".join(said)
