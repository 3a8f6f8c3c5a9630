"""Admission: whether an account may be made, what is shown to guests, and the operator's sign-up links."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import msgspec.inspect
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.admission import (
    MOST_DAYS,
    MOST_OF_NOTE,
    MOST_USES,
    Admission,
    SignupLink,
)
from infra.redis.recent import FRESH_SECONDS
from infra.sentences import SAY
from services.app.acts import TERMINAL, Act, record_act
from services.app.context import App
from services.app.roles import require_operator
from services.app.sentences import SAY as REFUSALS

ADMISSION_VALUES: Final = {
    one.encode_name: getattr(one.type, "values", ())
    for one in getattr(msgspec.inspect.type_info(Admission), "fields", ())
}
"""The values that each field of the admission may have, sorted."""


def admission_now(app: App) -> Admission:
    """Return the admission as it is now; sign-ups are `closed` where the settings of the server close them."""
    return _within_settings(app, app.admissions.read())


def recent_admission(app: App) -> Admission:
    """Return the admission as `admission_now` does, at most a second old."""
    return _within_settings(app, app.admissions.recent())


def _within_settings(app: App, stored: Admission) -> Admission:
    return replace(stored, signups="closed") if app.settings.signups == "off" else stored


def change_admission(app: App, changes: Mapping[str, str], *, by: AccountId = TERMINAL) -> None:
    """Change fields of the admission, and return when the change is in force in all processes."""
    app.ready()
    require_operator(app, by)
    for name, value in changes.items():
        if value not in ADMISSION_VALUES.get(name, ()):
            raise Refusal(Code.BAD_OPTION, REFUSALS("admission-value", name=name, value=value))
    if not changes:
        return
    app.admissions.change(dict(changes))
    said = ", ".join(f"{name} {value}" for name, value in changes.items())
    record_act(app, by, Act.ADMISSION_CHANGED, what=said)
    time.sleep(FRESH_SECONDS)  # what a process has read before is too old by then


def check_signups(app: App, link: str = "") -> None:
    """Refuse as `signups-closed` where nobody can make an account, or nobody with this sign-up link."""
    if not _need_link(app):
        return
    found = app.admissions.usable_link(link)
    if found is None or not found.signs_up:
        raise _no_link(link)


def _need_link(app: App) -> bool:
    """Return whether an account needs a sign-up link; `signups-closed` where nobody can make one."""
    signups = admission_now(app).signups
    if signups == "closed":
        raise Refusal(Code.SIGNUPS_CLOSED, SAY("signups-closed"))
    return signups == "link"


@contextmanager
def admitted(app: App, link: str) -> Iterator[SignupLink | None]:
    """Count a use of a sign-up link while an account is made with it, and yield it; `signups-closed`.

    Where none is needed, one that has a club counts all the same, and one that has ended does no harm.
    """
    is_needed = _need_link(app)
    known = app.admissions.usable_link(link) if link else None
    if not is_needed and not (known and known.club):
        yield None
        return
    with app.admissions.counted(link) as used:
        if is_needed and (used is None or not used.signs_up):
            raise _no_link(link)
        yield used


def _no_link(link: str) -> Refusal:
    said = SAY("link-over") if link else SAY("signups-by-link")
    return Refusal(Code.SIGNUPS_CLOSED, said)


def check_link_range(uses: int, days: int) -> None:
    """Refuse a link for too few or too many accounts or days: `bad-option`."""
    for name, number, most in (("uses", uses, MOST_USES), ("days", days, MOST_DAYS)):
        if not 1 <= number <= most:
            raise Refusal(Code.BAD_OPTION, SAY("link-range", name=name, most=most))


def make_signup_link(
    app: App, uses: int, days: int, note: str, *, by: AccountId = TERMINAL
) -> tuple[SignupLink, str]:
    """Make a sign-up link, and return it with its text, which is shown only once; `bad-option`, `too-many`."""
    require_operator(app, by)
    check_link_range(uses, days)
    if len(note) > MOST_OF_NOTE:
        raise Refusal(Code.TOO_LONG, SAY("link-note", most=MOST_OF_NOTE))
    app.ready()
    link, text = app.admissions.make_link(uses, days, note)
    record_act(app, by, Act.LINK_MADE, what=link.id)
    return link, text


def signup_links(app: App, *, by: AccountId = TERMINAL) -> list[tuple[SignupLink, int]]:
    """Return all sign-up links with how often each was used, the oldest first; `not-an-operator`."""
    require_operator(app, by)
    return app.admissions.links()


def revoke_signup_link(app: App, id_: str, *, by: AccountId = TERMINAL) -> None:
    """End a sign-up link at once; `not-found` if there is none of this id."""
    app.ready()
    require_operator(app, by)
    if not app.admissions.revoke_link(id_):
        raise Refusal(Code.NOT_FOUND, SAY("no-signup-link", id=id_))
    record_act(app, by, Act.LINK_REVOKED, what=id_)


def members_only() -> Refusal:
    """Return the refusal of what somebody without an account may not see: `unauthorized`."""
    return Refusal(Code.UNAUTHORIZED, SAY("members-only"))
