"""Sentences on lanes for operators: how many there are, and workers that have none."""

from infra.store.layout import Layout


def division(layout: Layout) -> str:
    """Return into how many lanes the shards are divided, such as `8 shards in 3 lanes`."""
    shards = "1 shard" if layout.shards == 1 else f"{layout.shards} shards"
    return f"{shards} in {lane_count(layout)}"


def idle_workers(workers: int, layout: Layout) -> str:
    """Return a sentence that command workers have no lane; empty if there are lanes for all."""
    idle = workers - layout.lanes
    if idle <= 0:
        return ""
    what = f"{workers} command workers for {lane_count(layout)}: {idle} {'is' if idle == 1 else 'are'} idle"
    most = min(workers, layout.shards)
    if most == layout.lanes:
        return f"{what}, because there are no more shards"
    return f"{what}; `matchpost lanes {most}` makes more lanes"


def lane_count(layout: Layout) -> str:
    """Return the number of lanes, such as `3 lanes`."""
    return "1 lane" if layout.lanes == 1 else f"{layout.lanes} lanes"


def changed_lanes(before: Layout, after: Layout) -> str:
    """Return a sentence that an operator has changed the lanes."""
    was = f"before {lane_count(before)}"
    return f"{division(after)}, {was}; running processes know it within seconds"
