"""Export, verify and referee as an operator and a player use them, on a real `serve`."""

import json
from pathlib import Path

import pytest

from infra.log.key_files import read_public_keys
from tests.helpers.served import Served, until

pytestmark = pytest.mark.slow


@pytest.mark.long
def test_a_match_leaves_its_server_and_is_proved_without_it(tmp_path: Path):
    data = tmp_path / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as server:
        server.do(
            "signup alice mad-hatter",
            "signup bob yes-we-can",
            "powerdrain challenge alice bob --days=3",
            "pow2 challenge alice bob --days=3",
            "pow2 move 2 alice mad-hatter m13-j7",
        )
        assert server.run("do", "pow2 move 2 alice mad-hatter m1-i3").returncode == 1
        for board, moves in ((1, 0), (2, 1)):
            published = []

            def covered(board: int = board, published: list[str] = published) -> bool:
                done = server.run("export", str(board))
                assert (done.returncode, done.stderr) == (0, "")
                published[:] = [done.stdout]
                found = json.loads(done.stdout)
                return len(found["leaves"]) == len(found["log"]["proofs"])

            until(covered)
            (line,) = published
            assert line.count("\n") == 1
            assert json.loads(line)["board"] == board
            (tmp_path / f"{board}.json").write_text(line)
            judged = json.loads(server.run("referee", typed=line).stdout)
            assert (judged["ok"], judged["ply"]) == (True, moves)
            assert server.run("verify", "-", typed=line).returncode == 0
            assert server.run("verify", str(board)).returncode == 0
        assert server.run("export", "99").returncode == 1
    # the server is gone, and its data are nowhere to be seen
    (log_key, receipt_key) = (
        read_public_keys(data / "keys", name)[0] for name in ("log-key", "receipts-key")
    )
    keys = tmp_path / "keys.txt"
    keys.write_text(f"{log_key}\n{receipt_key}\n")
    elsewhere = Served(tmp_path / "nothing")
    for board in (1, 2):
        done = elsewhere.run("verify", str(tmp_path / f"{board}.json"), "--key", str(keys))
        assert (done.returncode, done.stderr) == (0, "")
        assert "covers all its leaves" in done.stdout
        assert done.stdout.endswith(f"match {board} of localhost holds\n")
    assert (
        "what was dealt follows from seed 1 of chain 1"
        in elsewhere.run("verify", str(tmp_path / "1.json")).stdout
    )
    assert (
        "1 refusal decided again with the same sentence"
        in elsewhere.run("verify", str(tmp_path / "2.json")).stdout
    )
    forged = (tmp_path / "2.json").read_text().replace('"m13-j7"', '"m13-m9"')
    done = elsewhere.run("verify", "-", typed=forged)
    assert done.returncode == 1
    assert "moves: move 1 is not the one that the events lead to" in done.stderr
    assert not (tmp_path / "nothing").exists()
