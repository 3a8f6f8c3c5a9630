"""The wire: what a mail server hears, and the limits that keep it from hearing nothing else."""

import asyncio
import logging
import smtplib
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.errors import Code, Refusal
from infra.durability.durability import DurabilityError
from services.mail.inbound import TryAgainError
from services.mail.parse.message import read
from services.mail.parse.mime import SIZE, UnfitError
from services.mail.smtp_server import CONNECTIONS, WHOLE_SIZE, Connections, SerialExecutor
from services.serve.sockets import listen, listen_unix
from tests.helpers.mails import in_parts, mail, part, several
from tests.helpers.served import until
from tests.helpers.wire import Wire

HERE = "known@play.example.org"


class FakeTaker:
    """Takes what it is told to; `raises` is what happens instead."""

    def __init__(self) -> None:
        self.is_processed: list[tuple[str, str, bytes]] = []
        self.opened = 0
        self.raises: Exception | None = None
        self.waits = False
        self.going_on = threading.Event()
        self.going_on.set()

    def knows(self, address: str) -> bool:
        if isinstance(self.raises, RedisConnectionError | Refusal):
            raise self.raises
        return address == HERE

    def take(self, recipient: str, sender: str, data: bytes) -> None:
        self.waits = True
        self.going_on.wait(60)
        if self.raises is not None:
            raise self.raises
        self.is_processed.append((recipient, sender, data))

    @contextmanager
    def open(self) -> Iterator["FakeTaker"]:
        self.opened += 1
        yield self


class Running:
    """Doors that are open, in a loop of a thread of their own."""

    def __init__(self, taker, path, **limits):
        self.counter = SerialExecutor(taker.open)
        self._sockets = [listen("127.0.0.1:0"), listen_unix(path)]
        self.smtp = self._sockets[0].getsockname()
        self.lmtp = path
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.run(self._open(limits))

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    async def _open(self, limits):
        self.doors = Connections(self.counter, "play.example.org", **limits)
        self._servers = [await self.doors.listen(one) for one in self._sockets]

    async def end(self):
        for server in self._servers:
            server.close()
        await self.doors.close()

    def close(self):
        self.run(self.end())
        until(lambda: not self.doors.open)
        self.counter.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def taker():
    return FakeTaker()


@pytest.fixture
def open_doors(taker, tmp_path):
    with ExitStack() as stack:

        def make(**limits):
            running = Running(taker, tmp_path / "lmtp", **limits)
            stack.callback(running.close)
            return running

        yield make


@pytest.fixture
def running(open_doors):
    return open_doors()


def sent(running, data=b"a\r\n", sender="a@example.org"):
    with Wire(running.smtp) as wire:
        return wire.begin().send(sender, HERE, data)


def test_mails_are_taken_by_smtp_as_they_are_also_from_nobody(running, taker):
    data = mail("m13-j7\n.\n..dots\n")
    assert sent(running, data).startswith("250 2.0.0 ")
    assert sent(running, sender="").startswith("250 ")
    with smtplib.SMTP(*running.smtp, timeout=20) as client:
        assert client.sendmail("a@example.org", [HERE], mail("m13-j7")) == {}
    with smtplib.LMTP(str(running.lmtp)) as client:
        assert client.sendmail("a@example.org", [HERE], mail("m13-j7")) == {}
    first, second, *others = taker.is_processed
    assert first == (HERE, "a@example.org", data + b"\r\n")
    assert second[1] in ("", "<>")
    assert len(others) == 2


def test_nobody_else_s_mail_is_taken(running, taker):
    with Wire(running.smtp) as wire:
        wire.begin().say("MAIL FROM:<a@example.org>")
        assert wire.say("RCPT TO:<somebody@elsewhere.org>").startswith("550 5.1.1 ")
        assert wire.say("DATA").startswith("503 ")
    assert taker.is_processed == []


AWAY, UNKNOWN = RedisConnectionError("it is away"), TryAgainError("unavailable")
DAMAGED = Refusal(Code.DAMAGED, "match 1 can't be read")


@pytest.mark.parametrize(("error", "told", "opened"), [
    (UnfitError("there is a NUL in it"), "550 5.6.0 not accepted: there is a NUL in it", 1),
    (RuntimeError("mad-hatter"), "451 4.3.0 ", 1),
    # while the matches can't be read, new connections ask
    (DurabilityError("it lost its mind"), "451 4.3.0 ", 2), (OSError("no file"), "451 4.3.0 ", 2),
    (AWAY, "451 4.3.0 ", 2), (UNKNOWN, "451 4.3.0 ", 2), (DAMAGED, "451 4.3.0 ", 1),
])  # fmt: skip
def test_what_became_of_a_mail_is_told(running, taker, error, told, opened, caplog):
    taker.raises = error
    with caplog.at_level(logging.DEBUG):
        assert sent(running).startswith(told)
    assert "mad-hatter" not in caplog.text
    taker.raises = None
    assert sent(running).startswith("250 ")
    assert taker.opened == opened


def test_a_mail_too_large_is_refused(running, taker):
    assert sent(running, b"a\r\n" * (SIZE // 3 + 1)).startswith("552 ")
    with Wire(running.smtp) as wire:
        assert wire.begin().say(f"MAIL FROM:<a@b.org> SIZE={WHOLE_SIZE + 1}").startswith("552 ")
    whole = with_picture(WHOLE_SIZE, "image/png")
    for data in (with_picture(SIZE, "text/plain"), whole, b"a\r\n" * (SIZE // 3 + 1)):
        assert sent(running, data).startswith("552 ")
    assert taker.is_processed == []


def with_picture(size: int, kind: str) -> bytes:
    """A mail with a move, and a part of at least this size in lines that could be boundaries."""
    row = b"--" + b"A" * 990 + b"\r\n"
    picture = part(row * (size // len(row) + 1), kind, Content_Transfer_Encoding="base64")
    text = several(
        [part("m13-j7"), part("<b>m13-j7</b>", "text/html")], "multipart/alternative", "b"
    )
    return in_parts([text, picture, part("below")])


def test_attachments_are_dropped_while_many_large_mails_are_received(running, taker):
    data, count = with_picture(1_000_000, "image/png"), 8
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(running.smtp)).begin() for _ in range(count)]
        for wire in wires:
            assert wire.say("MAIL FROM:<a@b.org>").startswith("250 ")
            assert wire.say(f"RCPT TO:<{HERE}>").startswith("250 ")
            assert wire.say("DATA").startswith("354 ")
        tracemalloc.start()
        for wire in wires:
            wire.write(data)
        assert all(wire.say("\r\n.").startswith("250 ") for wire in wires)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    # beside what the sockets and the test itself hold
    assert peak < count * len(data) / 2
    assert {read(one[2]).lines for one in taker.is_processed} == {("m13-j7",)}
    assert max(len(one[2]) for one in taker.is_processed) < 1_000
    assert sent(running, with_picture(WHOLE_SIZE - 100_000, "image/png")).startswith("250 ")


def test_no_other_line_end_ends_a_mail(running, taker):
    for end in (b"\n.\n", b"\r\n.\n", b"\n.\r\n", b"\r.\r", b"\r\n.\r"):
        hidden = (
            b"a" + end + b"MAIL FROM:<b@b.org>\r\nRCPT TO:<" + HERE.encode() + b">\r\nDATA\r\nb"
        )
        assert sent(running, hidden).startswith("250 "), end
        assert taker.is_processed.pop() == (HERE, "a@example.org", hidden + b"\r\n")
    assert taker.is_processed == []


def test_a_connection_too_many_is_told_to_come_again(running):
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(running.smtp)) for _ in range(CONNECTIONS)]
        assert all(wire.answer().startswith("220 ") for wire in wires)
        for place in (running.smtp, running.lmtp):
            with Wire(place) as more:
                assert more.answer().startswith("421 4.3.2 ")
                assert more.answer() == ""
        wires[0].say("QUIT")
        assert wires[0].answer() == ""
        with Wire(running.smtp) as again:
            assert again.answer().startswith("220 ")


BEGUN = ("MAIL FROM:<a@b.org>", f"RCPT TO:<{HERE}>", "DATA")


@pytest.mark.parametrize("said", [(), BEGUN])
def test_a_client_that_says_nothing_more_is_left(open_doors, said):
    with Wire(open_doors(idle_seconds=0.1).smtp) as wire:
        wire.begin()
        for line in said:
            wire.say(line)
        assert wire.answer() == ""


def test_a_mail_in_hand_is_answered_before_the_end(running, taker, wait_until):
    taker.going_on.clear()
    with Wire(running.smtp) as wire:
        wire.begin()
        for line in BEGUN:
            wire.say(line)
        wire.write(b"a\r\n.\r\n")
        wait_until(lambda: taker.waits)
        ending = asyncio.run_coroutine_threadsafe(running.end(), running.loop)
        taker.going_on.set()
        assert wire.answer().startswith("250 ")
        assert wire.answer() == ""
        ending.result(20)
    assert len(taker.is_processed) == 1


def test_a_socket_left_behind_is_replaced_and_one_in_use_is_not(running, tmp_path):
    with pytest.raises(OSError, match=r"MATCHPOST_LMTP can't be .*: another program listens there"):
        listen_unix(running.lmtp)
    with Wire(running.lmtp) as wire:  # the attempt before it was heard, too
        assert wire.answer().startswith("220 ")
    left = tmp_path / "left"
    listen_unix(left).close()
    assert left.exists()
    listen_unix(left).close()
    with pytest.raises(OSError, match="MATCHPOST_LMTP can't be"):
        listen_unix(tmp_path / ("a" * 200))
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(OSError, match="MATCHPOST_LMTP can't be"):
        listen_unix(file)
    assert file.read_text() == "mine"
