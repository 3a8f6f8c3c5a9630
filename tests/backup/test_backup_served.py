"""Backups and what else may come back: made during play, tried, restored elsewhere, and never a second history of a log.

That data which have gone back are restored is also tried by `trials/faults/log_kills.py`.
"""

import os
import re
import shutil
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from pyrage import x25519
from redis.exceptions import RedisError, ResponseError

from infra.backup.fetching import fetched_data
from infra.backup.notes import BackupPlace
from infra.backup.port import BackupError
from infra.durability.durability import Mode, replica_fault
from infra.durability.replicas import read_replicas
from infra.log.checkpoint import open_checkpoint
from infra.log.key_files import read_public_keys
from infra.log.names import origin, shard_key
from infra.log.signed_note import NoteError
from infra.redis import keys
from infra.redis.clients import make_client
from infra.store.closed_shards import ClosedKind, ClosedShards
from infra.valkey.server import EmbeddedServer
from tests.helpers.clusters import DURABLE, Node, free_ports
from tests.helpers.own_servers import (
    ENV,
    KINDS,
    SHARDS,
    Played,
    is_published,
    one_server,
    own_servers,
)
from tests.helpers.s3 import s3_server
from tests.helpers.served import Served, all_play, matches, until


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path / "data", ENV) as served:
        with served.client() as client:
            client.set(keys.BOARDS, 1_000)  # the planned games choose their boards by themselves
        yield served


def leaves(served: Served) -> int:
    with served.client() as client:
        return sum(client.xlen(keys.log(shard)) for shard in range(SHARDS))


def until_published(served: Served) -> None:
    with served.client() as client:
        until(lambda: is_published(client))


def play(served: Served, count: int, plies: int) -> None:
    """Play so many plies of as many games, which are always the same."""
    for thread in all_play(served, matches(count, plies))[1]:
        thread.join()


def places(folder: Path) -> tuple[str, str]:
    """Where the backups are, and their keys."""
    return str(folder / "backups"), str(folder / "apart")


def verified(served: Served) -> str:
    until_published(served)
    done = served.run("verify", "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.slow
def test_a_backup_during_play_with_a_worker_killed_holds_and_is_restored(served, tmp_path):
    target, apart = places(tmp_path)
    _, threads = all_play(served, matches(4, 40))
    until(lambda: leaves(served) > 20)
    killed = served.children("worker")
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    done = served.run("backup", target, "--keys-to", apart)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"tried: all \d+ matches? holds?: ", done.stdout), done.stdout
    for thread in threads:
        thread.join()
    assert killed
    assert "the last backup that was tried is" in served.run("doctor").stdout
    again = served.run("backup", target, "--keys-to", apart)
    assert "tried: all 4 matches hold: 164 events" in again.stdout, again.stdout + again.stderr
    before = leaves(served)
    until_published(served)
    served.end()
    assert not any(b"PRIVATE+KEY" in f.read_bytes() for f in (tmp_path / "backups").rglob("*/*/*"))

    other = Served(tmp_path / "again")
    refused = other.run("restore", target, "--keys-from", apart)
    assert refused.returncode == 1
    assert "what was published later can't be known from it" in refused.stderr
    assert not (tmp_path / "again").exists()
    restored = other.run("restore", target, "--keys-from", apart, "--same-log")
    assert restored.returncode == 0, restored.stderr
    with other:
        assert leaves(other) == before
        assert "all 4 matches hold: 164 events" in verified(other)
        log = (tmp_path / "serve.log").read_text()
        assert "ALARM" not in log.rpartition("stopped; everything accepted is kept")[2]
    repeated = other.run("restore", target, "--same-log")
    assert repeated.returncode == 1
    assert "is not empty" in repeated.stderr


@pytest.mark.long
@pytest.mark.slow
def test_a_restored_server_whose_log_was_lost_signs_no_second_history(served, tmp_path):
    target, apart = places(tmp_path)
    play(served, 2, 6)
    assert served.run("backup", target, "--keys-to", apart, "--no-try").returncode == 0
    play(served, 2, 16)  # the same games, and ten plies more
    until_published(served)
    signed = leaves(served)
    served.end()
    old = read_public_keys(tmp_path / "data" / "keys")

    other = Served(tmp_path / "again", ENV)
    done = other.run("restore", target, "--keys-from", apart, "--new-log", "b.example.org")
    assert done.returncode == 0, done.stderr
    assert "the log goes on as b.example.org/log" in done.stdout
    with other:
        kept = leaves(other)
        assert kept < signed
        play(other, 4, 8)
        assert "all 4 matches hold" in verified(other)
        assert leaves(other) > kept
    new = read_public_keys(tmp_path / "again" / "keys")
    assert [key.name for key in new] == ["b.example.org/log"]
    for shard in range(SHARDS):
        note = (tmp_path / "again" / "log" / f"s{shard:02}" / "checkpoint").read_bytes()
        with pytest.raises(NoteError):
            open_checkpoint(
                note, origin(old[0].name, shard), [shard_key(key, shard) for key in old]
            )
        name = origin("b.example.org/log", shard)
        assert open_checkpoint(note, name, [shard_key(key, shard) for key in new]).size
    mirror = str(tmp_path / "again" / "log")
    key = str(tmp_path / "again" / "keys" / "log-key.pub")
    checked = other.run("verify", "--mirror", mirror, "--key", key)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.long
@pytest.mark.slow
def test_serve_makes_the_backups_of_its_settings_and_those_that_are_asked_for(tmp_path):
    env = {**ENV, "MATCHPOST_BACKUP": str(tmp_path / "backups")}
    place = BackupPlace(tmp_path / "data")
    with Served(tmp_path / "data", env) as served:
        until(lambda: place.read().tried)
        first = place.read()
        assert first.tried == first.made
        assert first.found.startswith("there is no match: ")
        assert "the last backup that was tried is" in served.run("doctor").stdout
        place.ask()
        until(lambda: place.read().tried > first.tried)
        assert not place.is_asked
        until(lambda: not place.is_busy())
        # a place that can't be used any more is a finding, and no end of the server
        shutil.rmtree(tmp_path / "backups")
        (tmp_path / "backups").write_text("no folder")
        place.ask()
        until(lambda: place.read().fault)
        found = served.run("doctor")
        assert found.returncode == 1
        assert "the last backup was not made, or does not hold" in found.stdout
        until(lambda: "ALARM: the backup was not made" in (tmp_path / "serve.log").read_text())


@pytest.mark.long
@pytest.mark.slow
def test_an_encrypted_backup_at_a_cloud_is_tried_and_restored(served, tmp_path):
    operator = x25519.Identity.generate()
    (tmp_path / "operator").write_text(f"{operator}\n")
    play(served, 2, 6)
    with s3_server() as url:
        cloud = {
            "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1",
        }  # fmt: skip
        served.env |= cloud
        target, apart = "s3://matches/backups", "s3://matches/apart"
        to = ("--keys-to", apart, "--encrypt-to", str(operator.to_public()))
        done = served.run("backup", target, *to)
        assert "tried: all 2 matches hold: 14 events" in done.stdout, done.stdout + done.stderr
        served.end()
        other = Served(tmp_path / "again", {**ENV, **cloud})
        words = ("restore", target, "--keys-from", apart, "--same-log")
        refused = other.run(*words)
        assert "are encrypted: name the file of your age key" in refused.stderr
        identity = ("--identity", str(tmp_path / "operator"))
        listed = other.run("restore", target, "--list", *identity)
        assert re.fullmatch(r"\d{8}T\d{6}Z  .* files, .* MiB\n", listed.stdout), listed.stderr
        restored = other.run(*words, *identity)
        assert restored.returncode == 0, restored.stderr
    with other:
        assert "all 2 matches hold: 14 events" in verified(other)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_during_play_holds_and_leads_to_another_server_of_ones_own(tmp_path, kind):
    place, apart = str(tmp_path / "backups"), str(tmp_path / "apart")
    with own_servers(kind, tmp_path / "first") as first:
        url = first["MATCHPOST_REDIS_URL"]
        env = ENV | first | {"MATCHPOST_BACKUP": place, "MATCHPOST_BACKUP_KEYS": apart}
        notes = BackupPlace(tmp_path / "data")
        with Served(tmp_path / "data", env) as served:
            until(lambda: notes.read().tried)  # the first one of `serve`
            played = Played(served, make_client(url))
            played.play(5)
            until(lambda: not notes.is_busy())
            done = served.run("backup")
            assert done.returncode == 0, done.stdout + done.stderr
            assert "tried: all 1 matches hold: 7 events" in done.stdout
            assert "the last backup that was tried is" in served.run("doctor").stdout
            assert not notes.fetched.exists()
            with make_client(url) as client:
                until(lambda: is_published(client))
    # all is lost but the backup and the published log
    back = Served(tmp_path / "back", ENV)
    log = str(tmp_path / "data" / "log")
    refused = Served(tmp_path / "back", ENV | first).run("restore", place, "--log", log)
    assert "and run `matchpost move-to` with the URL afterwards" in refused.stderr
    restored = back.run("restore", place, "--keys-from", apart, "--log", log)
    assert restored.returncode == 0, restored.stderr
    with one_server(tmp_path / "second") as second:
        moved = back.run("move-to", second.url)
        assert moved.returncode == 0, moved.stdout + moved.stderr
        again = Served(tmp_path / "back", ENV | {"MATCHPOST_REDIS_URL": second.url})
        with again, make_client(second.url) as client:
            played.go_to(again)
            played.play()
            assert played.players[0].match(played.board)["state"] == "over"
            until(lambda: is_published(client))
            verified = again.run("verify", "--all").stdout
            assert re.match(r"all 1 matches hold: \d+ events", verified), verified
    assert "ALARM" not in (tmp_path / "serve.log").read_text()
    played.close()


# data of another history, with a published log that they contradict


Orders = tuple[tuple[str, str], ...]
ORDERS: Orders = (("alice", "m13-m9"), ("alice", "m13-m9"), ("bob", "m1-m5"))
"""A move, one that is refused because it is not the player's turn, and an illegal one."""


class Visitor:
    """A client of a running server, with tokens of two players."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        asked = {"password": "yes-we-can", "label": "t", "scopes": ["play"]}
        self._tokens = {
            name: self.http.post("/api/tokens", json=asked | {"userid": name}).json()["token"]
            for name in ("alice", "bob")
        }

    def play(self, orders: Orders = ORDERS) -> list[tuple[int, object, object]]:
        """Send moves, each with the same key whenever it is sent; return what came of them."""
        answers = []
        for number, (player, text) in enumerate(orders):
            headers = {
                "Idempotency-Key": f"key-{number:012}-{text}",
                "Authorization": f"Bearer {self._tokens[player]}",
            }
            asked = {"do": "move", "move": text}
            answer = self.http.post("/api/matches/1/commands", json=asked, headers=headers)
            body = answer.json()
            answers.append((answer.status_code, body.get("code"), body.get("seq")))
        return answers

    def match(self) -> dict[str, object]:
        """The match as the API shows it, without the present time."""
        found: dict[str, object] = self.http.get("/api/matches/1").json()
        return {name: value for name, value in found.items() if name != "clock"}


@contextmanager
def visit(served: Served) -> Iterator[Visitor]:
    with httpx.Client(base_url=served.url, trust_env=False, timeout=30) as http:
        yield Visitor(http)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_data_of_another_history_are_closed_and_shown_and_nothing_is_signed(served, tmp_path):
    data = tmp_path / "data"
    with served.client() as client:
        client.set(keys.BOARDS, 0)
    served.do("signup alice yes-we-can", "signup bob yes-we-can", "pow2 challenge alice bob")
    until_published(served)
    served.end()
    shutil.copytree(data / "valkey", tmp_path / "copy")
    served.start()
    with visit(served) as visitor:
        outcomes, published = visitor.play(), visitor.match()
    until_published(served)
    served.end()
    shutil.rmtree(data / "valkey")
    shutil.copytree(tmp_path / "copy", data / "valkey")
    # a server that does not know the published log plays on
    for name in ("log", "keys"):
        shutil.move(data / name, tmp_path / name)
    with Served(data, ENV) as other, visit(other) as visitor:
        visitor.play((("alice", "m13-j7"), ("alice", "m13-j7"), ("bob", "m1-m5")))
        state = visitor.match()
    for name in ("log", "keys"):
        shutil.rmtree(data / name, ignore_errors=True)
        shutil.move(tmp_path / name, data / name)
    checkpoint = (data / "log" / "s01" / "checkpoint").read_bytes()
    served.start()
    with served.client() as client:
        until(lambda: 1 in ClosedShards(client).read(range(SHARDS)), 60)
        assert ClosedShards(client).read([1])[1].kind is ClosedKind.FORKED
    with visit(served) as visitor:
        assert visitor.match() == state
        assert visitor.play((("alice", "m13-m9"),))[0][:2] == (503, "unavailable")
        assert visitor.http.get("/readyz").status_code == 503
    assert "shard 1 is closed: leaf 1 in the data is not the one" in served.run("doctor").stdout
    assert (data / "log" / "s01" / "checkpoint").read_bytes() == checkpoint
    shown = served.run("log", "discard", "1")
    assert "leaves 1 to 3 of the data are discarded, of the matches 1" in shown.stdout, shown.stderr
    assert served.run("log", "discard", "0", "--yes").returncode == 1
    assert served.run("log", "discard", "1", "--yes").returncode == 0
    with served.client() as client:
        until(lambda: not ClosedShards(client).read(range(SHARDS)), 90)
    with visit(served) as visitor:
        assert visitor.match() == published
        assert visitor.play() == outcomes
    assert "match 1 holds" in served.run("verify", "1").stdout


# the copy of a server of one's own


@pytest.mark.parametrize("diskless", ["yes", "no"])
def test_a_dump_is_what_a_server_had_and_is_no_replica(tmp_path: Path, diskless: str):
    node = Node(tmp_path / "node", free_ports(1)[0], DURABLE | {"repl-diskless-sync": diskless})
    node.configure({"repl-diskless-sync-delay": "0"})
    node.start()
    with node.client() as client:
        for at in range(300):
            client.set(f"key-{at}", bytes(range(256)) * 400)
        client.set("ends", 1, px=3_600_000)
        with make_client(node.url) as ours, fetched_data(ours, tmp_path / "fetched") as folder:
            assert client.info("replication")["connected_slaves"] == 0
            client.set("later", 1)
            for _ in range(2):  # what is written to the copy is there at its next start
                with EmbeddedServer(folder) as server, server.client() as copy:
                    assert copy.dbsize() == 301 + copy.exists("more")
                    assert copy.get("key-299") == bytes(range(256)) * 400
                    assert copy.pexpiretime("ends") == client.pexpiretime("ends")
                    copy.set("more", 1)
        assert not (tmp_path / "fetched").exists()
    node.kill()


def test_a_server_that_hands_out_nothing_is_named(tmp_path: Path):
    with one_server(tmp_path / "node") as node, node.client() as client:
        client.acl_setuser(
            "weak", enabled=True, passwords=["+x"], keys=["*"], commands=["+@all", "-psync"]
        )
        url = f"redis://weak:x@127.0.0.1:{node.port}"
        with (
            make_client(url) as ours,
            pytest.raises(BackupError, match="its user needs the commands psync and replconf"),
            fetched_data(ours, tmp_path / "fetched"),
        ):
            pytest.fail("nothing was fetched")
        assert not (tmp_path / "fetched").exists()


def test_who_copies_a_server_counts_as_no_replica_meanwhile(tmp_path: Path):
    node = Node(tmp_path / "node", free_ports(1)[0], DURABLE | {"repl-diskless-sync-delay": "2"})
    node.start()
    with node.client() as client, make_client(node.url) as ours, ThreadPoolExecutor(1) as pool:
        client.set("key", 1)

        def fetch() -> int:
            with fetched_data(ours, tmp_path / "fetched"):
                return 1

        done = pool.submit(fetch)
        until(lambda: client.info("replication")["connected_slaves"])
        information = client.info()
        assert read_replicas(information) == []
        assert replica_fault(information, Mode.FSYNC) == ""
        client.set("other", 1)
        assert client.waitaof(1, 1, 100) == [1, 0]
        client.config_set("min-replicas-to-write", 1)
        with pytest.raises(ResponseError, match="NOREPLICAS"):
            client.set("third", 1)
        assert done.result(30) == 1
    node.kill()


@pytest.mark.parametrize(
    "sent", [b"$100\r\nabc", b"\n\n$EOF:" + b"m" * 40 + b"\r\nabc" + b"m" * 39, b"\n"]
)
def test_a_server_that_is_lost_while_it_is_copied_is_no_backup(tmp_path: Path, sent: bytes):
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                for answer in (b"+PONG\r\n", b"+OK\r\n", b"+OK\r\n", b"+FULLRESYNC x 0\r\n" + sent):
                    assert connection.recv(200)
                    connection.sendall(answer)

        served = pool.submit(serve)
        url = f"redis://127.0.0.1:{server.getsockname()[1]}"
        with (
            make_client(url) as ours,
            pytest.raises(RedisError, match="was lost while it was copied: the connection ended"),
            fetched_data(ours, tmp_path / "fetched"),
        ):
            pytest.fail("a part was taken for all")
        served.result(10)
        assert not (tmp_path / "fetched").exists()
