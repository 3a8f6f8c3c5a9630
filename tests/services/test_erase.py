"""`matchpost erase`: an operator erases one text, and the match still holds."""

from collections.abc import Iterator

import pytest

from domain.errors import Code, Refusal
from services.cli.erase import run
from services.cli.verify import run as verify
from tests.helpers.api import Api


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("erase")) as api:
        yield api


def test_one_text_is_erased_once_it_was_shown_whose_it_is(api, capsys):
    alice, bob = api.players()
    board = api.match(alice, bob)
    alice.post(f"/api/matches/{board}/claim", {"ply": 0, "text": "an insult"})
    assert run(str(board), 2, yes=False, settings=api.settings) == 0
    assert f"by {alice.name} at" in capsys.readouterr().out
    assert len(api.parts.statements.of_match(board)) == 1
    assert run(str(board), 2, yes=True, settings=api.settings) == 0
    assert "its hash stays" in capsys.readouterr().out
    (case,) = bob.get(f"/api/matches/{board}/cases").json()["cases"]
    assert (case["events"][0]["text"], case["events"][0]["salt"]) == (None, "")
    assert verify(str(board), settings=api.settings) == 0


@pytest.mark.parametrize("event", [0, 1, 3])
def test_an_event_without_a_text_is_refused(api, event):
    board = api.match(*api.players())
    with pytest.raises(Refusal) as caught:
        run(str(board), event, yes=True, settings=api.settings)
    assert caught.value.code == Code.NOT_FOUND
