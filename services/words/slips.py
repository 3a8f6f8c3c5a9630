"""Slips: what an operator prints and hands to a new player, one for each account.

A slip has all that the player needs for the first log-in, and is cut off at its line.
"""

from typing import Final

from infra.languages.wording import Wording

_CUT: Final = "-" * 60


def account_slip(name: str, password: str, site: str, words: Wording) -> str:
    """Return the slip of an account: where it is, its userid, and its first password.

    `site` is the address of the server's pages, as its players know it.
    """
    _ = words.gettext
    return "\n".join(
        (
            _CUT,
            _("Your account at %(site)s", site=site),
            "",
            _("Name: %(name)s", name=name),
            _("Password: %(password)s", password=password),
            "",
            _("Log in, and change the password on the page of your account."),
            _("If you forget it, ask the person who gave you this slip."),
        )
    )
