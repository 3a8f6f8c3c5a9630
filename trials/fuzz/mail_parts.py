"""Parts of mails, by chance: commands and quotes, charsets and transfer encodings right and wrong, HTML."""

import random
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import islice
from quopri import encodestring
from typing import Final

PASSWORD: Final = "mad-hatter"

COMMANDS: Final = (
    *("m13-j7", "m13-m5:l4#0", "resign", "propose draw", "accept", "chat hello", "say", "undo"),
    *("help pow2", "games", "multiple", f"pow2 move 13 alice {PASSWORD} m13-j7", "set notify none"),
    *(f"message alice {PASSWORD} bob hello", f"signup alice {PASSWORD} a@example.org", "signoff"),
    *(f"change password alice {PASSWORD} {PASSWORD}2", f"pow2 chat 13 alice {PASSWORD}", "help"),
)
_LINES: Final = (
    *("", "", "> resign", ">> m13-j7", "-- ", "--", "On Monday bob wrote:", "Am 1.2. schrieb bob:"),
    *(
        "-----Original Message-----", "_" * 20, "Thanks!", "multiple", " stuffed", "soft ",
        "| quoted",
    ),
)  # fmt: skip
_CHARSETS: Final = (
    *(
        "utf-8", "UTF-8", "us-ascii", "iso-8859-1", "windows-1252", "iso-8859-15", "koi8-r",
        "gb18030",
    ),
    *(
        "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "utf-7", "utf-16", "idna",
        "punycode",
    ),
    *(
        "zlib", "hex", "rot13", "unicode_escape", "undefined", "x" * 300, "\u00fc", "", "mbcs",
        "../etc",
    ),
)  # fmt: skip
ENCODINGS: Final = (
    "7bit", "8bit", "binary", "base64", "quoted-printable", "BASE64", "uuencode", "",
)  # fmt: skip
_TYPES: Final = (
    *("text/plain", "text/plain", "text/plain", "text/html", "text/enriched", "application/pdf"),
    *("message/rfc822", "message/delivery-status", "multipart/mixed", "text", "/", "TEXT/PLAIN"),
)
_ODD: Final = (
    "\u212a\u2028\u2029\x85\u00a0\u200b\ufeff\u0130\u00df\u2013\u202e\u0301\U0001f600\U0010ffff"
)
NAMES: Final = (
    *("From", "To", "Subject", "Message-ID", "Date", "Auto-Submitted", "Precedence", "List-Id"),
    *("Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "Received", "X-Odd"),
)

Chance = random.Random


def text(chance: Chance) -> str:
    """What people and their programs write."""
    rows = chance.choices((*COMMANDS, *_LINES), k=chance.choice((0, 1, 1, 2, 3, 3, 8, 8, 30)))
    if chance.random() < 0.2:
        rows.append("".join(chance.choices(_ODD + "am13-j7 ", k=chance.randint(0, 200))))
    if chance.random() < 0.05:
        rows.append("".join(chr(chance.randrange(0xD800)) for _ in range(chance.randint(0, 300))))
    return "\n".join(rows)


def html(chance: Chance) -> str:
    """The same as a program that knows HTML alone writes it, not always well."""
    tags = (
        "div", "p", "br", "blockquote", "script", "style", "b", "td", "!--", "/div",
        "/blockquote",
    )  # fmt: skip
    rows = text(chance).split("\n")
    return "".join(
        f"<{chance.choice(tags)} a='{chance.choice(rows)}'>{row}&nbsp;&#{chance.randrange(2**21)};"
        for row in rows
    )


def encoded_word(chance: Chance) -> str:
    """A word of a header in an encoding, sometimes with what no header may have."""
    said = chance.choice((*COMMANDS, text(chance)[:60], "a\r\nBcc: eve@example.org", "\0"))
    data = said.encode(errors="replace")
    if chance.random() < 0.5:
        body, how = b64encode(data).decode(), "B"
    else:
        body, how = "".join(f"={byte:02X}" for byte in data), "q"
    word = f"=?{chance.choice(_CHARSETS)}?{how}?{body}?="
    return word if chance.random() < 0.9 else word[: chance.randint(0, len(word))]


def subject(chance: Chance) -> str:
    kinds: tuple[Callable[[], str], ...] = (
        lambda: chance.choice(COMMANDS),
        lambda: f"Re: {chance.choice(COMMANDS)}",
        lambda: "Re: match 13: your turn",
        lambda: " ".join(encoded_word(chance) for _ in range(chance.randint(1, 4))),
        lambda: "\r\n ".join(chance.choices((*COMMANDS, "Re:", "Fwd:"), k=3)),
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
    if depth < 7 and chance.random() < 0.3:
        return multipart(chance, depth)
    kind = chance.choice(_TYPES)
    said = html(chance) if kind == "text/html" else text(chance)
    how = chance.choice(ENCODINGS)
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
    return head(fields) + b"\r\n" + data


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
        head([f'Content-Type: multipart/{kind}; boundary="{boundary}"']) + b"\r\n" + body + ending
    )


def head(fields: list[str]) -> bytes:
    return b"".join(field.encode(errors="replace") + b"\r\n" for field in fields)
