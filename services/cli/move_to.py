"""`matchpost move-to URL`: move the data to another server, a pair or a cluster, while nobody plays.

Exit codes: 0 moved; 1 refused, or it does not hold; 2 a server does not answer, or is not as durable as the settings say.
"""

import sys

from infra.redis.key_copy import KeyCopyError
from infra.settings.settings import Settings
from infra.store.moving import MoveError
from services.app.error_codes import EXIT_OK, EXIT_REFUSED
from services.app.moving import MoveSteps, Verified, move_data, take_move_back
from services.cli import verify_all


def run(*, target: str, is_back: bool, settings: Settings) -> int:
    """Move the data, or take a move back, say each step, and return the exit code."""
    steps = MoveSteps(settings, lambda sentence: print(sentence, flush=True))
    try:
        if is_back:
            take_move_back(settings, target, steps)
        else:
            move_data(settings, target, _verify, steps)
    except (MoveError, KeyCopyError, ValueError) as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_REFUSED
    return EXIT_OK


def _verify(settings: Settings) -> Verified:
    report = verify_all.run(settings)
    faults = [] if report.exit_code == EXIT_OK else [*report.faults, *report.unchecked]
    return Verified(report.summary, faults)
