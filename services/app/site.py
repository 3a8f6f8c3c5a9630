"""The site's own: its name, contact, texts, banner and logo, as the operator sets them and everybody sees them."""

import time
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import ENGLISH
from infra.languages.catalogues import languages
from infra.people.logos import MOST_BYTES, MOST_PIXELS, logo_name
from infra.people.masthead import Masthead, SiteChanges, SiteText
from infra.redis.recent import FRESH_SECONDS
from infra.sentences import SAY
from services.app.acts import TERMINAL, Act, record_act
from services.app.context import App
from services.app.roles import require_operator

MOST_OF_NAME: Final = 40
MOST_OF_CONTACT: Final = 200
MOST_OF_BANNER: Final = 500
MOST_OF_TEXT: Final = 20_000


def in_some_language(text: Mapping[str, str], language: str) -> tuple[str, str]:
    """Return a text with its language: the reader's, or English, or any; two empty ones where there is no text."""
    found = next((one for one in (language, ENGLISH.code, *text) if one in text), "")
    return found, text.get(found, "")


def banner_end(day: str) -> int:
    """Return the end of a day such as `2026-12-24` in UTC, ms, and 0 for an empty text; `bad-option`."""
    try:
        after = date.fromisoformat(day) + timedelta(days=1) if day else None
    except (ValueError, OverflowError):
        raise Refusal(Code.BAD_OPTION, SAY("banner-day")) from None
    return int(datetime(*after.timetuple()[:3], tzinfo=UTC).timestamp() * 1000) if after else 0


def last_day(end: int) -> str:
    """Return the day of which `end` (ms) is the end, as `banner_end` reads it; empty for 0."""
    return f"{datetime.fromtimestamp(end / 1000, UTC) - timedelta(days=1):%Y-%m-%d}" if end else ""


def change_site(
    app: App, changes: SiteChanges, logo: bytes | None = None, *, by: AccountId = TERMINAL
) -> Masthead:
    """Change what is given, and return how it stands when that is in force in all processes.

    `logo` is the bytes of a new one, none to have none. `not-an-operator`, `bad-option` or `too-long`, and then nothing
    is changed.
    """
    app.ready()
    require_operator(app, by)
    checked = replace(
        changes,
        name=_line("name", changes.name, MOST_OF_NAME),
        contact=_line("contact", changes.contact, MOST_OF_CONTACT),
        banner={
            language: _text(language, text, MOST_OF_BANNER)
            for language, text in changes.banner.items()
        },
        texts={key: _text(key[1], text, MOST_OF_TEXT) for key, text in changes.texts.items()},
        logo=None if logo is None else (_checked_logo(logo), logo),
    )
    app.mastheads.change(checked)
    record_act(app, by, Act.SITE_CHANGED, what=_said(checked))
    time.sleep(FRESH_SECONDS)  # what a process has read before is too old by then
    return app.mastheads.now()


def _line(what: str, text: str | None, most: int) -> str | None:
    """Return a line without blanks around it; it goes into the headers of mails."""
    if text is None:
        return None
    line = text.strip()
    if not line.isprintable() or any(one in line for one in "<>"):
        raise Refusal(Code.BAD_OPTION, SAY("site-line", what=what))
    if len(line) > most:
        raise Refusal(Code.TOO_LONG, SAY("site-long", most=most, length=len(line)))
    return line


def _text(language: str, text: str, most: int) -> str:
    """Return a text in a language, without blanks around it and with plain line ends."""
    if language not in languages():
        raise Refusal(Code.BAD_OPTION, SAY("site-language", choices=", ".join(languages())))
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if not all(one.isprintable() or one in "\n\t" for one in lines):
        raise Refusal(Code.BAD_OPTION, SAY("site-characters"))
    if len(lines) > most:
        raise Refusal(Code.TOO_LONG, SAY("site-long", most=most, length=len(lines)))
    return lines


def _checked_logo(data: bytes) -> str:
    name = logo_name(data) if data else ""
    if data and not name:
        raise Refusal(Code.BAD_OPTION, SAY("site-logo", most=MOST_BYTES // 1000, side=MOST_PIXELS))
    return name


def _said(changes: SiteChanges) -> str:
    """Return what was changed, for the record."""
    names = [one for one in ("name", "contact", "logo") if getattr(changes, one) is not None]
    if changes.banner or changes.banner_until is not None:
        names.append(" ".join(("banner", *changes.banner)))
    return ", ".join([*names, *(f"{kind} {language}" for kind, language in changes.texts)])


def shown_text(app: App, kind: SiteText, language: str) -> tuple[str, str]:
    """Return a text of the site with its language, the reader's if it is there; two empty ones for none."""
    return in_some_language(app.mastheads.texts()[kind], language)
