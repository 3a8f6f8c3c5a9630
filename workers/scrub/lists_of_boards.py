"""The lists of boards of each shard, from their side: what they have of matches that are not there."""

from typing import Any, Final

from infra.redis import keys
from workers.scrub.section import ScrubFault, ScrubParts, Step

_COUNT: Final = 200

_LISTS: Final = (
    (keys.due, "due time", "the list of due times"),
    (keys.ended, "end", "the list of matches that are over"),
)


class BoardLists:
    """Due times and ends of matches that do not exist; the others are compared with each match."""

    name = "lists of boards"

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts

    def step(self, cursor: str) -> Step:
        """Check the next members of a list."""
        number, at = map(int, cursor.split(":")) if cursor else (0, 0)
        shards = self._parts.shards
        shard, kind = divmod(number, len(_LISTS))
        list_key, what, called = _LISTS[kind]
        client: Any = self._parts.data
        name = list_key(shard)
        if client.type(name) not in (b"zset", b"none"):
            after, rows = 0, []
            faults = [
                ScrubFault(f"key {name}", "it is of another type than this program writes there")
            ]
        else:
            after, rows = client.zscan(name, at, count=_COUNT)
            members = {member.decode(errors="replace") for member, _ in rows}
            faults = [
                ScrubFault(
                    f"{what} of match {member}",
                    f"{called} has it, and there is no such match there",
                )
                for member in sorted(members)
                if not self._exists(shard, member)
            ]
        if after:
            return Step(f"{number}:{after}", faults)
        last = number + 1 == shards * len(_LISTS)
        return Step(None if last else f"{number + 1}:0", faults)

    def _exists(self, shard: int, member: str) -> bool:
        if not (member.isascii() and member.isdigit() and str(int(member)) == member):
            return False
        board = int(member)
        if keys.shard_of(board, self._parts.shards) != shard:
            return False
        return bool(self._parts.data.exists(keys.snapshot(shard, board)))
