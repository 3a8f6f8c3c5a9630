"""All that the server has about an account as one ZIP file, which is sent while it is made."""

from collections.abc import Iterator, Mapping
from io import RawIOBase
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

from domain.records import AccountId
from domain.rules import MissingRules, rules_by_id
from infra.languages.wording import N_, Wording
from services.app.context import App
from services.app.names import shown_names
from services.app.own_data import OwnFile, OwnMatch, own_files, own_matches
from services.words.endings import board_svg, board_text

MEDIA_TYPE: Final = "application/zip"


def archive_name(userid: str) -> str:
    """Return the name of the file of an account's data."""
    return f"matchpost-{userid.lower()}.zip"


def own_archive(app: App, account: AccountId, words: Wording) -> Iterator[bytes]:
    """Yield the parts of a ZIP file with all that the server has about an account; `unknown-user`.

    No more than one match is in memory. What changes while it is made may be in it or not.
    """
    first, sink = own_files(app, account), _Sink()
    with ZipFile(sink, "w", ZIP_DEFLATED) as archive:
        for file in _files(app, account, first, words):
            archive.writestr(file.name, file.content)
            yield sink.taken()
    yield sink.taken()


def _files(
    app: App, account: AccountId, first: Iterator[OwnFile], words: Wording
) -> Iterator[OwnFile]:
    yield OwnFile("README.txt", _read_me(words).encode())
    yield from first
    for match, file in own_matches(app, account):
        yield file
        if match is not None and not match.state.has_no_position:
            yield from _boards(match, words)


def _boards(match: OwnMatch, words: Wording) -> Iterator[OwnFile]:
    """Yield the drawings of a match as it stands; none of a game that is no longer installed."""
    board, state = match.board, match.state
    if isinstance(rules_by_id(state.rules), MissingRules):
        return
    names = shown_names([name or None for name in match.names], words)
    svg = board_svg(state, state.ply, names, language=words)
    yield OwnFile(f"matches/{board}.svg", svg.encode())
    text = board_text(state, state.ply, names)
    yield OwnFile(f"matches/{board}.txt", f"{text.rstrip()}\n".encode())


def _read_me(words: Wording) -> str:
    """Return what the files are, and what is in none."""
    _ = words.gettext
    lines = [f"{name:16}{_(said)}" for name, said in _SAID.items()]
    return "\n".join(
        (
            _(
                "All that this server has about your account. Times are milliseconds since 1970, in UTC."
            ),
            "",
            *lines,
            "",
            _(
                "Secrets are left out: passwords, tokens, codes and links, because they would open your account."
            ),
            "",
        )
    )


_SAID: Final[Mapping[str, str]] = {
    "account.json": N_("Your settings and addresses"),
    "messages.json": N_("What you wrote to others, and what was written to you"),
    "chat.json": N_("Your lines of chat, by match"),
    "statements.json": N_("What you stated in claims and appeals, by match"),
    "notices.json": N_("Notices to you"),
    "notes.json": N_("Your notes, by match"),
    "tokens.json": N_("Programs that can use your account"),
    "apps.json": N_("Apps that you have registered, and what you let apps do"),
    "sessions.json": N_("Browsers that are logged in, and those that show notifications"),
    "hooks.json": N_("Webhooks and channels, and what was sent there"),
    "challenges.json": N_("Challenges and matches that wait"),
    "sanctions.json": N_("What moderators decided about you, and what you reported"),
    "clubs.json": N_("Your clubs, and what you announced there"),
    "pairings.json": N_("Matches that you have paired for others"),
    "tournaments.json": N_("Tournaments that you organise or have entered"),
    "lists.json": N_("Whom you block and follow, and what you watch, pin and mute"),
    "refused.json": N_("Commands of yours that were refused"),
    "ratings.json": N_("Your ratings, by game"),
    "bots.json": N_("Your bots, and the programs that play for them"),
    "acts.json": N_("What operators and moderators did to your account"),
    "noted.json": N_("What the server notes by itself, such as how far you have read"),
    "matches/": N_("Your matches, each with its board as a picture and as text"),
}
"""By file or folder, what is in it."""


class _Sink(RawIOBase):
    """Takes what is written, and cannot seek, so that a ZIP file is written from beginning to end."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Keep some bytes until they are taken."""
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
