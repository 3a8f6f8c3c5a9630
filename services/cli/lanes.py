"""`matchpost lanes [N]`: show into how many lanes the shards are divided, or change that.

It works while the server runs. Each command worker drains one lane at a time, so there should be as many
lanes as workers on all machines together. Exit codes: 0 done; 1 no such number of lanes is possible;
2 the server does not answer.
"""

import sys

from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED
from services.lane_texts import changed_lanes, division


def run(count: int | None, settings: Settings) -> int:
    """Show the lanes, or divide the shards into `count` lanes; return the exit code."""
    with App(settings) as parts:
        before = parts.store.layout()
        if count is None or count == before.lanes:
            print(division(before))
            return EXIT_OK
        parts.ready()
        try:
            after = parts.store.change_lanes(count)
        except ValueError as error:
            print(f"matchpost: {error}", file=sys.stderr)
            return EXIT_REFUSED
    print(changed_lanes(before, after))
    return EXIT_OK
