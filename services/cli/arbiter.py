"""`matchpost arbiter`: the operator says who is an arbiter."""

import sys

from domain.errors import Refusal
from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import FINE, PROBLEMS


def run(name: str, yes: bool, settings: Settings) -> int:  # noqa: FBT001 - there are but two
    """Make an account an arbiter, or one no more; gives the exit code."""
    with App(settings) as parts:
        parts.ready()
        try:
            parts.accounts.set_arbiter(name, yes)
        except Refusal as reason:
            print(f"{reason.code}: {reason.sentence}", file=sys.stderr)
            return PROBLEMS[reason.code].exit
    print(f"{name.lower()} is {'an arbiter' if yes else 'no arbiter'} now")
    return FINE
