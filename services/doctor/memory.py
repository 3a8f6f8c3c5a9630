"""The doctor's check of the server's memory, and of settings that make matches larger."""

from collections.abc import Iterator
from typing import Final

from services.doctor.facts import Facts, HashLimits
from services.doctor.findings import Finding, bad, note, ok, size_of, warn

_WANTED: Final = HashLimits(entries=128, value=64)
"""A stored outcome has at most 64 bytes but in rare cases, and a match seldom has more than 128 of them."""


def check_memory(facts: Facts) -> Iterator[Finding]:
    """Report the memory in use, and limits of hashes that are too low."""
    server = facts.server
    if server is None:
        return
    share = server.memory / server.memory_limit if server.memory_limit else 0.0
    who = "the server" if server.nodes == 1 else f"the fullest of {server.nodes} nodes"
    what = f"{who} uses {size_of(server.memory)} of {size_of(server.memory_limit)}"
    remedy = "give it more memory; no move is accepted when none is left"
    if share > 0.9:  # noqa: PLR2004 - nine tenths
        yield bad("memory", what, remedy)
    elif share > 0.7:  # noqa: PLR2004 - seven tenths
        yield warn("memory", what, remedy)
    else:
        yield ok("memory", what if server.memory_limit else what.partition(" of ")[0])
    if server.hashes is not None:
        yield from _hash_limits(server.hashes)


def _hash_limits(found: HashLimits) -> Iterator[Finding]:
    low = [
        f"hash-max-listpack-{name} {have} (set {wanted})"
        for name, have, wanted in (
            ("entries", found.entries, _WANTED.entries),
            ("value", found.value, _WANTED.value),
        )
        if have < wanted
    ]
    if low:
        yield note(
            "memory",
            f"the outcomes of long matches take about twice the memory, by the server's settings "
            f"{' and '.join(low)}",
        )
