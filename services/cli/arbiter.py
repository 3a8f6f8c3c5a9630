"""`matchpost arbiter`: the operator appoints, dismisses and lists arbiters.

The word `list` lists them, so an account of that userid can't be made an arbiter.
"""

import sys
from typing import Final

from domain.errors import Refusal
from infra.people.accounts import AccountRole
from infra.settings.settings import Settings
from services.app.acts import TERMINAL
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK
from services.app.roles import set_role

LIST: Final = "list"


def run(name: str, is_arbiter: bool, settings: Settings) -> int:  # noqa: FBT001 - called by keyword
    """Appoint or dismiss an arbiter, or list all, and return the exit code."""
    with App(settings) as parts:
        if name == LIST and is_arbiter:
            return _list(parts)
        try:
            set_role(parts, TERMINAL, name, AccountRole.ARBITER, held=is_arbiter)
        except Refusal as reason:
            print(f"{reason.code}: {reason.sentence}", file=sys.stderr)
            return CODE_INFO[reason.code].exit
    print(f"{name.lower()} is {'now an arbiter' if is_arbiter else 'no longer an arbiter'}")
    return EXIT_OK


def _list(parts: App) -> int:
    """Print the userids of all arbiters."""
    for name in sorted(
        filter(None, parts.accounts.name_of(parts.accounts.holders(AccountRole.ARBITER)))
    ):
        print(name)
    return EXIT_OK
