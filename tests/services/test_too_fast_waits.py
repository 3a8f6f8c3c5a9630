"""A sender over a limit waits for the answer, and so has less effect on others."""

from pathlib import Path

import pytest

from services.http import middleware
from tests.helpers.api import Api


def test_only_an_answer_that_a_limit_is_exceeded_comes_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = []

    async def pause() -> None:
        pauses.append(1)

    monkeypatch.setattr(middleware, "pause", pause)
    with Api(tmp_path, address_rate=3) as api:
        statuses = [api.http.get("/api/games").status_code for _ in range(5)]
    assert statuses.count(200) > 0
    assert statuses.count(429) == len(pauses) > 0
