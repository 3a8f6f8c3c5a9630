"""`serve` is replaced while it is played on: Valkey and the sockets stay, and no move is lost or waits for long."""

import os
import signal
import socket
from pathlib import Path

import httpx
import pytest

from infra.valkey.server import EmbeddedServer
from services.serve.sockets import KeptSockets, listen
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served, all_play, matches, state_of, until

LINK = "matchpost"


def log_of(served: Served) -> str:
    return (served.data.parent / "serve.log").read_text()


def replaced(served: Served, program: Path, target: Path, said: str) -> None:
    """Install another program, as an upgrade does, and have the server replace itself by it."""
    program.unlink()
    program.symlink_to(target)
    assert served.process is not None
    served.process.send_signal(signal.SIGUSR2)
    until(lambda: said in log_of(served))


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_server_is_replaced_under_its_players_and_goes_on_if_the_new_program_does_not_start(
    tmp_path,
):
    program = tmp_path / LINK
    program.symlink_to(SCRIPT)
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o700)
    env = {"MATCHPOST_HTTP": "127.0.0.1:0", "MATCHPOST_METRICS": "127.0.0.1:0"}
    with Served(tmp_path / "data", env, (str(program), "serve")) as served:
        pages = httpx.Client(base_url=served.url, trust_env=False, timeout=30)
        valkeys, roles = served.children("valkey-server"), served.children(" web ")
        pid = served.process and served.process.pid
        replaced(served, program, broken, "this program goes on, because the one in its place")
        assert served.children(" web ") == roles
        assert pages.get("/readyz").is_success

        players, threads = all_play(served, matches(2, 4))
        replaced(served, program, SCRIPT, "takes over; Valkey and the sockets stay")
        until(lambda: served.children(" web ") and not set(roles) & set(served.children(" ")))
        for thread in threads:
            thread.join()
        assert served.process is not None
        assert (served.process.pid, served.children("valkey-server")) == (pid, valkeys)
        # at the port that the old program was given
        assert pages.get("/readyz").is_success
        pages.close()
        assert all(len(player.acknowledged) == 5 for player in players)
        with served.client() as client:
            boards = [player.acknowledged[0][0].match for player in players]
            assert [state_of(client, board).ply for board in boards] == [4, 4]
        until(lambda: served.run("alive", "serve", "--ready").returncode == 0)
        assert "ALARM" not in log_of(served)
        assert served.end() == 0
    assert not any(Path(f"/proc/{one}").exists() for one in valkeys)


def test_a_server_that_was_left_goes_on_and_is_started_again_where_it_has_ended(tmp_path):
    before, after = EmbeddedServer(tmp_path), EmbeddedServer(tmp_path)
    before.start()
    left = before.hand_over()
    assert left is not None
    with before.client() as client:
        client.set("kept", "1")
    after.adopt(left)
    with after:
        assert (after.pid, after.url) == (before.pid, before.url)
        assert not os.get_inheritable(left.lock)
        after.kill()
        until(lambda: after.poll() is not None)
        assert after.poll() == -signal.SIGKILL
        assert after.hand_over() is None
        after.start()
        assert after.pid != left.pid
        with after.client() as client:
            assert client.get("kept") == b"1"
    assert before.hand_over() is None


def test_a_socket_is_kept_for_its_address_and_closed_where_the_settings_have_another():
    first = KeptSockets({})
    name = "MATCHPOST_HTTP"
    opened = first.open(name, "127.0.0.1:0", lambda: listen("127.0.0.1:0"))
    gone = first.open("MATCHPOST_SMTP", "127.0.0.1:0", lambda: listen("127.0.0.1:0"))
    place, other = opened.getsockname(), gone.getsockname()
    left = first.hand_over()
    assert set(left.values()) == {opened.detach(), gone.detach()}
    second = KeptSockets(left)
    with second.open(name, "127.0.0.1:0", lambda: pytest.fail("it is open")) as kept:
        assert kept.getsockname() == place
        second.close_unused()
        socket.create_connection(place).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(other)
        assert second.hand_over() == {f"{name}=127.0.0.1:0": kept.fileno()}
