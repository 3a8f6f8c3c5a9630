"""Backups of a server of one's own, a pair and a cluster: made during play, tried, restored, and moved on again."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis.exceptions import RedisError, ResponseError

from infra.backup.fetching import fetched_data
from infra.backup.notes import BackupPlace
from infra.backup.port import BackupError
from infra.durability.durability import Mode, replica_fault
from infra.durability.replicas import read_replicas
from infra.redis.clients import make_client
from infra.valkey.server import EmbeddedServer
from tests.helpers.clusters import DURABLE, Node, free_ports
from tests.helpers.own_servers import ENV, KINDS, Played, is_published, one_server, own_servers
from tests.helpers.served import Served, until


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
