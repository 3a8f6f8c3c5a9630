"""Forgeries of somebody who knows the program: each is found by every door that can see it."""

import logging
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from infra.valkey.server import EmbeddedServer
from trials.tamper.forged_server import ForgedServer
from trials.tamper.verdicts import forged_server, forgeries, make

SEEN_BY = {
    "match erased": {"verify", "verify --all"},
    "match substituted": {"verify", "verify --all", "scrubber"},
    "log changed": {"verify --all", "scrubber"},
    "published again": {"verify", "verify --all", "verify --mirror --key", "scrubber"},
    "outcome changed": {"verify", "verify --all", "scrubber"},
    "locator changed": {"verify", "verify --all", "scrubber"},
    "entry changed": {"scrubber"},
    "checkpoint changed": {"verify", "verify --all", "verify --mirror --key", "scrubber"},
}
"""The doors that find every forgery of a kind."""

ROUND = 34
"""So many forgeries have some of all kinds."""


@pytest.fixture(scope="module")
def forged() -> Iterator[ForgedServer]:
    """A server of matches of many kinds, restored from a copy."""
    logging.disable(logging.WARNING)
    try:
        with (
            TemporaryDirectory() as place,
            EmbeddedServer(Path(place) / "valkey") as valkey,
            valkey.client(blocking_timeout=5) as client,
        ):
            copy = make(client, valkey.url, Path(place) / "data")
        with forged_server(copy) as found:
            yield found
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.long
def test_every_door_that_can_see_a_forgery_finds_it(forged: ForgedServer) -> None:
    usual = forged.verdicts(1)
    assert [name for name, said in usual.items() if "RAISED" in str(said)] == []
    found = dict.fromkeys(SEEN_BY, 0)
    for one in forgeries(forged, 2 * ROUND):
        kind, said = one["kind"], one["doors"]
        for door in SEEN_BY.get(kind, ()):
            holds = said[door][0] == "0" if door == "verify" else said[door] == usual[door]
            assert not holds, (one["seed"], kind, one["what"], door)
            found[kind] += 1
    assert min(found.values()) >= 2
    assert forged.verdicts(1) == usual
