"""The gateway: how it hears of an outcome and what it raises instead; the stored form of outcomes; the words of scripts."""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from redis import ConnectionError as LostConnectionError

from domain.errors import Code, Refusal
from domain.game.protocol import illegal_move
from domain.match import commands
from domain.match.commands import PlayMove, ResignMatch, StartMatch
from domain.match.sentences import SAY
from infra.redis import keys, scripts
from infra.store import async_gateway, gateway, port
from infra.store import store_calls as words
from infra.store.async_gateway import AsyncCommandGateway
from infra.store.gateway import NOT_ACCEPTED_TEXT, OutcomePending
from infra.store.leases import LaneLeases
from infra.store.outcomes import encode_stored, parse, tail
from infra.store.port import MOST_REFUSALS, AlreadyDecided, Submission
from infra.store.store_calls import commit_call, submit_call
from tests.fakes.app import FakeApp
from tests.fakes.memory_store import memory_client
from tests.helpers.doctor import value
from tests.helpers.examples import refused as refuses
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.lanes import LANE
from tests.helpers.served import until
from tests.helpers.writes import SHARD, moved, submission

START = sent(ALICE, StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB)))


@pytest.fixture
def app() -> Iterator[FakeApp]:
    opened = FakeApp()
    opened.gateway.send(START, 0)
    yield opened
    opened.close()


MOVE = sent(ALICE, PlayMove(text="m13-j7"), 1)
DIGEST = commands.command_digest(commands.encode_command(MOVE))
STORED = encode_stored(DIGEST, 4, tail("", 2, ""))


def test_an_outcome_whose_announcement_was_lost_is_found_in_the_store(app: FakeApp) -> None:
    with memory_client() as elsewhere:
        deaf = StoreGateway(app.store, LaneLeases(app.client, app._drain), elsewhere)
        assert deaf.send(sent(ALICE, PlayMove(text="m13-j7"), 1), 0, seconds=10).accepted
        deaf.close()


def test_a_command_waits_under_an_id_and_another_comes_with_it(app: FakeApp) -> None:
    app.awake = False
    with pytest.raises(OutcomePending):
        app.gateway.send(MOVE, 0, seconds=0)
    app.awake = True
    app.client.delete(keys.lease(LANE))  # the wake-up that nobody heard has run out
    refuses(Code.ID_REUSED, app.gateway.send, sent(ALICE, PlayMove(text="m13-k11"), 1), 0)
    assert app.gateway.send(MOVE, 0).accepted


def test_a_repeated_command_that_gives_up_leaves_the_outcome_to_the_first(app: FakeApp) -> None:
    app.awake = False
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(app.gateway.send, MOVE, 0, seconds=10)
        until(lambda: app.store.inbox_size(range(4)))
        with pytest.raises(OutcomePending):
            app.gateway.send(MOVE, 0, seconds=0)
        app.awake = True
        app._drain(LANE)
        assert first.result().accepted


def test_a_gateway_that_rested_asks_for_a_fault_before_the_next_command(
    app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_gateway, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(async_gateway, "REST_SECONDS", 0.05)

    class Notes:
        fault, reads = "", 0

        def read(self) -> SimpleNamespace:
            self.reads += 1
            return SimpleNamespace(fault=self.fault)

    notes: Any = Notes()
    with closing(
        StoreGateway(app.store, LaneLeases(app.client, app._drain), app.client, notes)
    ) as rested:
        time.sleep(0.2)
        before = notes.reads
        time.sleep(0.2)
        assert notes.reads == before
        notes.fault = "the disk is full"
        refuses(Code.UNAVAILABLE, rested.send, MOVE, 0)
        notes.fault = ""
        time.sleep(0.2)
        assert rested.send(MOVE, 0).accepted


def test_a_gateway_that_rested_looks_for_an_outcome_that_it_has_not_heard(
    app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_gateway, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(async_gateway, "REST_SECONDS", 0.05)
    monkeypatch.setattr(async_gateway, "decode", lambda _: [])
    with closing(StoreGateway(app.store, LaneLeases(app.client, app._drain), app.client)) as rested:
        time.sleep(0.2)
        assert rested.send(MOVE, 0).accepted


def test_a_command_that_came_since_the_last_look_is_not_looked_up() -> None:
    asked: list[Sequence[tuple[int, bytes]]] = []

    class Outcomes:
        async def refresh_layout(self) -> None:
            pass

        async def outcomes(self, wanted: Sequence[tuple[int, bytes]]) -> list[bytes | None]:
            asked.append(wanted)
            return [STORED for _ in wanted]

    async def story() -> None:
        unopened: Any = AsyncCommandGateway
        rested = unopened(Outcomes(), None, None)
        outcome = rested._expect(MOVE)
        await rested._look()
        assert not outcome.done()
        await rested._look()
        assert await outcome == STORED

    asyncio.run(story())
    assert asked == [[(MOVE.match, MOVE.id)]]


def test_an_answer_of_the_store_is_an_outcome_a_refusal_or_nothing_yet() -> None:
    assert gateway.outcome_of(AlreadyDecided(STORED), DIGEST) == parse(STORED)
    assert gateway.check_digest(parse(STORED), DIGEST) == parse(STORED)
    assert gateway.outcome_of(port.Queued("1-0", 7), DIGEST) is None
    for code, sentence in NOT_ACCEPTED_TEXT.items():
        assert refuses(code, gateway.outcome_of, port.NotAccepted(code), DIGEST) == sentence
    # the outcome of another command under the same id is nobody's
    refuses(Code.ID_REUSED, gateway.outcome_of, AlreadyDecided(STORED), b"another.")


def test_a_move_passes_the_fault_points_in_order(app, monkeypatch):
    passed: list[str] = []
    monkeypatch.setattr(async_gateway, "failpoint", passed.append)
    assert app.gateway.send(MOVE, 0).accepted
    assert passed == ["submit.ready", "submit.queued", "submit.woken", "submit.heard"]


def test_a_command_whose_connection_broke_is_sent_again_once_and_takes_effect_once(
    app, monkeypatch
):
    submit, before = app.store.submit, len(app.store.events(1))
    asked: list[Sequence[Submission]] = []
    breaks = [True, False]

    def submit_and_break(new: Sequence[Submission]) -> list[port.SubmitResult]:
        asked.append(new)
        answers = submit(new)
        if breaks.pop(0):
            raise LostConnectionError("the node was killed")
        return answers

    monkeypatch.setattr(async_gateway, "REPEAT_SECONDS", 0)
    monkeypatch.setattr(app.store, "submit", submit_and_break)
    assert app.gateway.send(MOVE, 0).accepted
    assert asked[0] == asked[1]
    assert len(app.store.events(1)) == before + 1
    assert app.store.inbox_size(range(4)) == 0
    breaks += [True, True]
    with pytest.raises(LostConnectionError):
        app.gateway.send(sent(BOB, PlayMove(text="a13-a9"), 2), 1)
    assert breaks == []


def test_a_gateway_that_does_not_open_says_why() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[AsyncCommandGateway]:
        raise LostConnectionError("away")
        yield

    with (
        pytest.raises(LostConnectionError, match="away"),
        async_gateway.gateway_in_thread(broken()),
    ):
        pass


def test_answers_of_inboxes_and_the_time_to_an_outcome_are_counted(app: FakeApp) -> None:
    names = ("queued", "known", "too-many-refusals")
    before = [value("matchpost_submissions_total", answer=name) for name in names]
    waits, pending = "matchpost_outcome_wait_seconds_count", "matchpost_outcomes_pending_total"
    waited, pended = value(waits), value(pending)
    app.gateway.send(MOVE, 0)
    app.gateway.send(MOVE, 0)
    for number in range(MOST_REFUSALS):
        app.gateway.send(sent(ALICE, PlayMove(text="nonsense"), 10 + number), 1)
    with pytest.raises(Refusal):
        app.gateway.send(sent(ALICE, PlayMove(text="nonsense"), 9), 1)
    app.awake = False
    with pytest.raises(OutcomePending):
        app.gateway.send(sent(BOB, ResignMatch(), 8), 1, seconds=0)
    after = [value("matchpost_submissions_total", answer=name) for name in names]
    grown = [one - other for one, other in zip(after, before, strict=True)]
    assert grown == [MOST_REFUSALS + 2, 1, 1]
    assert value(waits) - waited == MOST_REFUSALS + 2
    assert value(pending) - pended == 1


PIECES = msgspec.msgpack.encode


def stored(*fields: object) -> bytes:
    return encode_stored(b"digest..", 7, PIECES(list(fields)))


def test_an_outcome_is_two_numbers_and_a_refusal_a_key_and_arguments_more() -> None:
    assert tail("", 3) == b"\x92\x00\x03"
    outcome = parse(encode_stored(b"digest..", 12, tail("", 3)))
    assert (outcome.digest, outcome.index, outcome.code, outcome.seq) == (b"digest..", 12, "", 3)
    assert outcome.accepted
    assert outcome.sentence == ""
    reason = illegal_move("m13-j7", SAY("stale", meant=3, ply=4))
    packed = tail(reason.code, 9, reason.text)
    assert msgspec.msgpack.decode(packed) == [1, 9, "move", "m13-j7", ["stale", 3, 4]]
    outcome = parse(encode_stored(b"digest..", 1, packed))
    assert (outcome.text, outcome.sentence) == (reason.text, reason.sentence)
    assert (outcome.code, outcome.accepted) == ("illegal-move", False)
    for code in Code:
        assert parse(encode_stored(b"digest..", 1, tail(code, 1, "no"))).code == code
    # a reason of a game that is not installed is read all the same
    outcome = parse(stored(1, 2, "move", "e7-e5", ["chess.pinned", 3, b"\x01"]))
    assert outcome.code == "illegal-move"
    assert outcome.sentence == (
        "e7-e5: the reason 'chess.pinned' is unknown here; is its game no longer installed?"
    )
    for wrong in WRONG:
        with pytest.raises((ValueError, msgspec.MsgspecError)):
            parse(wrong)


def test_a_process_that_has_decided_nothing_reads_reasons_too() -> None:
    program = (
        "from infra.store.outcomes import encode_stored, parse, tail\n"
        "from domain.sentences import Sentence\n"
        "for reason in (Sentence('stale', (1, 2)), Sentence('torere.empty', (4,))):\n"
        "    print(parse(encode_stored(bytes(8), 1, tail('stale-ply', 1, reason))).sentence)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == [
        "the match has moved on in the meantime; `#1` was meant, and it is now at `#2`",
        "no stone stands on 4",
    ]


WRONG = [
    *(stored(*one) for one in ((), (1,), (99, 1), (-1, 1), (1, "x"), (1, 2, 3), (1, 2, "", 3))),
    *(stored(*one) for one in ((1, 2, ""), (1, 2, "move", 1.5, "x"), (1, 2, "move", [], "x"))),
    *(b"digest..x:" + PIECES([0, 1]), b"digest..1:" + PIECES({}), b"digest..1:", b""),
]


UNPACKED = re.compile(r"local ([\w\s,]+?)\s*=\s*unpack\((KEYS|ARGV|others)")


def unpacked(source: str) -> list[tuple[str, ...]]:
    """Return the names of all locals that are unpacked from keys or words."""
    return [tuple(re.split(r",\s*", names)) for names, _ in UNPACKED.findall(source)]


def test_a_script_unpacks_keys_and_words_by_the_names_of_python() -> None:
    for script, sides in (
        (scripts.SUBMIT, (words.SubmitKeys, words.SubmitWords)),
        (
            scripts.COMMIT,
            (words.CommitKeys, words.CommitWords, words.CommitRareWords, words.CommitMatchKeys),
        ),
        (scripts.ANCHOR_SEED_CHAIN, (words.AnchorKeys, words.AnchorWords)),
    ):
        assert unpacked(script.source) == [side._fields for side in sides]


def test_the_words_are_where_the_script_looks_for_them() -> None:
    _, names, args = submit_call(4, submission(1), 5)
    sent = words.SubmitWords(*args)
    assert (sent.cap, sent.most_ahead) == (5, port.MOST_AHEAD_MS)
    assert words.SubmitKeys(*names).inbox.endswith(":in")
    _, names, args = commit_call(
        4, SHARD, [moved(port.InboxEntry(SHARD, "1-0", 1, "reply", b""), 1, 0, 2)], 0
    )
    count = len(words.CommitWords._fields)
    first = words.CommitWords(*args[3 : 3 + count])
    assert first.leaves == len(args) - 3 - count == 2
    assert len(names) == len(words.CommitKeys._fields) + len(words.CommitMatchKeys._fields)


def test_a_player_who_was_refused_too_often_is_told_at_the_door(app: FakeApp) -> None:
    for number in range(MOST_REFUSALS):
        refused = app.gateway.send(sent(BOB, PlayMove(text="a13-c11"), 1 + number), 0)
        assert refused.code == Code.NOT_YOUR_TURN
    last = sent(BOB, PlayMove(text="a13-c11"), 1 + MOST_REFUSALS)
    refuses(Code.TOO_MANY_REFUSALS, app.gateway.send, last, 0)
    assert app.store.inbox_size(range(4)) == 0
    assert len(app.store.leaves(1, 0, 100)) == 1 + MOST_REFUSALS
