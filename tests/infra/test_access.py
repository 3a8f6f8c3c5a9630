"""Access control and the table of keys: each role does its own work and nothing else, each key has an owner and an end."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError

from domain.tournament.commands import WithdrawPlayer
from infra.durability.durability import DurabilityError, Mode
from infra.redis import keys
from infra.redis.access import ROLES, USER_PREFIX, acl_lines
from infra.redis.clients import make_client
from infra.redis.cluster import servers_of
from infra.redis.key_table import KEYS, Never
from infra.redis.server import read_server_figures
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from services.app.context import App
from services.doctor.facts import gather
from services.metrics.collector import status_metrics
from tests.helpers.bench import Bench
from tests.helpers.key_patterns import all_rows, row_of
from tests.helpers.side import settle
from tests.workers.test_tournaments import ORGANISER, PLAYERS, Hall
from workers.tournament_manager import TournamentManager

PASSWORDS = {name: f"password of {name}" for name in (*ROLES, "replica")}
FORBIDDEN = (
    "FLUSHALL", "FLUSHDB", "SHUTDOWN", "CONFIG SET appendfsync no", "CONFIG REWRITE", "DEBUG SLEEP 1", "KEYS *",
    "ACL SETUSER me on", "REPLICAOF NO ONE", "FUNCTION FLUSH", "SCRIPT FLUSH", "MONITOR", "CLIENT KILL 1.2.3.4:5",
    "SWAPDB 0 1", "RANDOMKEY", "MIGRATE h 1 k 0 1", "CLUSTER FAILOVER", "MODULE LIST", "BGREWRITEAOF",
)  # fmt: skip
HOLDER = "{a:0123456789abcdef}"
MATCH = "{s07.a1y}:m:17"
ALLOWED = {
    "web": ["{s07.a1y}:in", HOLDER, "{t:0f}", "{w:0f}", f"{MATCH}:chat", "{u:ann}", "{mail}:letters"],
    "mail": ["{s07.a1y}:in", HOLDER],
    "mailer": ["{mail}:letters", "{s07.a1y}:shown", HOLDER],
    "worker": ["{s07.a1y}:log", MATCH, "{boards}:secrets"],
    "side": ["{p:lists:b0}:1:at", "{s07.a1y}:shown"],
    "publisher": ["{s07.a1y}:published", "{s07.a1y}:log"],
    "scheduler": ["{s07.a1y}:in", "{c:x}", "{clock}"],
    "robots": ["{s07.a1y}:in", "{robots}:failed"],
    "maintenance": ["{scrub}", "{p:lists:b0}:1:at", "{s07.a1y}:archived"],
}  # fmt: skip
DENIED = {
    "web": ["{s07.a1y}:log", f"{MATCH}:ev", f"{MATCH}:moves", "{s07.a1y}:published", "{scrub}", "{boards}:shape"],
    "mail": ["{s07.a1y}:log", f"{MATCH}:ev", "{s07.a1y}:published"],
    "mailer": [MATCH, f"{MATCH}:ev", "{u:ann}", "{t:0f}"],
    "worker": [HOLDER, "{u:ann}", "{t:0f}", "{w:0f}", "{mail}:letters", "{p:lists:b0}:1:at", "{arbiters}"],
    "side": [MATCH, f"{MATCH}:ev", HOLDER, "{boards}"],
    "publisher": [HOLDER, "{t:0f}", "{p:lists:b0}:1:at", "{mail}:letters"],
    "scheduler": [f"{MATCH}:ev", HOLDER, "{t:0f}", "{p:lists:b0}:1:at"],
    "robots": ["{s07.a1y}:log", f"{MATCH}:ev", "{t:0f}", "{w:0f}", "{arbiters}"],
    "maintenance": ["{t:0f}", "{w:0f}", "{mail}:letters"],
}  # fmt: skip
SECRET = (HOLDER, "{t:0f}", "{w:0f}", f"{HOLDER}:box", "{mail}:letters")
"""Keys with passwords, tokens, sessions, messages and addresses."""
WITHOUT_PEOPLE = ("worker", "side", "publisher")


def set_users(client: Redis, *, queue: bool = False) -> None:
    """Teach a server the users of the data, or of the queue."""
    for line in acl_lines(PASSWORDS, queue=queue)[1:]:
        _, name, *rules = line.split(" ")
        client.execute_command("ACL", "SETUSER", name, "reset", *rules)


def drop_users(client: Redis) -> None:
    for name in (*ROLES, "replica"):
        client.acl_deluser(f"{USER_PREFIX}{name}")


@pytest.fixture
def judge(redis_client: Redis) -> Iterator[Redis]:
    """A client of a server that knows the users of the data."""
    set_users(redis_client)
    yield redis_client
    drop_users(redis_client)


def may(judge: Redis, role: str, *words: str) -> bool:
    """Return whether the server would let a role send a command."""
    return bool(judge.execute_command("ACL", "DRYRUN", f"{USER_PREFIX}{role}", *words) == b"OK")


def test_no_role_can_end_empty_or_change_a_server(judge: Redis) -> None:
    found = [
        (role, words) for role in ROLES for words in FORBIDDEN if may(judge, role, *words.split())
    ]
    assert found == []
    readers = {role for role in ROLES if may(judge, role, "CONFIG", "GET", "masterauth")}
    assert readers == {"scheduler", "operator"}
    set_users(judge, queue=True)
    assert not [role for role in ROLES if may(judge, role, "CONFIG", "GET", "masterauth")]
    # nor is a password shown but as a digest, and the default user is off
    for queue in (False, True):
        text = "\n".join(acl_lines(PASSWORDS, queue=queue))
        assert "password of" not in text
        assert text.startswith("user default off ")


def test_a_role_writes_its_own_keys_and_not_those_of_others(judge: Redis) -> None:
    for role, own in ALLOWED.items():
        assert [key for key in own if not may(judge, role, "SET", key, "1")] == []
        assert [key for key in DENIED[role] if may(judge, role, "SET", key, "1")] == []
        assert [key for key in DENIED[role] if may(judge, role, "EVALSHA", "0f", "1", key)] == []


def test_a_role_without_people_can_t_read_what_they_keep_to_themselves(judge: Redis) -> None:
    for role in WITHOUT_PEOPLE:
        # a worker reads the records of the players whose commands it decides
        readable = [HOLDER] if role == "worker" else []
        assert [key for key in SECRET if may(judge, role, "GET", key)] == readable
        assert may(judge, role, "GET", MATCH)
    # it reads which texts were seen and does not write it
    assert may(judge, "worker", "ZSCORE", f"{HOLDER}:seen", "17")
    allowed = {role: may(judge, role, "ZADD", f"{HOLDER}:seen", "1", "17") for role in ALLOWED}
    assert (allowed["worker"], allowed["web"]) == (False, True)


def test_every_key_of_the_data_is_written_by_a_role(judge: Redis) -> None:
    def written(row: str) -> bool:
        key = row.replace("<board>", "17").replace("<", "").replace(">", "")
        return any(may(judge, role, "SET", key, "1") for role in ALLOWED)

    on_queue = ("{lease:", "{beats}", "durable")
    rows = [row for row in all_rows() if not row.startswith(on_queue)]
    assert [row for row in rows if not written(row)] == []


def test_a_user_reaches_every_node_of_a_cluster_and_no_key_of_another_role(cluster, cluster_client):
    for node in cluster.primaries:
        with node.client() as client:
            set_users(client)
    try:
        login = f"{USER_PREFIX}worker:{quote(PASSWORDS['worker'])}"
        with make_client(cluster.url.replace("://", f"://{login}@")) as worker:
            with worker.pipeline(transaction=False) as pipe:
                for shard in range(8):
                    pipe.set(keys.attempts(shard), shard)
                pipe.waitaof(1, 0, 5_000)
                assert pipe.execute()[:-1] == [True] * 8
            assert [int(one.info("server")["uptime_in_seconds"]) >= 0 for one in servers_of(worker)]
            with pytest.raises(NoPermissionError):
                worker.set(keys.projection("lists", "live"), "1")
        found = [cluster_client.get(keys.attempts(shard)) for shard in range(8)]
        assert found == [b"%d" % shard for shard in range(8)]
    finally:
        for node in cluster.primaries:
            with node.client() as client:
                drop_users(client)


def app_of(role: str, url: str, data: Path) -> App:
    """The parts of a process whose user of the data is a role's; the queue's server has users of its own."""
    login = urlencode({"username": f"{USER_PREFIX}{role}", "password": PASSWORDS[role]})
    return App(Settings(data=data, redis_url=f"{url}?{login}", queue_url=url, shards=4))


def test_roles_know_the_settings_of_a_server_from_the_scheduler(judge, valkey, tmp_path):
    RedisStore(judge, Mode.FSYNC).create(Layout(shards=4, lanes=1))

    def app(role: str) -> App:
        return app_of(role, valkey.url, tmp_path)

    with app("worker") as parts, pytest.raises(DurabilityError, match="start `matchpost scheduler"):
        parts.ready()
    with app("scheduler") as parts:
        parts.durability_watch().tick()
    judge.execute_command("ACL", "LOG", "RESET")
    with app("worker") as parts:
        parts.ready()
        watch = parts.durability_watch()
        watch.verify_connections()
        parts.store.layout()
        assert (watch.look(), watch.fault()) == ([], "")
    # roles that serve the figures of the server may read them
    for role in ("web", "scheduler"):
        with app(role) as parts:
            read_server_figures(parts.data)
            status_metrics(parts.status())
    denied: Any = judge.execute_command("ACL", "LOG")
    assert denied == []
    # the doctor of the admin page is the web process
    with app("web") as parts:
        facts = gather(parts.settings)
        assert facts.server is not None
        assert facts.server.not_durable == ()
    # without a scheduler a drain verifies by itself, and the settings are those that were noted
    judge.delete(keys.DURABILITY)
    with app("worker") as parts:
        assert parts.durability_watch().fault() == ""
    judge.config_set("appendfsync", "everysec")
    try:
        with app("scheduler") as parts:
            parts.durability_watch().tick()
        judge.delete(keys.DURABILITY)
        with app("worker") as parts:
            assert "'appendfsync' is 'everysec'" in parts.durability_watch().fault()
    finally:
        judge.config_set("appendfsync", "always")


def test_the_scheduler_runs_tournaments_with_its_own_rights(judge, valkey, tmp_path):
    hall = Hall(Bench(judge, tmp_path))
    hall.draft()
    hall.enter(3)
    settle(hall.side)
    judge.execute_command("ACL", "LOG", "RESET")
    with app_of("scheduler", valkey.url, tmp_path) as parts:
        parts.durability_watch().tick()
        hall.manager = TournamentManager(parts.store, parts.lanes, parts.data)
        hall.turn()
        assert len(hall.matches) == 3
        hall.lose(PLAYERS[0])
        hall.turn()
        left = WithdrawPlayer(account=PLAYERS[1], kind="silent", text=bytes(32))
        hall.must(ORGANISER, left)
        hall.turn()
    assert len(hall.state.reports) == 2
    assert all(hall.bench.state(one.board).over for one in hall.matches.values())
    denied: Any = judge.execute_command("ACL", "LOG")
    assert denied == []


NEVER_END = """
    {s07.a1y}:log {s07.a1y}:published {s07.a1y}:shown {s07.a1y}:archived {s07.a1y}:m:<board>:texts {s07.a1y}:draws
    {s07.a1y}:floor {s07.a1y}:boards {boards} {boards}:words {challenges}:links {site}:admission {site}:acts
    {clubs}:paths {club:<id>} {tournaments}:codes {tournaments}:texts {site}:masthead {site}:texts {site}:logo
    {boards}:shape {boards}:secrets {scrub} b b:5 {clock} {p:<name>}:live {p:<name>}:last {p:<name>}:losses {p:erased}
    {mail}:read {mail}:push:read {mail}:hooks:read {mail}:key
"""
"""Only the record, counters and what describes the data."""


def test_a_key_has_one_row_an_owner_an_end_and_roles_that_there_are() -> None:
    assert len(set(all_rows())) == len(KEYS)
    for key in KEYS:
        assert all((key.what, key.owner, key.end, key.growth)), key.name
        assert find_spec(key.owner) is not None, key.name
        roles = f"{key.roles.writers} {key.roles.readers}".split()
        assert ROLES.keys() >= set(roles), key.name
        assert roles or key.on_queue, key.name
    assert {key.name for key in KEYS if isinstance(key.end, Never)} == set(NEVER_END.split())


def test_the_row_of_a_key_is_found() -> None:
    rows = {
        "{s00.6id}:m:17": "{s07.a1y}:m:<board>",
        "{s00.6id}:m:17:out": "{s07.a1y}:m:<board>:out",
        "{p:lists:b2}:3:at": "{p:<name>:b<bucket>}:<generation>:at",
        "{p:lists:b2}:3:rows": "{p:<name>:b<bucket>}:<generation>:...",
        "{p:lists}:live": "{p:<name>}:live",
        "{lease:2/8}:held": "{lease:0/3}:held",
        "{s00}:log": None,
        "{s00.6id}:another": None,
    }
    assert {key: row_of(key, all_rows()) for key in rows} == rows
