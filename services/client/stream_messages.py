"""Server-sent events, read from the lines of a stream."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class StreamMessage(NamedTuple):
    """An event of a stream."""

    id: str
    """A later connection goes on after this id."""
    kind: str
    """The name of the event, such as `moved`."""
    data: dict[str, Any]
    """Its JSON."""


def read_messages(lines: Iterable[str]) -> Iterator[tuple[str, StreamMessage | None]]:
    """Yield each id of a stream with its event; None for an id that comes without one, or with `hello`."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "id" in fields:
            id_, data, kind = fields["id"], fields.get("data"), fields.get("event", "")
            is_event = data and kind != "hello"
            yield id_, StreamMessage(id_, kind, json.loads(data or "")) if is_event else None
        fields = {}
