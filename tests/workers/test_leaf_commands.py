"""Leaves of one command are never parted, in what is published and in what is restored."""

import pytest

from domain.match.events import SCHEMA, Resigned
from domain.match.history import (
    NO_HASH,
    AnchorLeaf,
    EventEnvelope,
    RefusedLeaf,
    encode_event,
    without_last_command,
)
from tests.helpers.given import ALICE


def event(match: int, command: int) -> bytes:
    body = Resigned(seat=0)
    place = (SCHEMA, match, 1, 0, b"%016d" % command, ALICE, NO_HASH)
    return encode_event(EventEnvelope(*place, body))


def refusal(command: int) -> bytes:
    return encode_event(RefusedLeaf(SCHEMA, 1, 0, b"%016d" % command, ALICE, "busy", None, None))


def anchor(chain: int) -> bytes:
    return encode_event(AnchorLeaf(SCHEMA, 0, chain, bytes(32)))


@pytest.mark.parametrize(
    ("leaves", "kept"),
    [
        ([event(1, 1), event(2, 2), event(2, 2)], 1),
        ([event(1, 1), event(1, 1), event(1, 2)], 2),
        ([event(1, 1), event(2, 1)], 1),
        ([event(1, 1), refusal(2)], 1),
        ([refusal(1), anchor(1)], 1),
        ([event(1, 1), event(1, 1)], 2),
        ([event(1, 1), b"damaged"], 1),
        ([b"damaged", event(1, 1)], 1),
    ],
)
def test_the_last_command_is_left_for_later(leaves: list[bytes], kept: int) -> None:
    assert without_last_command(leaves) == leaves[:kept]
