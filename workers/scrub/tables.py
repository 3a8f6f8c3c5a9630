"""The check of lists, notices and ratings: each projection equals one that is rebuilt from the logs."""

from typing import Final

import msgspec
from redis.exceptions import ResponseError

from domain.errors import Refusal
from infra.projections.generations import BusyError
from infra.store.closed_shards import ClosedShards
from infra.store.log_gate import read_ends
from infra.store.scrub_notes import LISTS
from workers.projections import PROJECTIONS
from workers.projections.rebuild import StuckError
from workers.projections.verify import ProjectionVerifier
from workers.scrub.section import ScrubFault, ScrubParts, Step

MOST_LEAVES: Final = 2_000_000
"""With more leaves this takes too much memory, and too long for each round: an operator asks for it."""

_PAUSES: Final = 100.0
"""Seconds that it may wait in one step: much longer ones would not end in a run."""

_READ: Final = 1_000
"""Leaves after which it waits."""

_KEYS_PAUSE: Final = 0.02
"""The same after each part of the keys, which are many."""


class TableCheck:
    """One projection in each step."""

    name = LISTS

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts

    def step(self, cursor: str) -> Step:  # noqa: PLR0911 - one for each fault
        """Check the next projection."""
        place = int(cursor or 0)
        after = str(place + 1) if place + 1 < len(PROJECTIONS) else None
        parts, projection = self._parts, PROJECTIONS[place]
        name = projection.spec.name
        leaves = sum(read_ends(parts.data, range(parts.shards)))
        if leaves > MOST_LEAVES:
            return Step(None, keeps=True)
        most = _PAUSES / (1 + leaves / _READ)
        if ClosedShards(parts.data).read(range(parts.shards)):
            return Step(None, cut=True)  # leaves are restored, which the lists may have
        try:
            found = ProjectionVerifier(
                parts.store,
                parts.data,
                projection,
                lambda _leaves, keys: parts.pause(min(most, _KEYS_PAUSE) if keys else most),
            ).run()
        except (BusyError, LookupError):
            return Step(after, cut=True)  # they are replaced, or made for the first time
        except StuckError as error:
            return Step(after, [ScrubFault(name, str(error))])
        except (ResponseError, msgspec.MsgspecError, ValueError, TypeError) as error:
            if isinstance(error, ResponseError) and "WRONGTYPE" not in str(error):
                raise
            return Step(after, [ScrubFault(name, f"a key of them can't be read: {error}")])
        except Refusal as refusal:  # the archive, whose own check tells more
            return Step(after, [ScrubFault(name, str(refusal))])
        if not found.difference:
            return Step(after)
        return Step(
            after,
            [
                ScrubFault(
                    name,
                    f"they differ from a rebuild of {found.leaves:,} leaves, first at {found.difference}: "
                    f"`matchpost rebuild {name}` replaces them",
                )
            ],
        )
