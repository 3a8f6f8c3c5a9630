"""`matchpost arbiter`: the operator appoints and dismisses arbiters."""

import sys

from domain.errors import Refusal
from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK


def run(name: str, is_arbiter: bool, settings: Settings) -> int:  # noqa: FBT001 - called by keyword
    """Appoint or dismiss an arbiter, and return the exit code."""
    with App(settings) as parts:
        parts.ready()
        try:
            parts.accounts.set_arbiter(name, is_arbiter)
        except Refusal as reason:
            print(f"{reason.code}: {reason.sentence}", file=sys.stderr)
            return CODE_INFO[reason.code].exit
    print(f"{name.lower()} is {'now an arbiter' if is_arbiter else 'no longer an arbiter'}")
    return EXIT_OK
