"""Reads of several modules: how few commands they take, and that each of a cluster has one slot."""

from redis import Redis
from redis.crc import key_slot

from infra.redis.reads import Read, in_one_command, read_all, read_strings

NAMES = ["{a}:1", "{b}:1", "{a}:2", "{b}:2"]


def test_strings_of_several_reads_come_by_one_command(redis_client: Redis) -> None:
    redis_client.mset({"{a}:1": "one", "{b}:1": "two"})
    redis_client.lpush("{a}:list", "three")
    redis_client.config_resetstat()
    found = read_all(
        redis_client,
        read_strings(["{a}:1", "{c}:1"], list),
        Read(lambda pipe: pipe.lrange("{a}:list", 0, -1), list),
        Read(lambda pipe: pipe.llen("{a}:list"), list, ["{b}:1", "{a}:1"]),
        read_strings([], list),
    )
    assert found == [[b"one", None], [[b"three"]], [b"two", b"one", 1], []]
    stats = redis_client.info("commandstats")
    made = {name: one["calls"] for name, one in stats.items() if "config" not in name}
    assert made == {"cmdstat_mget": 1, "cmdstat_lrange": 1, "cmdstat_llen": 1}


def test_a_command_of_a_cluster_has_one_slot() -> None:
    groups = in_one_command(NAMES, cluster=True)
    assert groups == [["{a}:1", "{a}:2"], ["{b}:1", "{b}:2"]]
    assert all(len({key_slot(name.encode()) for name in group}) == 1 for group in groups)
    assert in_one_command(NAMES, cluster=False) == [NAMES]
    assert in_one_command([], cluster=False) == []
