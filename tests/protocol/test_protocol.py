"""What other programs rely on is never taken from them; `protocol.py` says how to add to it."""

import json

import pytest

from tests.protocol.protocol import FILE, Protocol, broken, gather, merged


@pytest.fixture(scope="module")
def found() -> Protocol:
    return gather()


@pytest.fixture(scope="module")
def frozen() -> Protocol:
    return json.loads(FILE.read_text())


def test_nothing_that_was_promised_is_gone_or_changed(frozen, found):
    assert broken(frozen, found) == []


def test_what_is_new_is_promised_too(frozen, found):
    assert merged(frozen, found) == frozen, "run `python -m tests.protocol.protocol`"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"events": {"moved": ["ply", "move", "seat"]}}, "/events/moved"),
        ({"codes": {"busy": [2, 200]}}, "/codes/busy"),
        ({"routes": {}}, "/routes/GET /api/games"),
        ({"events": {}}, "/events/moved"),
    ],
)
def test_a_change_is_found(change, place):
    kept = {
        "events": {"moved": ["ply", "seat", "move"]},
        "codes": {"busy": [2, 503]},
        "routes": {"GET /api/games": {"id": "list_games"}},
    }
    assert place in broken(kept, kept | change)


def test_a_field_more_breaks_nobody():
    assert broken({"moved": ["ply"]}, {"moved": ["ply", "seat"], "ended": []}) == []
