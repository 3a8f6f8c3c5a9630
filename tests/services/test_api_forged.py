"""Commands by those who may not give them; `trials/fuzz/forged.py` has the hundred thousand."""

from collections.abc import Iterator

import pytest

from tests.helpers.api import Api
from trials.fuzz.forged import REFUSALS, run


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.mark.long
@pytest.mark.slow
def test_two_thousand_forged_commands_leave_no_event(api):
    told = run(api, 2_000, seed=7)
    assert told.total() == 2_000
    assert {code for _, code in told} == REFUSALS
    assert len({kind for kind, _ in told}) == 12
