"""`matchpost suspend` and `matchpost reinstate`: the operator closes an account, and opens it again.

Nobody can log in to a suspended account or play for it. Its matches go on, and its clocks run.
"""

import sys
from collections.abc import Callable
from functools import partial

from domain.errors import Refusal
from infra.settings.settings import Settings
from services.app.accounts import set_suspended
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK


def run(name: str, *, is_suspended: bool, settings: Settings, days: int = 0) -> int:
    """Suspend or reinstate an account, and return the exit code."""
    said = suspended_said(days) if is_suspended else "can log in again"
    return change(name, partial(set_suspended, suspended=is_suspended, days=days), said, settings)


def suspended_said(days: int) -> str:
    """Return what is printed after the userid of an account that was suspended for so many days; 0 for no end."""
    length = f" for {days} {'day' if days == 1 else 'days'}" if days else ""
    return f"is suspended{length} and logged out everywhere; its matches go on, and its clocks run"


def change(name: str, change: Callable[[App, str], None], said: str, settings: Settings) -> int:
    """Change the account of a userid, print what was done, and return the exit code."""
    with App(settings) as parts:
        try:
            change(parts, name)
        except Refusal as reason:
            print(f"{reason.code}: {reason.sentence}", file=sys.stderr)
            return CODE_INFO[reason.code].exit
    print(f"{name.lower()} {said}")
    return EXIT_OK
