"""The scrubber finds nothing on a server that is well."""

from pathlib import Path

import pytest
from redis import Redis

from infra.valkey.server import EmbeddedServer
from tests.helpers.scrubbing import ScrubbedServer, populated


@pytest.fixture
def server(redis_client: Redis, valkey: EmbeddedServer, tmp_path: Path) -> ScrubbedServer:
    return populated(redis_client, valkey.url, tmp_path)


def test_a_round_on_a_server_that_is_well_finds_nothing(server: ScrubbedServer) -> None:
    assert server.scrub() == []
    assert server.scrub() == []
