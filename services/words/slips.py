"""Slips: what an operator prints and hands to a new player, one for each account.

A slip has all that the player needs for the first log-in, and is cut off at its line.
"""

from typing import Final

from infra.languages.wording import Wording

_CUT: Final = "-" * 60


def account_slip(name: str, password: str, site: str, words: Wording, real_name: str = "") -> str:
    """Return the slip of an account: where it is, its userid, and its first password.

    With a `real_name` it says whose it is. `site` is the address of the server's pages, as its players know it.
    """
    _ = words.gettext
    return "\n".join(
        (
            _CUT,
            *([real_name] if real_name else []),
            _("Your account at %(site)s", site=site),
            "",
            _("Name: %(name)s", name=name),
            _("Password: %(password)s", password=password),
            "",
            _("Log in, and change the password on the page of your account."),
            _("If you forget it, ask the person who gave you this slip."),
        )
    )


def invitation_slip(note: str, link: str, until: str, words: Wording) -> str:
    """Return the slip of a sign-up link: for whom it is, and until when, a date in words."""
    _ = words.gettext
    return "\n".join(
        (
            _CUT,
            *([note] if note else []),
            _("Make your own account here, until %(when)s:", when=until),
            "",
            link,
            "",
            _("The link works once."),
        )
    )
