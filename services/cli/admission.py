"""`matchpost admission`: the operator sets who may make an account, and what people without one see."""

from typing import Final

from infra.people.admission import Admission
from infra.settings.settings import Settings
from services.app.admission import admission_now, change_admission
from services.app.context import App
from services.app.error_codes import EXIT_OK

_SIGNUPS: Final = {
    "open": "anybody may sign up",
    "link": "people sign up with a sign-up link; `matchpost signup-link make` makes one",
    "closed": "nobody may sign up; `matchpost do signup` makes accounts",
}
_TO_EVERYBODY: Final = "matches, players, lists and the log are shown to everybody"
_TO_MEMBERS: Final = {
    "on": "matches, players, lists and the log are shown to members alone; anybody may try a board",
    "off": "matches, players, lists, the log and boards to try are shown to members alone",
}
"""By whether guests may try a board."""


def run(
    sign_up: str | None,
    visible_to: str | None,
    trial: str | None,
    clubs: str | None,
    settings: Settings,
) -> int:
    """Change what is given, print how it stands, and return the exit code."""
    asked = {"signups": sign_up, "visible_to": visible_to, "trial": trial, "clubs": clubs}
    changes = {name: value for name, value in asked.items() if value is not None}
    with App(settings) as parts:
        if changes:
            change_admission(parts, changes)
        now, stored = admission_now(parts), parts.admissions.read()
    _show(now, is_closed_by_setting=now.signups != stored.signups)
    return EXIT_OK


def _show(now: Admission, *, is_closed_by_setting: bool) -> None:
    """Print the admission as sentences."""
    why = " (MATCHPOST_SIGNUPS=off)" if is_closed_by_setting else ""
    print(f"sign-ups: {_SIGNUPS[now.signups]}{why}")
    print(f"visible: {_TO_MEMBERS[now.trial] if now.for_members_only else _TO_EVERYBODY}")
    print(f"clubs: {now.clubs} may found clubs")
