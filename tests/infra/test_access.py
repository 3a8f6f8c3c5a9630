"""Access control: each role has a user that can do its work and no more, as a real server judges it."""

from collections.abc import Iterator

import pytest
from redis import Redis

from infra.redis.access import ROLES, USER_PREFIX, acl_lines
from tests.helpers.key_patterns import all_rows

PASSWORDS = {name: f"password of {name}" for name in (*ROLES, "replica")}

FORBIDDEN = (
    "FLUSHALL", "FLUSHDB", "SHUTDOWN", "CONFIG SET appendfsync no", "CONFIG REWRITE", "DEBUG SLEEP 1", "KEYS *",
    "ACL SETUSER me on", "REPLICAOF NO ONE", "FUNCTION FLUSH", "SCRIPT FLUSH", "MONITOR", "CLIENT KILL 1.2.3.4:5",
    "SWAPDB 0 1", "RANDOMKEY", "MIGRATE h 1 k 0 1", "CLUSTER FAILOVER", "MODULE LIST", "BGREWRITEAOF",
)  # fmt: skip

HOLDER = "{a:0123456789abcdef}"
MATCH = "{s07.a1y}:m:17"

ALLOWED = {
    "web": [
        "{s07.a1y}:in",
        HOLDER,
        "{t:0f}",
        "{w:0f}",
        f"{MATCH}:chat",
        "{u:ann}",
        "{mail}:letters",
    ],
    "mail": ["{s07.a1y}:in", HOLDER],
    "mailer": ["{mail}:letters", HOLDER],
    "worker": ["{s07.a1y}:log", MATCH, "{boards}:secrets"],
    "side": ["{p:lists:b0}:1:at"],
    "publisher": ["{s07.a1y}:published", "{s07.a1y}:log"],
    "scheduler": ["{s07.a1y}:in", "{c:x}", "{clock}"],
    "robots": ["{s07.a1y}:in", "{robots}:failed"],
    "maintenance": ["{scrub}", "{p:lists:b0}:1:at", "{s07.a1y}:gone"],
}

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


@pytest.fixture
def judge(redis_client: Redis) -> Iterator[Redis]:
    """A client of a server that knows the users of the data."""
    for line in acl_lines(PASSWORDS, queue=False)[1:]:
        _, name, *rules = line.split(" ")
        redis_client.execute_command("ACL", "SETUSER", name, "reset", *rules)
    yield redis_client
    for name in (*ROLES, "replica"):
        redis_client.acl_deluser(f"{USER_PREFIX}{name}")


def may(judge: Redis, role: str, *words: str) -> bool:
    """Return whether the server would let a role send a command."""
    return bool(judge.execute_command("ACL", "DRYRUN", f"{USER_PREFIX}{role}", *words) == b"OK")


@pytest.mark.parametrize("role", sorted(ROLES))
def test_no_role_can_end_empty_or_change_a_server(role: str, judge: Redis) -> None:
    assert [words for words in FORBIDDEN if may(judge, role, *words.split())] == []


@pytest.mark.parametrize("role", sorted(ALLOWED))
def test_a_role_writes_its_own_keys_and_not_those_of_others(role: str, judge: Redis) -> None:
    assert [key for key in ALLOWED[role] if not may(judge, role, "SET", key, "1")] == []
    assert [key for key in DENIED[role] if may(judge, role, "SET", key, "1")] == []
    assert [key for key in DENIED[role] if may(judge, role, "EVALSHA", "0f", "1", key)] == []


@pytest.mark.parametrize("role", WITHOUT_PEOPLE)
def test_a_role_without_people_can_t_read_what_they_keep_to_themselves(
    role: str, judge: Redis
) -> None:
    # a worker reads the records of the players whose commands it decides
    readable = [HOLDER] if role == "worker" else []
    assert [key for key in SECRET if may(judge, role, "GET", key)] == readable
    assert may(judge, role, "GET", MATCH)


def test_every_key_of_the_data_is_written_by_a_role(judge: Redis) -> None:
    def written(row: str) -> bool:
        key = row.replace("<board>", "17").replace("<", "").replace(">", "")
        return any(may(judge, role, "SET", key, "1") for role in ALLOWED)

    on_queue = ("{lease:", "durable")
    by_operator = ("{boards}:upgrade",)
    rows = [row for row in all_rows() if not row.startswith((*on_queue, *by_operator))]
    assert [row for row in rows if not written(row)] == []


def test_passwords_are_only_shown_as_digests_and_the_default_user_is_off() -> None:
    for queue in (False, True):
        text = "\n".join(acl_lines(PASSWORDS, queue=queue))
        assert "password of" not in text
        assert text.startswith("user default off ")
