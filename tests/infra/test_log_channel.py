"""News of the logs: the shards are named, and a lost connection is made again."""

from pathlib import Path

import pytest
from redis import ConnectionError as LostConnectionError
from redis import Redis

from infra.redis.clients import make_client
from infra.store.channels import LogListener, add_log_news


def publish(client: Redis, *shards: int) -> None:
    with client.pipeline(transaction=False) as pipe:
        add_log_news(pipe, shards)
        pipe.execute()


def hear(listener: LogListener, count: int) -> set[int]:
    """Return so many shards; a message may come a moment later, and the confirmation before."""
    heard: set[int] = set()
    while len(heard) < count:
        heard |= listener.wait(60)
    return heard


@pytest.fixture
def listener(redis_client: Redis) -> LogListener:
    made = LogListener(redis_client)
    made.wait(5)  # for the confirmation
    return made


def test_the_shards_of_all_messages_are_returned_together(
    listener: LogListener, redis_client: Redis
) -> None:
    publish(redis_client, 3, 17)
    publish(redis_client, 3, 5)
    assert hear(listener, 3) == {3, 5, 17}
    assert listener.wait(0) == set()
    listener.close()


def test_a_connection_that_was_lost_is_made_again(
    listener: LogListener, redis_client: Redis
) -> None:
    redis_client.client_kill_filter(_type="pubsub")
    assert listener.wait(60) == set()
    heard: set[int] = set()
    while not heard:
        # again, because the server may count a subscriber that it is about to let go
        publish(redis_client, 2)
        heard = listener.wait(0.1)
    assert heard == {2}
    listener.close()


def test_a_server_that_is_away_is_an_error(tmp_path: Path) -> None:
    with make_client(str(tmp_path / "none")) as client, pytest.raises(LostConnectionError):
        LogListener(client).wait(0)
