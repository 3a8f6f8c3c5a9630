"""A player's calendar in the form of calendar programs, iCalendar (RFC 5545)."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from domain.rules import latest_rules
from infra.languages.wording import Wording
from services.app.calendar import Calendar, CalendarEntry, CalendarKind

MEDIA_TYPE: Final = "text/calendar"

_PRODUCT: Final = "-//matchpost//calendar//EN"
_REFRESH: Final = timedelta(hours=1)


def write_calendar(calendar: Calendar, site: str, words: Wording) -> bytes:
    """Return a calendar, whose entries link to pages below the address `site`.

    An entry keeps its UID when its date moves. All times are in UTC, so that it needs no time zones.
    """
    from icalendar import Calendar as File  # noqa: PLC0415 - seldom needed

    file = File()
    file.add("prodid", _PRODUCT)
    file.add("version", "2.0")
    file.add("method", "PUBLISH")
    file.add("name", f"matchpost: {calendar.profile.name}")
    file.add("x-wr-calname", f"matchpost: {calendar.profile.name}")
    file.add("refresh-interval", _REFRESH, parameters={"value": "DURATION"})
    # another for each account on any server, and the same wherever its site is
    owner = sha256(calendar.account).hexdigest()[:16]
    for entry in calendar.entries:
        file.add_component(_event(entry, site, owner, words))
    return bytes(file.to_ical())


def _event(entry: CalendarEntry, site: str, owner: str, words: Wording):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from icalendar import Event  # noqa: PLC0415 - as above

    event = Event()
    stage = f"-{entry.stage}" if entry.stage else ""
    event.add("uid", f"{entry.kind}-{entry.number}{stage}@{owner}.matchpost")
    event.add("sequence", entry.revision)
    event.add("dtstamp", _moment(entry.changed))
    event.add("last-modified", _moment(entry.changed))
    event.add("dtstart", _moment(entry.at))
    if entry.until != entry.at:
        event.add("dtend", _moment(entry.until))
    event.add("summary", _summary(entry, words))
    event.add("url", site + _path(entry))
    event.add("transp", "TRANSPARENT")
    return event


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at // 1000, UTC)


def _path(entry: CalendarEntry) -> str:
    match entry.kind:
        case CalendarKind.DEADLINE:
            return f"/m/{entry.number}"
        case CalendarKind.VACATION:
            return "/account#vacation"
        case _:
            return f"/tournaments/{entry.number}"


def _summary(entry: CalendarEntry, words: Wording) -> str:
    _, name = words.gettext, entry.name
    match entry.kind:
        case CalendarKind.DEADLINE if entry.others:
            return _(
                "%(game)s against %(names)s: your time ends",
                game=latest_rules(entry.game).title,
                names=words.names(entry.others),
            )
        case CalendarKind.DEADLINE:
            return _("%(game)s: your time ends", game=latest_rules(entry.game).title)
        case CalendarKind.VACATION:
            return _("Vacation: your clocks are stopped")
        case CalendarKind.ENTRY_ENDS:
            return _("%(name)s: entry closes and it starts", name=name)
        case CalendarKind.ROUND_BEGINS:
            return _("%(name)s: the next round begins", name=name)
        case _:
            return _("%(name)s: the round ends", name=name)
