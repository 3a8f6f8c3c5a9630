"""Drafts, notes, statements, waiting starts and seen texts: kept beside an account, and gone with it."""

import itertools
import random
from hashlib import sha256

import pytest
from redis import Redis

from domain.errors import Code
from domain.fairness import Commitment
from domain.match.commands import CommandEnvelope, DeclineMatch, FlagPlayer
from domain.match.events import DealProposed, Sealed
from domain.match.evolve import evolve
from domain.match.state import MatchState, initial
from domain.records import SERVER_ACCOUNT
from infra.people.drafts import KEPT_SECONDS, Draft, Drafts
from infra.people.match_notes import MOST_NOTES, Notes, notes_key
from infra.people.pending_starts import MOST_BETWEEN_TWO, MOST_STARTS, PendingStart, PendingStarts
from infra.people.seen_texts import SeenTexts
from infra.people.statements import Statements
from infra.people.texts import TEXT_LIMIT
from infra.redis import keys
from tests.helpers.examples import refused
from tests.helpers.proposals import ALICE, BOB, CAROL
from workers.commands.handle import StartContexts

BOARD, SHARDS = 17, 4
NOW, DAY = 1_700_000_000_000, 86_400_000
ONE, OTHER = bytes([1]) * 16, bytes([2]) * 16
NO_TEXTS = [("x" * (TEXT_LIMIT + 1), Code.TOO_LONG), ("a\x00b", Code.BAD_REQUEST)]


def command(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_a_start_that_an_earlier_version_noted_is_read(starts, redis_client):
    values = {
        command(1).hex(): f"1000:1:{BOB.hex()}:{CAROL.hex()}",
        command(2).hex(): f"2000:0:{BOB.hex()}",
    }
    redis_client.hset(keys.pending_starts(ALICE), mapping=values)
    redis_client.hset(keys.matches_with_robots(ALICE), command(3).hex(), "3000:0")
    one = PendingStart(command(1), 1_000, (BOB, CAROL))
    assert starts.of(ALICE) == [one, PendingStart(command(2), 2_000, (BOB,))]
    assert starts.with_robots.of(ALICE) == [PendingStart(command(3), 3_000, ())]
    assert starts.add(ALICE, command(4), [BOB]) == ""
    assert starts.add(ALICE, command(5), [BOB]) == BOB.hex()


def test_three_against_one_other_and_twenty_in_all_and_a_repetition_is_none(starts):
    for number in range(MOST_BETWEEN_TWO):
        assert starts.add(ALICE, command(number), [BOB]) == ""
    assert starts.add(ALICE, command(99), [CAROL, BOB]) == BOB.hex()
    assert starts.add(ALICE, command(0), [BOB]) == ""
    assert starts.add(ALICE, command(99), [CAROL]) == ""
    assert starts.add(BOB, command(99), [ALICE]) == ""
    starts.remove(ALICE, [command(0), command(77)])
    starts.remove(ALICE, [])
    assert starts.add(ALICE, command(10), [BOB]) == ""
    assert len(starts.of(ALICE)) == MOST_BETWEEN_TWO + 1
    for number in range(20, 20 + MOST_STARTS - MOST_BETWEEN_TWO - 1):
        other = (number // MOST_BETWEEN_TWO).to_bytes(8, "big")
        assert starts.add(ALICE, command(number), [other]) == ""
    assert starts.add(ALICE, command(100), [bytes(8)]) == "all"
    assert starts.add(ALICE, command(10), [bytes(8)]) == ""


def sealed() -> MatchState:
    """A match of Halves whose deal waits for both players' texts."""
    own = tuple(Commitment(sha256(name).digest()) for name in (b"alice", b"bob"))
    proposed = DealProposed(
        rules="halves/1", options=(), seats=(ALICE, BOB), text=b"", commitments=own,
        lapse=14 * DAY, server_deals=False,
    )  # fmt: skip
    state = evolve(initial(), proposed, NOW)
    return evolve(state, Sealed(chain=0, k=0, waits=(0, 1)), NOW)


def test_a_seat_is_seen_for_one_match_and_for_as_long_as_browsers_keep_texts(redis_client):
    seen = SeenTexts(redis_client)
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


def test_drafts_are_those_of_a_plain_model(client, new_id):
    """The newest a player and match; a command that comes again changes nothing, also after a drop."""
    ticks = itertools.count(NOW)
    drafts = Drafts(client, lambda: SHARDS, lambda: next(ticks))
    chance = random.Random(7)
    model: dict[tuple[int, bytes], Draft | None] = {}
    given: dict[tuple[int, bytes], list[bytes]] = {}
    puts = 0
    for step in range(400):
        place = chance.choice([7, 8, 7 + SHARDS]), chance.choice([ALICE, BOB])
        known = given.setdefault(place, [])
        match chance.choice(["drop", "repeat", "put", "put"]):
            case "drop":
                drafts.drop(*place)
                model[place] = None
            case "repeat" if known:
                drafts.put(*place, "again", 99, chance.choice(known[-8:]))
                puts += 1
            case _:
                known.append(new_id())
                drafts.put(*place, f"move {step}", step, known[-1])
                model[place] = Draft(f"move {step}", step, NOW + puts)
                puts += 1
        assert {place: drafts.get(*place) for place in model} == model


def test_drafts_live_in_the_slot_of_their_match_for_thirty_days_after_the_newest(client, new_id):
    drafts = Drafts(client, lambda: SHARDS)
    before = client.time()[0] * 1000
    for _ in range(50):
        drafts.put(7, ALICE, "a1-b2", 3, new_id())
    assert before <= drafts.get(7, ALICE).at <= client.time()[0] * 1000 + 999
    assert client.hlen("{s03.2p}:m:7:draft") == 2
    assert client.hstrlen("{s03.2p}:m:7:draft", f"{ALICE.hex()}:ids") == 8 * 16
    client.expire("{s03.2p}:m:7:draft", 5)
    drafts.put(7, BOB, "h8", 3, new_id())
    assert KEPT_SECONDS - 60 < client.ttl("{s03.2p}:m:7:draft") <= KEPT_SECONDS


@pytest.fixture
def statements(server: Redis) -> Statements:
    return Statements(server, lambda: 4, lambda: 1_000)


@pytest.fixture
def starts(server: Redis) -> PendingStarts:
    return PendingStarts(server)


def test_a_note_is_its_writers_alone_and_a_newer_one_replaces_it(server):
    notes = Notes(server)
    notes.put(ALICE, 12, "one")
    notes.put(BOB, 12, "bob's")
    notes.put(ALICE, 12, "  watch m5\nand ä  ")
    assert notes.get(ALICE, 12) == "watch m5\nand ä"
    assert notes.get(ALICE, 13) == ""
    for text, code in NO_TEXTS:
        refused(code, notes.put, ALICE, 12, text)
    assert notes.get(ALICE, 12) == "watch m5\nand ä"
    notes.put(ALICE, 12, " \n ")
    assert notes.get(ALICE, 12) == ""
    assert not server.exists(notes_key(ALICE))
    server.hset(notes_key(ALICE), mapping={str(board): "x" for board in range(MOST_NOTES)})
    refused(Code.TOO_MANY, notes.put, ALICE, MOST_NOTES, "one more")
    notes.put(ALICE, 12, "another")
    assert notes.get(ALICE, 12) == "another"
    for _ in range(2):
        notes.forget(ALICE)
        assert (notes.get(ALICE, 12), notes.get(BOB, 12)) == ("", "bob's")
    server.delete(keys.account(ALICE))
    refused(Code.UNKNOWN_USER, notes.put, ALICE, 12, "one")
    assert not server.exists(notes_key(ALICE))


def test_a_statement_is_bound_to_its_event_by_salt_and_digest_once_a_command(statements, server):
    put = statements.put(12, ALICE, "  he moved\nafter the bell ä ", ONE)
    assert put.text == "he moved\nafter the bell ä"
    assert len(put.salt) == 16
    assert put.digest == sha256(put.salt + put.text.encode()).digest()
    assert statements.put(12, ALICE, put.text, ONE) == put
    for account, text in ((ALICE, "another"), (BOB, put.text)):
        refused(Code.ID_REUSED, statements.put, 12, account, text, ONE)
    assert (statements.of_match(12), statements.of_match(13)) == ([put], [])
    same = statements.put(12, ALICE, put.text, OTHER)
    assert same.digest != put.digest
    for _ in range(2):
        statements.remove(12, ONE)
        assert statements.of_match(12) == [same]
    for text, code in (*NO_TEXTS, (" \n", Code.BAD_REQUEST)):
        refused(code, statements.put, 12, BOB, text, ONE)
    assert not server.exists(keys.statement_boards(BOB))


def test_the_statements_of_an_account_are_limited_and_erased_and_those_of_no_other(
    statements, server
):
    statements.put(12, ALICE, "one", ONE, 1)
    refused(Code.TOO_MANY, statements.put, 12, ALICE, "two", OTHER, 1)
    statements.put(12, ALICE, "two", OTHER, 2)
    statements.put(17, ALICE, "two", OTHER)
    kept = statements.put(12, BOB, "three", bytes(16), 1)
    for _ in range(2):
        statements.forget(ALICE)
        assert (statements.of_match(12), statements.of_match(17)) == ([kept], [])
    assert not server.exists(keys.statement_boards(ALICE))
    server.delete(keys.account(ALICE))
    refused(Code.UNKNOWN_USER, statements.put, 12, ALICE, "one", ONE)
    assert statements.of_match(12) == [kept]


def test_a_start_is_kept_as_it_was_asked_for_and_goes_with_its_account(starts, server):
    before, _ = server.time()
    for number, others in ((1, [BOB, CAROL]), (2, [BOB])):
        assert starts.add(ALICE, command(number), others) == ""
    one, two = starts.of(ALICE)
    assert one == PendingStart(command(1), one.at, others=(BOB, CAROL))
    assert two == PendingStart(command(2), two.at, others=(BOB,))
    assert before * 1000 <= one.at <= two.at
    assert starts.of(BOB) == []
    starts.forget(ALICE)
    server.delete(keys.account(ALICE))
    refused(Code.UNKNOWN_USER, starts.add, ALICE, command(2), [BOB])
    assert not server.exists(keys.pending_starts(ALICE))


def test_the_drain_tells_a_decision_whose_text_was_not_seen(redis_client):
    contexts, state = StartContexts(None, redis_client), sealed()
    seen = SeenTexts(redis_client)
    for account, rest in ((None, {0, 1}), (ALICE, {1})):
        seen.note(account or BOB, [BOARD] * bool(account), NOW)
        for actor, body in ((ALICE, DeclineMatch()), (SERVER_ACCOUNT, FlagPlayer(ply=0))):
            sent = CommandEnvelope(BOARD, bytes(16), actor, body)
            assert contexts.context_of(0, sent, state, NOW).unseen == rest
