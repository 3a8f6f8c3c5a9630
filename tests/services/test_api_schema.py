"""A sample of `trials/fuzz/schema.py`, whose full count is in trials/testing.md."""

from collections.abc import Iterator

import pytest

from tests.helpers.api import Api
from trials.fuzz.schema import run


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.mark.long
@pytest.mark.timeout(900)  # some 2,000 requests one after the other, 40 s on a quiet machine
def test_what_schemathesis_asks_is_answered_as_the_document_promises(api):
    report = run(api, examples=2, seed=3)
    assert not report.failed, report.text
    assert report.statuses.total() > 1_500
    assert report.statuses["200"] > 200
    assert not [status for status in report.statuses if status >= "500"], report.text
