"""`matchpost site`: the operator sets the site's name, contact, texts, banner and logo."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from domain.errors import Code, Refusal
from infra.people.masthead import Masthead, SiteChanges, SiteText
from infra.sentences import SAY
from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.app.site import banner_end, change_site, last_day

_STANDARD_INPUT: Final = "-"


class _Given(NamedTuple):
    """The options."""

    name: str | None
    contact: str | None
    until: str | None
    remove: bool


def run(  # noqa: PLR0917 - called by keyword
    action: str,
    about: Sequence[str],
    name: str | None,
    contact: str | None,
    until: str | None,
    remove: bool,  # noqa: FBT001 - called by keyword
    settings: Settings,
) -> int:
    """Change what is given, print how it stands, and return the exit code."""
    given = _Given(name, contact, until, remove)
    with App(settings) as parts:
        parts.ready()
        if action != "show":
            changes, logo = _asked(action, about, given)
            change_site(parts, changes, logo)
        _show(parts.mastheads.now(), parts.mastheads.texts())
    return EXIT_OK


def _asked(action: str, about: Sequence[str], given: _Given) -> tuple[SiteChanges, bytes | None]:
    """Return what is to be changed, and the bytes of the logo."""
    match action, *about:
        case ["set"] if given.name is not None or given.contact is not None:
            return SiteChanges(name=given.name, contact=given.contact), None
        case ["text", kind, language, *rest] if len(rest) <= 1:
            return SiteChanges(texts={(_kind(kind), language): _text(rest, given)}), None
        case ["banner", language, *rest] if len(rest) <= 1:
            end = banner_end(given.until or "")
            return SiteChanges(banner={language: _text(rest, given)}, banner_until=end), None
        case ["logo", *rest] if len(rest) <= 1:
            return SiteChanges(), b"" if given.remove else _read(rest)
        case _:
            raise Refusal(Code.USAGE, SAY("site-usage"))


def _text(rest: Sequence[str], given: _Given) -> str:
    try:
        return "" if given.remove else _read(rest).decode()
    except UnicodeDecodeError:
        raise Refusal(Code.BAD_OPTION, SAY("site-utf8")) from None


def _kind(name: str) -> SiteText:
    try:
        return SiteText(name)
    except ValueError:
        raise Refusal(Code.BAD_OPTION, SAY("site-text", choices=", ".join(SiteText))) from None


def _read(rest: Sequence[str]) -> bytes:
    """Return the bytes of a file, or of the standard input."""
    (file,) = rest or [_STANDARD_INPUT]
    try:
        return sys.stdin.buffer.read() if file == _STANDARD_INPUT else Path(file).read_bytes()
    except OSError as error:
        said = SAY("site-file", file=file, problem=error.strerror or str(error))
        raise Refusal(Code.BAD_OPTION, said) from None


def _show(found: Masthead, texts: dict[SiteText, dict[str, str]]) -> None:
    """Print what the site has of its own, a line each."""
    print(f"name: {found.name}")
    print(f"contact: {found.contact or 'none'}")
    for kind, by_language in texts.items():
        said = ", ".join(
            f"{language} ({len(text)} characters)" for language, text in sorted(by_language.items())
        )
        print(f"text {kind}: {said or 'none'}")
    until = f" until {last_day(found.banner_until)}" if found.banner_until else ""
    for language, text in sorted(found.banner.items()):
        print(f"banner, {language}{until}: {text}")
    if not found.banner:
        print("banner: none")
    print(f"logo: {found.logo or 'none'}")
