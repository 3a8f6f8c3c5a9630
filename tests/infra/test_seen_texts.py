"""Which browsers with texts for a sealed deal were seen, and what the drain makes of it."""

from hashlib import sha256

import pytest
from redis import Redis

from domain.fairness import Commitment
from domain.match.commands import CommandEnvelope, DeclineMatch, FlagPlayer
from domain.match.events import SERVER_ACCOUNT, AccountId, DealProposed, Sealed
from domain.match.evolve import evolve
from domain.match.state import MatchState, initial
from infra.people.account_lists import SeenTexts
from infra.redis import keys
from workers.commands.handle import StartContexts

ALICE, BOB = (bytes([number]) * 8 for number in (0xA1, 0xB0))
NOW, DAY = 1_700_000_000_000, 86_400_000
BOARD = 17


@pytest.fixture
def seen(redis_client: Redis) -> SeenTexts:
    return SeenTexts(redis_client)


def sealed() -> MatchState:
    """A match of Halves whose deal waits for both players' texts."""
    own = tuple(Commitment(sha256(name).digest()) for name in (b"alice", b"bob"))
    proposed = DealProposed(
        rules="halves/1", options=(), seats=(ALICE, BOB), text=b"", commitments=own,
        lapse=14 * DAY, server_deals=False,
    )  # fmt: skip
    state = evolve(initial(), proposed, NOW)
    return evolve(state, Sealed(chain=0, k=0, waits=(0, 1)), NOW)


def test_a_seat_is_seen_for_one_match_and_for_as_long_as_browsers_keep_texts(seen, redis_client):
    assert seen.unseen(BOARD, (ALICE, BOB), (0, 1)) == {0, 1}
    seen.note(ALICE, [BOARD], NOW)
    seen.note(BOB, [], NOW)
    assert seen.unseen(BOARD, (ALICE, BOB), (0, 1)) == {1}
    assert seen.unseen(BOARD + 1, (ALICE, BOB), (0, 1)) == {0, 1}
    assert 0 < redis_client.ttl(keys.seen_texts(ALICE)) <= 90 * 86_400
    seen.note(ALICE, [BOARD + 1], NOW + 91 * DAY)
    assert seen.unseen(BOARD, (ALICE,), (0,)) == {0}
    seen.forget(ALICE)
    assert not redis_client.exists(keys.seen_texts(ALICE))


def test_the_newest_notes_are_kept(seen, redis_client):
    for board in range(1, 600):
        seen.note(ALICE, [board], NOW + board)
    assert redis_client.zcard(keys.seen_texts(ALICE)) == 500
    assert not seen.unseen(599, (ALICE,), (0,))


@pytest.mark.parametrize(
    ("actor", "command"),
    [
        (ALICE, DeclineMatch()),
        (SERVER_ACCOUNT, FlagPlayer(ply=0)),
    ],
)
def test_the_drain_tells_a_decision_whose_text_was_not_seen(
    seen: SeenTexts, redis_client: Redis, actor: AccountId, command: DeclineMatch
) -> None:
    contexts = StartContexts(None, redis_client)
    sent = CommandEnvelope(BOARD, bytes(16), actor, command)
    state = sealed()

    def unseen() -> frozenset[int]:
        found = contexts.context_of(0, sent, state, NOW)
        assert found is not None
        return found.unseen

    assert unseen() == {0, 1}
    seen.note(ALICE, [BOARD], NOW)
    assert unseen() == {1}
