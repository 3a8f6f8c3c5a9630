"""`matchpost arbiter`: arbiters are made, listed and dismissed."""

from collections.abc import Iterator

import pytest

from infra.redis import keys
from services.app.accounts import delete_account
from services.cli.arbiter import run
from tests.helpers.api import PASSWORD, Api


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("arbiters")) as api:
        yield api


def listed(api: Api, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert run("list", is_arbiter=True, settings=api.settings) == 0
    return capsys.readouterr().out.split()


def test_arbiters_are_listed_until_they_are_dismissed_or_deleted(api, capsys):
    for name in ("wilma", "fred", "barney"):
        api.player(name=name)
        assert run(name, is_arbiter=True, settings=api.settings) == 0
    assert listed(api, capsys) == ["barney", "fred", "wilma"]
    assert run("fred", is_arbiter=False, settings=api.settings) == 0
    assert listed(api, capsys) == ["barney", "wilma"]
    delete_account(api.parts, "wilma", PASSWORD)
    assert listed(api, capsys) == ["barney"]
    assert api.parts.data.scard(keys.ARBITERS) == 1
    assert run("nobody", is_arbiter=True, settings=api.settings) == 1
