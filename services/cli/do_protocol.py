"""The talk of `matchpost do` with a server that runs on the same data: JSON objects on a socket.

A command that imports the whole server takes most of a second for that alone. A web process has imported it, so it
listens on a socket in the data directory, for its own user only, and carries out lines there as a terminal does
(`services.cli.do_server`). Without an answer from such a server a line is carried out as ever.

The server speaks first, by its *identity*: a digest of its version and its settings. A command whose own
is another closes the connection and has said nothing. Then there is one request and one reply, each a JSON object
with a line end. Only the standard library, msgspec and the settings are imported, because they are quick.
"""

import os
import socket
import struct
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from hashlib import sha256
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from domain.errors import Code, Refusal
from infra.settings.settings import Settings
from infra.valkey.directory import DataDirectory
from services import __version__
from services.app.error_codes import CODE_INFO, EXIT_OK

_GREETING_SECONDS: Final = 1.0
"""How long a server may take to say who it is; one that takes longer is left in peace."""

_LINE_SECONDS: Final = 60.0
"""How long a line may take beyond the time that it may wait for its outcome."""

NO_MATTER: Final = frozenset({
    # the same directory may have several paths
    "data",
    # of processes: their numbers and addresses, and from where they are reached
    "http", "web", "metrics", "gather", "workers", "shards", "maxmemory", "publish_seconds", "archive_after", "scrub_percent", "dump_hour",
    "robot_seconds", "address_rate", "password_rate", "trusted_proxy", "signups", "log_format", "log_level", "security_log",
    # mails and pages
    "smtp", "lmtp", "relay", "mail_domain", "mail_key", "mail_passwords", "mail_authserv", "postmaster", "site", "push",
    "push_services", "hooks", "hook_hosts", "transfer_to",
})  # fmt: skip
"""Settings on which no answer at the data depends, so that a terminal need not have those of the server."""


class LineRequest(msgspec.Struct, frozen=True, tag="line"):
    """A line, and how it is to be carried out."""

    line: str
    key: str
    wait: float
    receipts: bool
    """Whether the result has receipts."""
    needs_receipt: bool
    """Whether nothing is to be done if the server signs none."""


class PromptsRequest(msgspec.Struct, frozen=True, tag="prompts"):
    """Asks for which passwords a line has `-`."""

    line: str


Request: TypeAlias = LineRequest | PromptsRequest


class Prompt(msgspec.Struct, frozen=True):
    """A password that a line leaves out: in its place stands `-`."""

    start: int
    """Where the `-` stands in the line."""
    is_new: bool
    """Whether the user makes it up, and so may mistype it."""
    userid: str
    """The userid it belongs to, if the line has it."""


class LineResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a command line."""

    sentence: str = ""
    page: str = ""
    """A board or another text of several lines."""
    code: str = ""
    """Empty if the line was accepted or answered."""
    outcome: Mapping[str, Any] | None = None
    """The fields of the outcome, if the line was one command in a match and its outcome is known."""
    receipt: str = ""
    """The receipts of the commands in matches, as they stand in a file."""

    @property
    def exit_code(self) -> int:
        """The exit code that says whether the line was accepted."""
        return CODE_INFO[_known_code(self.code)].exit if self.code else EXIT_OK


def _known_code(code: str) -> Code:
    """Return the code; `unavailable` for one of a newer server that this version does not know."""
    try:
        return Code(code)
    except ValueError:
        return Code.UNAVAILABLE


def refused(reason: Refusal) -> LineResult:
    """Return the result of a line that was refused before it was carried out."""
    return LineResult(reason.sentence, code=str(reason.code))


def identity(settings: Settings) -> bytes:
    """Return the greeting of a server with these settings; `OSError` if there is no data directory."""
    folder = settings.data.stat()
    values = {
        name: str(value)
        for name, value in msgspec.structs.asdict(settings).items()
        if name not in NO_MATTER
    }
    known = [__version__, folder.st_dev, folder.st_ino, values]
    return f"matchpost {sha256(msgspec.json.encode(known)).hexdigest()}\n".encode()


def is_same_user(peer: socket.socket) -> bool:
    """Return whether the other end is a process of this process's user; never where the system can't tell."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return False
    ids = struct.Struct("3i")  # process, user, group
    _, user, _ = ids.unpack(peer.getsockopt(socket.SOL_SOCKET, option, ids.size))
    return bool(user == os.geteuid())


def read_line(connection: socket.socket, most: int | None = None) -> bytes:
    """Return what arrives up to a line end and with it; without one if it does not arrive in time, or within `most` bytes."""
    parts: list[bytes] = []
    with suppress(OSError):
        while part := connection.recv(1 << 16):
            parts.append(part)
            if part.endswith(b"\n") or (most is not None and sum(map(len, parts)) > most):
                break
    return b"".join(parts)


Reply = TypeVar("Reply")


def ask(settings: Settings, request: Request, kind: type[Reply]) -> Reply | None:
    """Return the reply of the server that runs on these data with these settings; None if there is none.

    Then nothing was done. `unavailable` if the server ended while it was at work on a line.
    """
    if os.environ.get("MATCHPOST_DEBUG"):
        return None  # only errors of this process show where they were raised
    try:
        # characters that no UTF-8 has are refused where the line is read
        sent = msgspec.json.encode(request) + b"\n"
        connection = _connect(settings)
    except (OSError, UnicodeEncodeError):
        return None
    if connection is None:
        return None
    with connection:
        try:
            connection.settimeout(_LINE_SECONDS)
            connection.sendall(sent)
        except OSError:
            return None  # without its end nothing is done of it
        if isinstance(request, LineRequest):
            lines = 1 + request.line.count("\n")
            connection.settimeout((_LINE_SECONDS + request.wait) * lines)
        reply = read_line(connection)
    try:
        return msgspec.json.decode(reply, type=kind)
    except msgspec.DecodeError:
        if isinstance(request, LineRequest):
            raise _unknown(request.key) from None
        return None


def _connect(settings: Settings) -> socket.socket | None:
    """Return a connection to a server of the same user with the same version and settings; `OSError` or None without one."""
    expected = identity(settings)
    with ExitStack() as closing:
        connection = closing.enter_context(socket.socket(socket.AF_UNIX))
        connection.settimeout(_GREETING_SECONDS)
        connection.connect(str(DataDirectory(settings.data).line_socket))
        # a line may have a password, so nobody else may hear it
        if is_same_user(connection) and read_line(connection, len(expected)) == expected:
            closing.pop_all()
            return connection
    return None


def _unknown(key: str) -> Refusal:
    return Refusal(
        Code.UNAVAILABLE,
        "the server ended before it answered, so it is not known whether the line was carried out; with "
        f"`--key {key}` it is safe to repeat a command in a match",
    )
