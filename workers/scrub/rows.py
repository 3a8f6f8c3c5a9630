"""The check of the row pages: each entry of a list of finished matches has its page, with its rows."""

import zlib
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from redis.exceptions import ResponseError

from infra.objects.port import ObjectNotFoundError
from infra.projections.buckets import Bucket
from infra.projections.generations import Generation, Generations
from infra.projections.paged_lists import pages_key
from infra.projections.paged_projections import PAGED
from infra.projections.row_pages import PAGE_ROWS, PageEntry, page_name, read_page, unpack_entry
from workers.scrub.section import ScrubFault, ScrubParts, Step

_ENTRIES: Final = 4
"""Pages of a step."""


class RowPageCheck:
    """The row pages of the generations that are read."""

    name = "row pages"

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts
        # redis-py types no answer precisely
        self._client: Any = parts.data

    def step(self, cursor: str) -> Step:  # noqa: PLR0911 - one for each fault
        """Check the next pages of a bucket; the cursor is projection, bucket, list and place."""
        kind, number, after, place = _read_cursor(cursor)
        if kind >= len(PAGED):
            return Step(None)
        spec = PAGED[kind].spec
        try:
            live = Generations(self._client, spec).live()
        except ValueError:
            return Step(
                _cursor(kind + 1, 0, "", 0),
                [ScrubFault(spec.name, "which of their generations is read can't be told")],
            )
        if live is None or number >= live[1].buckets:
            return Step(_cursor(kind + 1, 0, "", 0))
        bucket = live[1].bucket(number)
        name = next((one for one in self._lists(live[1], bucket) if one >= after), None)
        if name is None:
            return Step(_cursor(kind, number + 1, "", 0))
        try:
            entries = self._client.lrange(bucket.key(name), place, place + _ENTRIES - 1)
        except ResponseError as error:
            return Step(
                _cursor(kind, number, name + " ", 0),
                [ScrubFault(f"key {bucket.key(name)}", f"it is of another type ({error})")],
            )
        if not entries:
            return Step(_cursor(kind, number, name + " ", 0))
        faults = [
            ScrubFault(f"row page {place + at} of {bucket.key(name)}", fault)
            for at, data in enumerate(entries)
            if (fault := self._fault(live[1], data))
        ]
        return Step(_cursor(kind, number, name, place + len(entries)), faults)

    def _lists(self, generation: Generation, bucket: Bucket) -> Iterator[str]:
        """Yield the names of a bucket's keys with entries of pages, in order."""
        spec = next(one.spec for one in PAGED if one.spec.name == generation.name)
        names = {
            name
            for page in Generations(self._client, spec).keys_of(bucket)
            for name in page
            if name.startswith(pages_key(""))
        }
        yield from sorted(names)

    def _fault(self, generation: Generation, data: bytes) -> str:
        """Return what is wrong with the page of an entry; empty if nothing is."""
        try:
            entry: PageEntry = unpack_entry(data)
        except (msgspec.MsgspecError, ValueError) as error:
            return f"its entry can't be read: {error}"
        name = page_name(generation.name, generation.number, entry.digest)
        try:
            rows = read_page(self._parts.objects().get(name), entry)
        except ObjectNotFoundError:
            return f"the page {name} is gone"
        except (ValueError, zlib.error) as error:
            return f"the page {name} is damaged: {error}"
        if (len(rows), rows[0].place, rows[-1].place) != (PAGE_ROWS, entry.first, entry.last):
            return f"the page {name} has other rows than its entry says"
        return ""


def _read_cursor(cursor: str) -> tuple[int, int, str, int]:
    if not cursor:
        return 0, 0, "", 0
    kind, number, place, name = cursor.split(":", 3)
    return int(kind), int(number), name, int(place)


def _cursor(kind: int, number: int, name: str, place: int) -> str:
    return f"{kind}:{number}:{place}:{name}"
