# ruff: noqa: T201 - it prints its figures
"""Mails for the reader, by the hundred thousand: plain, encoded, nested, broken and made to be slow.

    python tests/fuzz/mails.py [COUNT] [SEED]

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
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from quopri import encodestring
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))

from domain.errors import Refusal
from domain.rules import latest_rules
from services.mail.mail_commands import QUOTE_LIMIT, SeatPlayer, at_seat, at_server
from services.mail.parse.message import ParsedMail, read
from services.mail.parse.mime import SIZE, UnfitError

COUNT: Final = 100_000
LIMIT: Final = 0.05
"""Seconds of the processor that a mail may take."""
_PROGRESS: Final = 10_000

PASSWORD: Final = "wonderland"
PLAYER: Final = SeatPlayer(13, b"alice's.", "alice", latest_rules("pow2"))

_COMMANDS: Final = (
    *("m13-j7", "m13-m5:l4#0", "resign", "propose draw", "accept", "chat hello", "say", "undo"),
    *("help pow2", "games", "multiple", f"pow2 move 13 alice {PASSWORD} m13-j7", "set notify none"),
    *(f"message alice {PASSWORD} bob hello", f"signup alice {PASSWORD} a@example.org", "signoff"),
    *(f"change password alice {PASSWORD} {PASSWORD}2", f"pow2 chat 13 alice {PASSWORD}", "help"),
)
_LINES: Final = (
    *("", "", "> resign", ">> m13-j7", "-- ", "--", "On Monday bob wrote:", "Am 1.2. schrieb bob:"),
    *(
        "-----Original Message-----",
        "_" * 20,
        "Thanks!",
        "multiple",
        " stuffed",
        "soft ",
        "| quoted",
    ),
)
_CHARSETS: Final = (
    *(
        "utf-8",
        "UTF-8",
        "us-ascii",
        "iso-8859-1",
        "windows-1252",
        "iso-8859-15",
        "koi8-r",
        "gb18030",
    ),
    *(
        "big5",
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
        "euc-kr",
        "utf-7",
        "utf-16",
        "idna",
        "punycode",
    ),
    *(
        "zlib",
        "hex",
        "rot13",
        "unicode_escape",
        "undefined",
        "x" * 300,
        "\u00fc",
        "",
        "mbcs",
        "../etc",
    ),
)
_ENCODINGS: Final = (
    "7bit",
    "8bit",
    "binary",
    "base64",
    "quoted-printable",
    "BASE64",
    "uuencode",
    "",
)
_TYPES: Final = (
    *("text/plain", "text/plain", "text/plain", "text/html", "text/enriched", "application/pdf"),
    *("message/rfc822", "message/delivery-status", "multipart/mixed", "text", "/", "TEXT/PLAIN"),
)
_ODD: Final = (
    "\u212a\u2028\u2029\x85\u00a0\u200b\ufeff\u0130\u00df\u2013\u202e\u0301\U0001f600\U0010ffff"
)
_NAMES: Final = (
    *("From", "To", "Subject", "Message-ID", "Date", "Auto-Submitted", "Precedence", "List-Id"),
    *("Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "Received", "X-Odd"),
)

Chance = random.Random


def text(chance: Chance) -> str:
    """What people and their programs write."""
    rows = chance.choices((*_COMMANDS, *_LINES), k=chance.choice((0, 1, 1, 2, 3, 3, 8, 8, 30)))
    if chance.random() < 0.2:
        rows.append("".join(chance.choices(_ODD + "am13-j7 ", k=chance.randint(0, 200))))
    if chance.random() < 0.05:
        rows.append("".join(chr(chance.randrange(0xD800)) for _ in range(chance.randint(0, 300))))
    return "\n".join(rows)


def html(chance: Chance) -> str:
    """The same as a program that knows HTML alone writes it, not always well."""
    tags = (
        "div",
        "p",
        "br",
        "blockquote",
        "script",
        "style",
        "b",
        "td",
        "!--",
        "/div",
        "/blockquote",
    )
    rows = text(chance).split("\n")
    return "".join(
        f"<{chance.choice(tags)} a='{chance.choice(rows)}'>{row}&nbsp;&#{chance.randrange(2**21)};"
        for row in rows
    )


def encoded_word(chance: Chance) -> str:
    """A word of a header in an encoding, sometimes with what no header may have."""
    said = chance.choice((*_COMMANDS, text(chance)[:60], "a\r\nBcc: eve@example.org", "\0"))
    data = said.encode(errors="replace")
    if chance.random() < 0.5:
        body, how = b64encode(data).decode(), "B"
    else:
        body, how = "".join(f"={byte:02X}" for byte in data), "q"
    word = f"=?{chance.choice(_CHARSETS)}?{how}?{body}?="
    return word if chance.random() < 0.9 else word[: chance.randint(0, len(word))]


def subject(chance: Chance) -> str:
    """A subject."""
    kinds: tuple[Callable[[], str], ...] = (
        lambda: chance.choice(_COMMANDS),
        lambda: f"Re: {chance.choice(_COMMANDS)}",
        lambda: "Re: match 13: your turn",
        lambda: " ".join(encoded_word(chance) for _ in range(chance.randint(1, 4))),
        lambda: "\r\n ".join(chance.choices((*_COMMANDS, "Re:", "Fwd:"), k=3)),
        lambda: "".join(chance.choices(_ODD + "=?bq _", k=30)),
    )
    return chance.choice(kinds)()


def content_type(chance: Chance, kind: str) -> str:
    """A type with its parameters, right or wrong."""
    words = [kind]
    if chance.random() < 0.8:
        quote = chance.choice(("", '"', '"', "'", '\\"'))
        words.append(f"charset={quote}{chance.choice(_CHARSETS)}{quote}")
    if chance.random() < 0.2:
        words.append(chance.choice(("format=flowed", "delsp=yes; format=flowed", 'a="\\"', "=;=")))
    return chance.choice(("; ", ";", ";\r\n\t")).join(words)


def part(chance: Chance, depth: int = 1) -> bytes:
    """A part, maybe with others in it."""
    if depth < 7 and chance.random() < 0.3:
        return multipart(chance, depth)
    kind = chance.choice(_TYPES)
    said = html(chance) if kind == "text/html" else text(chance)
    how = chance.choice(_ENCODINGS)
    data = said.replace("\n", "\r\n").encode(
        chance.choice(("utf-8", "cp1252", "gb18030")), "replace"
    )
    if how.lower() == "base64" and chance.random() < 0.9:
        data = b"\r\n".join(islice(_cut(b64encode(data), 76), 800))
    elif how == "quoted-printable":
        data = encodestring(data).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    fields = [f"Content-Type: {content_type(chance, kind)}", f"Content-Transfer-Encoding: {how}"]
    if chance.random() < 0.1:
        fields.append("Content-Disposition: attachment; filename=a.txt")
    return _head(fields) + b"\r\n" + data


def _cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def multipart(chance: Chance, depth: int) -> bytes:
    """A part that holds others, with its boundary well chosen or not."""
    boundary = chance.choice(("cut", "cut", f"b{depth}", f"c{depth}", "a" * 70, "--", "x y"))
    if chance.random() < 0.05:
        boundary = chance.choice(("", "a" * 71))
    inner = [part(chance, depth + 1) for _ in range(chance.choice((0, 1, 2, 3, 8, 25)))]
    kind = chance.choice(("mixed", "alternative", "report; report-type=delivery-status", "x"))
    mark = f"--{boundary}".encode()
    body = b"".join(mark + b"\r\n" + one + b"\r\n" for one in inner)
    ending = mark + b"--\r\n" if chance.random() < 0.8 else b""
    return (
        _head([f'Content-Type: multipart/{kind}; boundary="{boundary}"']) + b"\r\n" + body + ending
    )


def _head(fields: list[str]) -> bytes:
    return b"".join(field.encode(errors="replace") + b"\r\n" for field in fields)


def usual(chance: Chance) -> bytes:
    """A mail as programs write it, more or less."""
    fields = [
        "From: Alice <alice@example.org>",
        f"Subject: {subject(chance)}",
        f"Message-ID: {chance.choice(('<a@example.org>', '<>', 'a', '', '<a@b> <c@d>'))}",
    ]
    words = (*_COMMANDS, "auto-replied", "bulk", subject(chance))
    names = chance.choices(_NAMES, k=chance.randint(0, 4))
    fields += [f"{name}: {chance.choice(words)}" for name in names]
    chance.shuffle(fields)
    return _head(fields) + part(chance)


def broken(chance: Chance) -> bytes:
    """A mail with bytes lost, doubled or changed."""
    data = bytearray(usual(chance))
    bare = chance.random() < 0.2  # which is refused before anything else is read
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(data) + 1)
        puts = (
            b"",
            b"\r\n",
            b"\r\n\r\n",
            b"--cut\r\n",
            b"=",
            b"<",
            _byte(chance),
            _byte(chance) * 30,
        )
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
    how = chance.choice(_ENCODINGS)
    return _head([f"Content-Type: {kind}", f"Content-Transfer-Encoding: {how}"]) + b"\r\n" + data


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
    """Give mails without end, each with its kind."""
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
