"""A small server that was played on, and is put back before each test."""

import pytest
from redis import Redis

from infra.valkey.server import EmbeddedServer
from tests.helpers.scrubbing import ScrubbedServer, populated, small_chunks
from tests.helpers.server_copy import ServerCopy


@pytest.fixture(scope="module")
def made(valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory):
    """The server, and a copy of it after a round that has made the MACs of its accounts."""
    with valkey.client(blocking_timeout=5) as client, small_chunks():
        client.flushall()
        server = populated(client, valkey.url, tmp_path_factory.mktemp("scrubbed"))
        assert server.scrub() == []
        yield server, ServerCopy(server.folder, client, server.queue)
        client.flushall()


@pytest.fixture
def server(made: tuple[ScrubbedServer, ServerCopy], redis_client: Redis) -> ScrubbedServer:
    assert redis_client.dbsize() == 0
    made[1].restore()
    return made[0]
