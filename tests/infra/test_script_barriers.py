"""A script that one node did not know: the barriers of all nodes count."""

from typing import Any

import pytest
from redis.exceptions import NoScriptError

from infra.redis import scripts
from infra.redis.scripts import COMMIT, Call


def test_a_barrier_that_was_not_confirmed_stays_so_when_another_node_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[Call] = [(COMMIT, ["{a}"], []), (COMMIT, ["{b}"], [])]
    answers: list[list[Any]] = [
        # the node of the first call has no replica that has synced it; that of the second was promoted
        [b"first", NoScriptError("unknown"), [1, 0]],
        [b"second", [1, 1]],
    ]
    monkeypatch.setattr(scripts, "_send", lambda *_, **__: answers.pop(0))
    client: Any = None
    assert scripts.call_all(client, calls) == [b"first", b"second", [1, 0]]
