"""A mail program that talks to a socket line by line, right or wrong."""

import socket
from pathlib import Path
from typing import Self


class Wire:
    """A connection to a server that speaks as SMTP does."""

    def __init__(self, place: tuple[str, int] | Path) -> None:
        if isinstance(place, Path):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(str(place))
        else:
            self._socket = socket.create_connection(place)
        self._socket.settimeout(20)
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def answer(self) -> str:
        """The last line of the next answer; empty when the connection has ended."""
        line = self._file.readline().decode()
        while line[3:4] == "-":
            line = self._file.readline().decode()
        return line.rstrip("\r\n")

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def say(self, line: str) -> str:
        """Send a line; gives its answer."""
        self.write(f"{line}\r\n".encode())
        return self.answer()

    def begin(self, hello: str = "EHLO here") -> Self:
        assert self.answer().startswith("220 ")
        assert self.say(hello).startswith("250 ")
        return self

    def send(self, sender: str, to: str, data: bytes) -> str:
        """Send a mail, up to where it is refused; gives the last answer."""
        for line in (f"MAIL FROM:<{sender}>", f"RCPT TO:<{to}>", "DATA"):
            said = self.say(line)
            if said[0] not in "23":
                return said
        rows = data.split(b"\r\n")
        self.write(
            b"".join(b"." + row + b"\r\n" if row[:1] == b"." else row + b"\r\n" for row in rows)
        )
        return self.say(".")
