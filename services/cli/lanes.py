"""`matchpost lanes [N]`: show into how many lanes the shards are divided, or change that.

It works while the server runs. Each command worker drains one lane at a time, so there should be as many
lanes as workers on all machines together. Exit codes: 0 done; 1 no such number of lanes is possible;
2 the server does not answer.
"""

import sys

from infra.settings import Settings
from infra.store.port import Layout
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED


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
    print(f"{division(after)}, before {_lanes(before)}; running processes know it within seconds")
    return EXIT_OK


def division(layout: Layout) -> str:
    """Return into how many lanes the shards are divided, such as `8 shards in 3 lanes`."""
    shards = "1 shard" if layout.shards == 1 else f"{layout.shards} shards"
    return f"{shards} in {_lanes(layout)}"


def idle_workers(workers: int, layout: Layout) -> str:
    """Return a sentence that command workers have no lane; empty if there are lanes for all."""
    idle = workers - layout.lanes
    if idle <= 0:
        return ""
    what = f"{workers} command workers for {_lanes(layout)}: {idle} {'is' if idle == 1 else 'are'} idle"
    most = min(workers, layout.shards)
    if most == layout.lanes:
        return f"{what}, because there are no more shards"
    return f"{what}; `matchpost lanes {most}` makes more lanes"


def _lanes(layout: Layout) -> str:
    return "1 lane" if layout.lanes == 1 else f"{layout.lanes} lanes"
