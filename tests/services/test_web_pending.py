"""The pages of a server that promises nothing: a move is pending and never accepted."""

from pathlib import Path

import pytest

from infra.durability.durability import Mode
from tests.helpers.api import Api
from tests.helpers.web import Guest


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "part"])
def test_a_page_says_that_a_move_is_pending_where_nothing_is_promised(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    with Api(tmp_path, durability=Mode.NONE) as api, Guest(api) as guest:
        one, other = api.players()
        begun = one.post("/api/matches", {"game": "pow2", "players": [one.name, other.name]})
        board = int(begun.headers["Location"].split("/")[3])
        guest.log_in(one.name)
        move = {"do": "move", "move": "m13-j7"}
        answer = guest.send(f"/m/{board}/act", move, on=f"/m/{board}", headers=headers)
        assert answer.status_code == 202
        assert "durability none this is never more than pending" in answer.text
        assert "That did not work" not in answer.text
        assert answer.headers["Retry-After"] == "1"
        assert api.http.get(f"/api/matches/{board}").json()["ply"] == 1
