"""Pairing from outside over HTTP: what a program sends and reads, and the script of docs/api.md."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from infra.people.clubs import ClubRole
from tests.helpers.api import Api, Player, code_of

PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def club_of(api: Api, organiser: Player, members: list[Player]) -> str:
    """The path of a club whose organiser may pair its members."""
    clubs = api.parts.clubs
    club = clubs.found(f"Club {organiser.name}", organiser.account)
    clubs.change(replace(club, pairs_members=True))
    for one in members:
        clubs.put_member(club, one.account, ClubRole.MEMBER)
    return club.path


def batch(path: str, *pairs: tuple[Player, Player], **more: Any) -> dict[str, Any]:
    pairings = [
        {"players": [first.name, second.name], "label": f"board {n}"}
        for n, (first, second) in enumerate(pairs, 1)
    ]
    return {"club": path, "game": "goliath", "terms": ["--days=3"], "pairings": pairings} | more


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def test_a_batch_starts_once_for_its_key_and_is_listed_with_its_results(api: Api) -> None:
    organiser, a, b, c = api.players(4)
    body = batch(club_of(api, organiser, [a, b, c]), (a, b), (b, c))
    first, again = (organiser.post("/api/pairings", body, headers=keyed("round 1")) for _ in "12")
    assert first.status_code == 200, first.text
    assert first.json() == again.json()
    assert (first.json()["key"], first.json()["started"]) == ("round 1", True)
    boards = [one["board"] for one in first.json()["pairings"]]
    other = organiser.post("/api/pairings", body | {"game": "torere"}, headers=keyed("round 1"))
    assert code_of(other) == "id-reused"
    a.give(boards[0], {"do": "resign"})
    listed = organiser.get("/api/pairings/round 1").json()
    assert listed["source"] == f"club {body['club']}"
    assert listed["pairings"] == [
        {
            "board": boards[0],
            "label": "board 1",
            "players": [a.name, b.name],
            "state": "over",
            "result": {"winners": [1], "reason": "resignation"},
            "seq": 3,
        },
        {
            "board": boards[1],
            "label": "board 2",
            "players": [b.name, c.name],
            "state": "active",
            "result": None,
            "seq": 1,
        },
    ]
    assert code_of(a.get("/api/pairings/round 1")) == "not-found"


def test_a_batch_is_charged_by_its_matches_and_a_repetition_is_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with Api(tmp_path_factory.mktemp("rate"), command_rate=8) as api:
        organiser, a, b = api.players(3)
        path = club_of(api, organiser, [a, b])
        body = batch(path, *[(a, b)] * 6)
        first, again = (organiser.post("/api/pairings", body, headers=keyed("one")) for _ in "12")
        assert first.is_success
        assert again.json() == first.json()
        answer = organiser.post("/api/pairings", body, headers=keyed("two"))
        assert code_of(answer) == "too-fast"
        assert code_of(organiser.get("/api/pairings/two")) == "not-found"


def test_the_script_of_the_page_pairs_a_table_and_prints_results(api: Api, tmp_path: Path) -> None:
    page = PAGE.read_text()
    (script,) = re.findall(r"```python\n(import csv.*?)```", page, re.DOTALL)
    assert len(script.splitlines()) <= 30
    organiser, a, b, c = api.players(4)
    path = club_of(api, organiser, [a, b, c])
    table = tmp_path / "round3.csv"

    def run(key: str) -> subprocess.CompletedProcess[str]:
        words = (f"{api.url}/api", organiser.token, path, key, str(table))
        environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        return subprocess.run(
            [sys.executable, "-c", script, *words],
            capture_output=True,
            text=True,
            timeout=60,
            env=environ,
            check=False,
        )

    table.write_text(
        f'label,first,second\n"Round 3, board 1",{a.name},{b.name}\nB2,{c.name},{a.name}\n'
    )
    ran = run("round 3")
    assert ran.returncode == 0, ran.stderr
    lines = [line.split("\t") for line in ran.stdout.splitlines()]
    assert [(line[0], line[2]) for line in lines] == [
        ("Round 3, board 1", "active"),
        ("B2", "active"),
    ]
    a.give(int(lines[0][1]), {"do": "resign"})
    ran = run("round 3")
    assert ran.stdout.splitlines()[0] == f"Round 3, board 1\t{lines[0][1]}\tover\t{b.name}"
    table.write_text(f"label,first,second\nB1,{a.name},nobody-here\n")
    ran = run("round 4")
    assert (ran.returncode, ran.stderr) == (
        1,
        "B1: there is no user 'nobody-here'; check the spelling\n",
    )
