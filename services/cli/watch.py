"""`matchpost watch [BOARD ...]`: a line for each event as it happens, from the event streams of a server.

Without a number it shows the news of all matches of the account. A connection that breaks is made again,
and no event is missed. Exit code 0 after Ctrl-C, and with --until-over once all the matches are over.
"""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, NamedTuple

import msgspec
from httpx import TransportError

from domain.errors import Code, Refusal
from infra.languages.wording import IN_ENGLISH, Wording, wording
from services.app.error_codes import EXIT_OK
from services.cli.described_match import DescribedMatch
from services.cli.remote import run_remotely
from services.client import Client, ProblemError
from services.client.connect import Connection, require_connection
from services.client.following import Link, follow
from services.client.stream_messages import StreamMessage
from services.language.arguments import read_board

_REOPENED_SECONDS: Final = 60.0
"""Pause between two looks whether a ruling has set a match back that was over."""


class WatchLine(NamedTuple):
    """An event: as JSON for programs, and as a line for people."""

    document: Mapping[str, Any]
    text: str


class _Finished(NamedTuple):
    """The end of a source of lines."""

    error: Exception | None


class _PrintedLink(Link):
    """Prints on standard error when the connection is lost and when it is back."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last = ""

    def opened(self) -> None:
        self._print(f"{self._connection}: connected")

    def broken(self, reason: str) -> None:
        if self._last.endswith("connected"):
            self._print(f"{self._connection}: the connection is lost ({reason}); trying again")

    def _print(self, line: str) -> None:
        """Print a line, unless it was the last one."""
        if line != self._last:
            self._last = line
            print(line, file=sys.stderr, flush=True)


def run(boards: Sequence[str], url: str, as_json: bool, until_over: bool) -> int:  # noqa: FBT001 - called by keyword
    """Print lines until Ctrl-C or the end of the matches, and return the exit code."""
    numbers = list(dict.fromkeys(map(read_board, boards)))
    if until_over and not numbers:
        raise Refusal(Code.USAGE, "--until-over needs the numbers of matches")
    connection = require_connection(url)
    if not numbers and connection.token is None:
        raise Refusal(
            Code.UNAUTHORIZED,
            "log in by `matchpost login URL` to watch your matches, or name the number of one",
        )
    link = _PrintedLink(connection)
    sources = [partial(_events, connection, link, number, until_over) for number in numbers]
    lines = _merged(sources or [partial(_news, connection, link)])
    try:
        return run_remotely(connection.url, lambda: _print_all(lines, as_json))
    except KeyboardInterrupt:
        return EXIT_OK


def _print_all(lines: Iterator[WatchLine], as_json: bool) -> int:  # noqa: FBT001
    for line in lines:
        text = msgspec.json.encode(line.document).decode() if as_json else line.text
        print(text, flush=True)
    return EXIT_OK


def _merged(sources: Sequence[partial[Iterator[WatchLine]]]) -> Iterator[WatchLine]:
    """Yield the lines of all sources as they come, until all have ended or one has failed."""
    queue: SimpleQueue[WatchLine | _Finished] = SimpleQueue()
    for source in sources:
        Thread(target=_read_all, args=(source, queue), daemon=True).start()
    left = len(sources)
    while left:
        match queue.get():
            case _Finished(None):
                left -= 1
            case _Finished(error):
                assert error is not None
                raise error
            case line:
                yield line


def _read_all(
    source: partial[Iterator[WatchLine]], queue: "SimpleQueue[WatchLine | _Finished]"
) -> None:
    try:
        for line in source():
            queue.put(line)
    except Exception as error:  # noqa: BLE001 - raised again by the thread that prints
        queue.put(_Finished(error))
    else:
        queue.put(_Finished(None))


def _events(
    connection: Connection,
    link: Link,
    board: int,
    until_over: bool,  # noqa: FBT001
) -> Iterator[WatchLine]:
    """Yield a line for each event of a match from now on."""
    with Client(connection.url, connection.token) as client:
        words = _words(client, connection)
        watched = DescribedMatch(client, board, words)
        watched.catch_up()
        while True:
            for message in follow(client, f"/api/matches/{board}/events", str(watched.seq), link):
                sentence = watched.read(message.data)
                text = f"{words.stamp(message.data['at'])} {sentence}"
                yield WatchLine({"board": board, **message.data}, text)
            if until_over:
                return
            time.sleep(_REOPENED_SECONDS)


def _news(connection: Connection, link: Link) -> Iterator[WatchLine]:
    """Yield a line for each notice to the account from now on."""
    with Client(connection.url, connection.token) as client:
        words = _words(
            client, connection
        )  # a server that is not there, or refuses the token, ends it here
        matches: dict[int, DescribedMatch] = {}
        for message in follow(client, "/api/account/events", "", link):
            document = {"id": message.id, "kind": message.kind, **message.data}
            yield WatchLine(document, _news_text(client, matches, message, words))


def _words(client: Client, connection: Connection) -> Wording:
    """Return the words of the language of the account, if there is a token; otherwise English."""
    if connection.token is None:
        return IN_ENGLISH
    return wording(client.get("/api/account")["language"])


def _news_text(
    client: Client, matches: dict[int, DescribedMatch], message: StreamMessage, words: Wording
) -> str:
    kind, data = message.kind, message.data
    at, board = words.stamp(data.get("at", data.get("since", 0))), data.get("board", 0)
    if text := _of_no_event(kind, board, words):
        return f"{at} {kind}: {text}"
    try:
        watched = matches.setdefault(board, DescribedMatch(client, board, words))
        return f"{at} {kind}: {watched.sentence(data['seq'])}"
    except (ProblemError, TransportError):
        # the news is shown all the same, without the details that could not be read
        return f"{at} {kind}: {words.gettext('match %(board)s', board=board)}"


def _of_no_event(kind: str, board: int, words: Wording) -> str:
    """Return a sentence for news that are about no event of a match; empty for all others."""
    _ = words.gettext
    texts = {
        "gap": _("some news is missing, because the server no longer keeps it"),
        "chat": _("somebody wrote in the chat of match %(board)s", board=board),
        "message": _("somebody wrote to you; `matchpost do messages` shows it"),
    }
    return texts.get(kind, "")
