"""Mails for the reader, by the hundred thousand: plain, encoded, nested, broken and made to be slow.

    python trials/fuzz/mails.py [COUNT] [SEED]

Every mail is either refused as unfit, with a sentence that a mail server can tell, or read; what was
read is then asked for commands, as at the server's address and as at a seat's. Nothing else may be
raised, no line break may come out of a header, no secret of a line out of what is repeated, and
nothing may take 50 ms. Prints what was made of the mails, and the slowest single one. The first
failure ends it.
"""

import gc
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from domain.errors import Refusal
from domain.rules import latest_rules
from services.mail.mail_commands import QUOTE_LIMIT, SeatPlayer, at_seat, at_server
from services.mail.parse.message import ParsedMail, read
from services.mail.parse.mime import SIZE, UnfitError
from trials.fuzz.mail_parts import (
    COMMANDS,
    ENCODINGS,
    NAMES,
    PASSWORD,
    Chance,
    content_type,
    head,
    part,
    subject,
)

sys.path.insert(0, str(Path(__file__).parents[2]))

COUNT: Final = 100_000
LIMIT: Final = 0.05
"""Seconds of the processor that a mail may take."""
_PROGRESS: Final = 10_000
PLAYER: Final = SeatPlayer(13, b"alice's.", "alice", latest_rules("pow2"))


def usual(chance: Chance) -> bytes:
    """A mail as programs write it, more or less."""
    fields = [
        "From: Alice <alice@example.org>",
        f"Subject: {subject(chance)}",
        f"Message-ID: {chance.choice(('<a@example.org>', '<>', 'a', '', '<a@b> <c@d>'))}",
    ]
    words = (*COMMANDS, "auto-replied", "bulk", subject(chance))
    names = chance.choices(NAMES, k=chance.randint(0, 4))
    fields += [f"{name}: {chance.choice(words)}" for name in names]
    chance.shuffle(fields)
    return head(fields) + part(chance)


def broken(chance: Chance) -> bytes:
    """A mail with bytes lost, doubled or changed."""
    data = bytearray(usual(chance))
    bare = chance.random() < 0.2  # which is refused before anything else is read
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(data) + 1)
        puts = (
            b"", b"\r\n", b"\r\n\r\n", b"--cut\r\n", b"=", b"<", _byte(chance),
            _byte(chance) * 30,
        )  # fmt: skip
        if bare:
            puts = (b"\n", b"\r", b"\0", chance.randbytes(3))
        end = min(at + chance.choice((0, 0, 1, 2, 40)), len(data))
        data[at:end] = chance.choice(puts)
    return bytes(data) if bare else _BARE.sub(b"", data)


_BARE: Final = re.compile(rb"\r(?!\n)|(?<!\r)\n|\0")


def _byte(chance: Chance) -> bytes:
    return bytes([chance.choice((*range(1, 10), *range(14, 256)))])


def noise(chance: Chance) -> bytes:
    """Any bytes, with the line ends of mail, in most cases below a header."""
    rows = [chance.randbytes(chance.randint(0, 200)) for _ in range(chance.randint(0, 50))]
    data = b"\r\n".join(row.translate(None, b"\r\n\0") for row in rows)
    if chance.random() < 0.2:
        return data
    kind = content_type(chance, chance.choice(("text/plain", "text/html")))
    how = chance.choice(ENCODINGS)
    return head([f"Content-Type: {kind}", f"Content-Transfer-Encoding: {how}"]) + b"\r\n" + data


SLOW: Final[tuple[tuple[str, str], ...]] = (
    ("Subject: ", "=?utf-8?q?a?= "), ("Subject: ", "=?"), ("Subject: ", "=?a?b?"), ("Subject: ", "Re:"),
    ("Subject: ", "=?utf-8?B?" + "QQ" * 30 + "?="), ("Subject: ", " "), ("Subject: ", "\r\n "),
    ("Subject: pow2 ", "a "), ("Subject: chat ", "a "), ("Subject: accept ", "-a "),
    ("Content-Type: multipart/mixed", ";a="), ("Content-Type: multipart/mixed", ';a="\\"'),
    ("Content-Type: ", "a"), ("Content-Type: a/", ";"), ("Content-Type: a/b", "; \t"),
    ("Content-Type: multipart/mixed; boundary=a\r\n\r\n", "--a\r\n"),
    ("Content-Type: multipart/mixed; boundary=a\r\n\r\n", "--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n"),
    ("Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n", "--ab\r\n"),
    ("Content-Type: text/html\r\n\r\n", "<"), ("Content-Type: text/html\r\n\r\n", "<!--"),
    ("Content-Type: text/html\r\n\r\n", "<!-"), ("Content-Type: text/html\r\n\r\n", "</"),
    ("Content-Type: text/html\r\n\r\n", "<blockquote>"), ("Content-Type: text/html\r\n\r\n", "<a b='"),
    ("Content-Type: text/html\r\n\r\n", "&#x26;amp;"), ("Content-Type: text/html\r\n\r\n", "&" + "a" * 31),
    ("Content-Type: text/html\r\n\r\n", "<br>a"), ("Content-Type: text/html\r\n\r\n", "<script><style>"),
    ("Content-Type: text/plain; format=flowed\r\n\r\n", " \r\n"),
    ("Content-Type: text/plain; format=flowed; delsp=yes\r\n\r\n", "a \r\n"),
    ("Content-Transfer-Encoding: quoted-printable\r\n\r\n", "="),
    ("Content-Transfer-Encoding: quoted-printable\r\n\r\n", "a=\r\n"),
    ("Content-Transfer-Encoding: base64\r\n\r\n", "AAA="), ("Content-Transfer-Encoding: base64\r\n\r\n", "QUJD"),
    ("Content-Transfer-Encoding: base64\r\n\r\n", "="),
    ("Content-Type: text/plain; charset=gb18030\r\n\r\n", "\u00ff"),
    ("Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n", "\x1b$B"),
    ("\r\n", "On a wrote\r\n"), ("\r\n", "on wrote wrote :a\r\n"), ("\r\n", "a:\r\n"), ("\r\n", ">\r\n"),
    ("\r\n", "a\r\n"), ("\r\n", "help\r\n"), ("\r\n", "pow2 move 1 a b "), ("\r\n", "message a b "),
    ("\r\n", "message a b c\r\n"), ("\r\n", "m13-j7:"), ("\r\n", "m13-j7:a1,"), ("\r\n", "chat\r\n"),
    ("\r\n", " "), ("\r\n", "\u2028"), ("\r\n", "\u200b"), ("\r\n", "propose "), ("\r\n", "show "),
    ("\r\n", "-"), ("\r\n", "_"), ("\r\n", "preview a "), ("\r\n", "pow2 show 1 "), ("\r\n", "all show "),
)  # fmt: skip
"""How a mail begins, and what is repeated then until it is full."""


def slow(chance: Chance) -> bytes:
    """A mail up to the limit that says one thing over and over."""
    begin, again = chance.choice(SLOW)
    return repeated(begin, again, chance.choice((SIZE, SIZE, 5_000)))


def repeated(begin: str, again: str, size: int) -> bytes:
    """A mail of nearly that size, its lines as long as they may be."""
    data, piece = begin.encode(), again.encode()
    room = size - len(data) - 2
    if b"\r\n" in piece:
        return data + (piece * (room // len(piece)))
    per_line = max(1, (990 - len(data.rpartition(b"\n")[2])) // len(piece))
    in_text = b"\r\n\r\n" in data or data == b"\r\n"
    row = piece * per_line + (b"\r\n" if in_text else b"\r\n ")
    return data + (row * (room // len(row))) + (b"" if in_text else b"\r\n")


KINDS: Final = (usual, usual, usual, usual, broken, broken, noise, slow)


def mails(seed: int) -> Iterator[tuple[str, bytes]]:
    """Return mails without end, each with its kind."""
    chance = random.Random(seed)
    while True:
        make = chance.choice(KINDS)
        yield make.__name__, make(chance)


def check(data: bytes) -> tuple[str, float]:
    """Read a mail; say what came of it, and how many seconds of the processor that took."""
    gc.disable()  # what is collected would be timed with whatever mail comes then
    try:
        began = time.thread_time()  # of the processor: others' work is no reading
        mail, refused = _read(data)
        result = f"refused, {refused}" if mail is None else _ask(mail)
        took = time.thread_time() - began
    finally:
        gc.enable()
    assert refused.isascii(), refused
    assert refused.isprintable(), refused
    if mail is not None:
        _check_read(mail)
    return result, took


def _read(data: bytes) -> tuple[ParsedMail | None, str]:
    try:
        return read(data), ""
    except UnfitError as unfit:
        return None, re.sub("[0-9]+", "N", str(unfit))


def _ask(mail: ParsedMail) -> str:
    try:
        orders = [*at_server(mail), *at_seat(mail, PLAYER)]
    except Refusal as reason:
        return f"read, {reason.code}"
    for order in orders:
        assert len(order.shown) <= QUOTE_LIMIT, order
        assert len(order.shown.splitlines()) <= 1, order
        assert PASSWORD not in order.safe_quote.split() or not order.has_password, order
        # where the password stood in its place, it stands nowhere
        if "alice ***" in order.shown:
            assert PASSWORD not in order.shown.split(), order
    return "read, with commands" if orders else "read, without any"


def _check_read(mail: ParsedMail) -> None:
    assert mail.subject.isprintable() or "\ufffd" in mail.subject or not mail.subject.isascii()
    assert len(mail.subject.splitlines()) <= 1, mail.subject
    assert len(mail.id.splitlines()) == 1, mail.id
    assert mail.problem.isprintable(), mail.problem
    for line in mail.lines:
        assert not set(line) & set("\r\n\0"), line
        assert line == line.strip(), line


def main(count: int = COUNT, seed: int = 1) -> None:
    """Read so many mails, and print the figures."""
    found: Counter[str] = Counter()
    slowest = (0.0, b"")
    began = time.perf_counter()
    check(next(mails(seed))[1])  # the grammar is built when it is first needed
    at_server(read(b"Subject: help\r\n"))
    for number, (kind, data) in enumerate(islice(mails(seed), count), 1):
        result, took = check(data)
        found[f"{kind}: {result}"] += 1
        found[result] += 1
        slowest = max(slowest, (took, data))
        assert took < LIMIT, f"{took * 1000:.1f} ms for {len(data)} bytes: {data[:300]!r}"
        if number % _PROGRESS == 0:
            print(f"{number} mails after {time.perf_counter() - began:.0f} s", flush=True)
    for line, many in sorted(found.items()):
        print(f"{many:>9}  {line}")
    print(f"slowest: {slowest[0] * 1000:.1f} ms, {len(slowest[1])} bytes: {slowest[1][:80]!r}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
