"""`matchpost signup-link`: the operator makes, lists and revokes links with which people sign up."""

from datetime import UTC, datetime

from infra.people.admission import SignupLink
from infra.settings.settings import Settings
from services.app.admission import make_signup_link, revoke_signup_link, signup_links
from services.app.context import App
from services.app.error_codes import EXIT_OK


def run(action: str, name: str, uses: int, days: int, note: str, settings: Settings) -> int:
    """Make, list or revoke sign-up links, and return the exit code."""
    with App(settings) as parts:
        match action:
            case "make":
                link, text = make_signup_link(parts, uses, days, note)
                print(f"{site_of(settings)}/signup?link={text}")
                print(_line(link, 0))
            case "revoke":
                revoke_signup_link(parts, name)
                print(f"{name} is revoked; nobody can sign up with it any more")
            case _:
                for link, used in signup_links(parts):
                    print(_line(link, used))
    return EXIT_OK


def _line(link: SignupLink, used: int) -> str:
    """Return a line about a link: its id, its uses, its end and the operator's note."""
    until = datetime.fromtimestamp(link.expires / 1000, UTC)
    note = f"  {link.note}" if link.note else ""
    return f"{link.id}  used {used} of {link.uses}  until {until:%Y-%m-%d %H:%M} UTC{note}"


def site_of(settings: Settings) -> str:
    """Return the address of the pages: as it is set, or as they are reached on this machine."""
    return settings.site or f"http://{settings.http}"
