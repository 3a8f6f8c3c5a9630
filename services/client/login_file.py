"""The login of this user on this machine: a server's URL and a token for it, in a file of their own.

Only its user may read the file, because anybody with the token can play for the account.

Paths of the files that commands keep for this user.

They follow the XDG base directories. Only the standard library is imported, because completion asks for
them while a line is typed.
"""

import os
from pathlib import Path
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from infra.process.synced_files import sync_folder, write_synced

_NAME: Final = "matchpost"
"""The folder of these commands among those of other programs."""


def login_file() -> Path:
    """Return the path of the file, whether it is there or not."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / _NAME / "login.json"


def boards_file() -> Path:
    """Return the path of the list of the account's matches, which completion keeps; it may be missing."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / _NAME / "boards"


def state_folder() -> Path:
    """Return the folder for this user's texts."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / _NAME / "draws"


_OTHERS: Final = 0o077
"""The bits of a mode that let others read, change or enter."""


class Login(msgspec.Struct, frozen=True, omit_defaults=True):
    """An account on a server, and a token that stands for it."""

    url: str
    token: str
    userid: str
    token_id: str = ""
    """The id by which the token is ended; empty for a token that the login did not make."""

    def __repr__(self) -> str:
        """Return the account and its server without the token, because it may appear in a log."""
        return f"{type(self).__name__}({self.userid!r} at {self.url!r})"


_DECODER: Final = msgspec.json.Decoder(Login)


def read_login() -> Login | None:
    """Return the login; None if this user is not logged in.

    Refuses a file that others can read, that belongs to another user, or that is damaged:
    `unauthorized`.
    """
    file = login_file()
    try:
        with file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            data = opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Refusal(Code.UNAUTHORIZED, f"the login can't be read: {error}") from None
    if status.st_uid != os.geteuid():
        raise Refusal(Code.UNAUTHORIZED, f"{file} belongs to another user, so it is not used")
    if status.st_mode & _OTHERS:
        raise Refusal(
            Code.UNAUTHORIZED,
            f"others can read the token in {file}; type `chmod 600 {file}`, and log in again if "
            "somebody may have read it",
        )
    try:
        return _DECODER.decode(data)
    except msgspec.DecodeError:
        raise Refusal(
            Code.UNAUTHORIZED, f"{file} is damaged; delete it, and log in again"
        ) from None


def write_login(login: Login) -> Path:
    """Write the file at once and whole, in place of an earlier one, and return its path."""
    file = login_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.chmod(0o700)
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)  # because an existing file would keep its mode
    try:
        write_synced(new, msgspec.json.encode(login))
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
    sync_folder(file.parent)
    boards_file().unlink(missing_ok=True)
    return file


def delete_login() -> None:
    """Delete the file, if it is there, and what is remembered of the account."""
    boards_file().unlink(missing_ok=True)
    file = login_file()
    if file.exists():
        file.unlink()
        sync_folder(file.parent)
