"""The vacation of a player."""

from typing import Annotated, Final

import msgspec
from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from domain.errors import Code
from infra.people.tokens import Scope
from services.app import vacations
from services.app.vacations import VacationStatus
from services.http.api.auth import ACCOUNT_SCOPE, READ_SCOPE, Caller
from services.http.api.bodies import RequestBody
from services.http.api.declared_errors import declare_errors
from services.http.context import ApiContext

_TAGS: Final = ["accounts"]


class VacationDays(RequestBody, frozen=True):
    """A vacation to take."""

    days: Annotated[int, msgspec.Meta(ge=1, le=60, examples=[14])]
    """Whole days of 24 hours, from now on, or from the end of your present vacation."""


class OwnVacation(msgspec.Struct, frozen=True):
    """Your vacation."""

    until: int | None
    """End of the vacation, in ms since 1970; null if you are not on vacation."""
    days_left: int
    """Days that you can still take in `year`."""
    year: int
    """The calendar year."""
    matches: int | None
    """The number of matches that get the change; null if nothing was changed."""


@get(
    "/api/account/vacation",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=_TAGS,
    opt=declare_errors(),
    summary="Your vacation",
)
def show_vacation(
    context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> OwnVacation:
    """Return whether you are on vacation, and how many days you have left."""
    return _shown(vacations.status(context.app, caller.require(Scope.READ)))


@post(
    "/api/account/vacation",
    status_code=200,
    sync_to_thread=True,
    security=ACCOUNT_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.BAD_OPTION, Code.BUSY),
    summary="Take a vacation",
)
def take_vacation(
    data: JSONBody[VacationDays],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
) -> OwnVacation:
    """Stop your clocks in all matches for whole days; a repeated request takes the days again."""
    return _shown(vacations.take(context.app, caller.actor(Scope.ACCOUNT), data.days))


@delete(
    "/api/account/vacation",
    status_code=200,
    sync_to_thread=True,
    security=ACCOUNT_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.TOO_LATE, Code.BUSY),
    summary="End the vacation",
)
def end_vacation(
    context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> OwnVacation:
    """End the vacation after its current day; you can take the days that have not begun again."""
    return _shown(vacations.end(context.app, caller.actor(Scope.ACCOUNT)))


def _shown(status: VacationStatus) -> OwnVacation:
    return OwnVacation(status.until, status.left, status.year, status.matches)
