"""The engine of a bot: a program that reads lines on its standard input and answers each question with a line.

docs/bots.md has both forms. An engine that ends, or doesn't answer in time, is started again; the longer it
goes on failing, the later.
"""

import json
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final, NamedTuple

RESIGN: Final = "resign"
"""The answer by which an engine resigns."""

MOST_PAUSE: Final = 60.0
"""The longest pause before an engine is started again, in seconds."""

_END_SECONDS: Final = 5.0
"""How long an engine has to end once its input has ended."""

_LAST_SECONDS: Final = 0.5
"""The same for one that has not answered."""


class EngineError(Exception):
    """An engine has ended, or has not answered; the message is a sentence."""


class RefusedMove(NamedTuple):
    """An answer of the engine that the server has refused."""

    move: str
    message: str


class Engine:
    """An engine that is started when it is first asked; close it when done.

    It has `seconds` for an answer. `pause` waits for so many seconds.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        plain: bool = False,
        seconds: float = 60.0,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._command = shlex.split(command[0]) if len(command) == 1 else list(command)
        self._plain = plain
        self._seconds = seconds
        self._pause = pause
        self._process: subprocess.Popen[str] | None = None
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._failures = 0

    def ask(self, question: Mapping[str, Any], refused: RefusedMove | None = None) -> str:
        """Return the engine's move in a position, or `RESIGN`; `EngineError` without an answer.

        `refused` is its answer before, in the same position.
        """
        process = self._running()
        lines = plain_lines(question, refused) if self._plain else [json_line(question, refused)]
        text = "".join(f"{line}\n" for line in lines)
        # in a thread, because an engine that hangs doesn't read either
        Thread(target=_write, args=(process.stdin, text), daemon=True).start()
        answer = self._answer()
        if answer is None:
            self._failures += 1
            code = self.close(_LAST_SECONDS)
            raise EngineError(
                f"the engine has not answered within {self._seconds:g} seconds"
                if code is None
                else f"the engine has ended with exit code {code}"
            )
        self._failures = 0
        return answer

    def close(self, seconds: float = _END_SECONDS) -> int | None:
        """End the engine, within so many seconds; return its exit code, None if it has not ended by itself."""
        process, self._process = self._process, None
        if process is None:
            return None
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            if self._failures:
                self._pause(min(MOST_PAUSE, 2.0 ** (self._failures - 1)))
            try:
                self._process = subprocess.Popen(  # noqa: S603 - its user chose it
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                    errors="replace",
                )
            except OSError as error:
                self._failures += 1
                raise EngineError(f"the engine can't be started: {error}") from None
            self._lines = SimpleQueue()
            Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        return self._process

    def _answer(self) -> str | None:
        """Return the next line that is an answer; None if the engine ends, or is too slow."""
        end = time.monotonic() + self._seconds
        while (left := end - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except Empty:
                return None
            if line is None:
                return None
            words = line.strip()
            if self._plain:
                first, _, words = words.partition(" ")
                words = words.strip() if first == "bestmove" else ""
            if words and not words.startswith("#"):
                return words
        return None


def _write(stream: IO[str] | None, text: str) -> None:
    assert stream is not None
    with suppress(OSError, ValueError):  # it has ended
        stream.write(text)
        stream.flush()


def _read(stream: IO[str] | None, lines: "SimpleQueue[str | None]") -> None:
    assert stream is not None
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def question_of(match: Mapping[str, Any], seat: int) -> dict[str, Any]:
    """Return what an engine is asked for a seat of a match, as the API shows the match.

    The first six fields are those of a request to the referee.
    """
    clock = match["clock"]
    return {
        "game": match["game"],
        "players": len(match["players"]),
        "options": match["options"],
        "rules": match["rules"],
        "setup": match["setup"],
        "moves": match["moves"],
        "board": match["board"],
        "seat": seat,
        "position": match["at"]["position"],
        "legal": match["at"]["legal"],
        "time_left_ms": clock["seats"][seat]["left_ms"] if clock else None,
    }


def json_line(question: Mapping[str, Any], refused: RefusedMove | None) -> str:
    """Return a question as a line of JSON."""
    before = refused and refused._asdict()
    return json.dumps({**question, "refused": before}, separators=(",", ":"), ensure_ascii=False)


def plain_lines(question: Mapping[str, Any], refused: RefusedMove | None) -> list[str]:
    """Return a question in the plain form, which has no JSON but a random setup."""
    setup = json.dumps(question["setup"], separators=(",", ":"))
    words = ["position", question["game"], str(question["players"])]
    if question["options"]:
        words += ["options", *question["options"]]
    if question["setup"] is not None:
        words += ["setup", setup]
    position = " ".join([*words, "moves", *question["moves"]])
    left = question["time_left_ms"]
    lines = [position, "go" if left is None else f"go time {left}"]
    return [f"refused {refused.move} {refused.message}", *lines] if refused else lines
