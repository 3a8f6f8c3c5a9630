"""Mails as they come in, put together by hand: what a test says of one is what stands in it.

Parts of mails to an office, and what became of them.
"""

from collections.abc import Mapping, Sequence

from domain.match.history import unpack_snapshot

FROM = "alice@example.org"


def mail(
    text: str | bytes = "",
    subject: str = "",
    *,
    id_: str | None = "<one@example.org>",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """A mail of one part; a text that is no bytes is written in UTF-8."""
    fields = {
        "From": FROM, "Subject": subject, **({} if id_ is None else {"Message-ID": id_}),
        "MIME-Version": "1.0", "Content-Type": "text/plain; charset=utf-8", **(headers or {}),
    }  # fmt: skip
    body = text if isinstance(text, bytes) else wired(text)
    return head(fields) + b"\r\n" + body


def head(fields: Mapping[str, str]) -> bytes:
    return b"".join(f"{name}: {value}\r\n".encode() for name, value in fields.items())


def wired(text: str) -> bytes:
    """A text with the line ends of mail."""
    return text.replace("\n", "\r\n").encode()


def part(text: str | bytes, kind: str = "text/plain; charset=utf-8", **fields: str) -> bytes:
    """A part of a mail; `fields` have _ for -."""
    more = {name.replace("_", "-"): value for name, value in fields.items()}
    body = text if isinstance(text, bytes) else wired(text)
    return head({"Content-Type": kind, **more}) + b"\r\n" + body


def several(
    parts: Sequence[bytes], kind: str = "multipart/mixed", boundary: str = "cut", **fields: str
) -> bytes:
    body = b"".join(b"--%s\r\n%s\r\n" % (boundary.encode(), one) for one in parts)
    ending = b"--%s--\r\n" % boundary.encode()
    return part(body + ending, f'{kind}; boundary="{boundary}"', **fields)


def in_parts(
    parts: Sequence[bytes],
    kind: str = "multipart/mixed",
    subject: str = "",
    id_: str = "<one@example.org>",
) -> bytes:
    fields = {"From": FROM, "Subject": subject, "Message-ID": id_}
    return head(fields) + several(parts, kind)


REPORT = """\
Reporting-MTA: dns; mx.example.org

Final-Recipient: rfc822; {address}
Action: {action}
Status: {status}
Diagnostic-Code: smtp; 550 there is nobody of that name
"""


def report(address: str, action: str = "failed", status: str = "5.1.1") -> bytes:
    """What a mail server says of a mail that it could not deliver."""
    told = REPORT.format(address=address, action=action, status=status)
    return in_parts(
        [part("Your mail did not arrive."), part(told, "message/delivery-status")],
        "multipart/report; report-type=delivery-status",
        "Undelivered Mail Returned to Sender",
        f"<{address}>",
    )


MOVE = "pow2 move 1 alice mad-hatter m13-j7"

UNASKED = [
    {"Auto-Submitted": "auto-replied"},
    {"Auto-Submitted": "auto-generated"},
    {"Precedence": "bulk"},
    {"List-Id": "<chess.example.org>"},
]


def moves(office, board=1):
    (data,) = office.app.store.snapshots([board])
    return unpack_snapshot(data).state.moves.split()
