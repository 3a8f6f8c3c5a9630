"""Admission: whether an account may be made, what is shown to guests, and the operator's sign-up links."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.admission import (
    FRESH_SECONDS,
    MOST_DAYS,
    MOST_OF_NOTE,
    MOST_USES,
    Admission,
    SignupLink,
)
from infra.sentences import SAY
from services.app.acts import TERMINAL, Act, record_act
from services.app.context import App
from services.app.roles import require_operator


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
    app.admissions.change(dict(changes))
    said = ", ".join(f"{name} {value}" for name, value in changes.items())
    record_act(app, by, Act.ADMISSION_CHANGED, what=said)
    time.sleep(FRESH_SECONDS)  # what a process has read before is too old by then


def check_signups(app: App, link: str = "") -> None:
    """Refuse as `signups-closed` where nobody can make an account, or nobody with this sign-up link."""
    if _need_link(app) and not app.admissions.is_usable(link):
        raise _no_link(link)


def _need_link(app: App) -> bool:
    """Return whether an account needs a sign-up link; `signups-closed` where nobody can make one."""
    signups = admission_now(app).signups
    if signups == "closed":
        raise Refusal(Code.SIGNUPS_CLOSED, SAY("signups-closed"))
    return signups == "link"


@contextmanager
def admitted(app: App, link: str) -> Iterator[None]:
    """Count a use of a sign-up link, where one is needed, while an account is made; `signups-closed`."""
    if not _need_link(app):
        yield
        return
    used = app.admissions.use_link(link)
    if used is None:
        raise _no_link(link)
    try:
        yield
    except Refusal:
        app.admissions.give_back(used)
        raise


def _no_link(link: str) -> Refusal:
    said = SAY("link-over") if link else SAY("signups-by-link")
    return Refusal(Code.SIGNUPS_CLOSED, said)


def make_signup_link(
    app: App, uses: int, days: int, note: str, *, by: AccountId = TERMINAL
) -> tuple[SignupLink, str]:
    """Make a sign-up link, and return it with its text, which is shown only once; `bad-option`, `too-many`."""
    require_operator(app, by)
    for name, number, most in (("uses", uses, MOST_USES), ("days", days, MOST_DAYS)):
        if not 1 <= number <= most:
            raise Refusal(Code.BAD_OPTION, SAY("link-range", name=name, most=most))
    if len(note) > MOST_OF_NOTE:
        raise Refusal(Code.TOO_LONG, SAY("link-note", most=MOST_OF_NOTE))
    app.ready()
    link, text = app.admissions.make_link(uses, days, note)
    record_act(app, by, Act.LINK_MADE, what=link.id)
    return link, text


def signup_links(app: App) -> list[tuple[SignupLink, int]]:
    """Return all sign-up links with how often each was used, the oldest first."""
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
