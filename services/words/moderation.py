"""Reports and sanctions in words."""

from collections.abc import Mapping
from typing import Final

from infra.languages.wording import N_, Wording
from infra.people.moderation import ReportKind, ReportReason, Sanction, SanctionKind

_KINDS: Final[Mapping[ReportKind, str]] = {
    ReportKind.MESSAGE: N_("a message"),
    ReportKind.CHAT: N_("a line of chat"),
    ReportKind.NOTE: N_("the note of a challenge"),
    ReportKind.PLAYER: N_("a player"),
    ReportKind.TOURNAMENT: N_("the name and the text of a tournament"),
}
_REASONS: Final[Mapping[ReportReason, str]] = {
    ReportReason.INSULT: N_("insult or threat"),
    ReportReason.SPAM: N_("spam"),
    ReportReason.USERID: N_("an offensive userid"),
    ReportReason.CHEATING: N_("cheating"),
    ReportReason.OTHER: N_("something else"),
}
_SANCTIONS: Final[Mapping[SanctionKind, str]] = {
    SanctionKind.WARNING: N_("warning"),
    SanctionKind.NO_CHAT: N_("no messages and chat"),
    SanctionKind.NO_MATCHES: N_("no new matches"),
    SanctionKind.LOCKED: N_("account suspended"),
}


def kind_name(kind: ReportKind, words: Wording) -> str:
    """Return what a report is about, such as `a message`."""
    return words.gettext(_KINDS[kind])


def reason_names(words: Wording) -> dict[ReportReason, str]:
    """Return the names of all reasons for a report, in the order of a form."""
    return {reason: words.gettext(text) for reason, text in _REASONS.items()}


def sanction_names(words: Wording) -> dict[SanctionKind, str]:
    """Return the names of all sanctions, the mildest first."""
    return {kind: words.gettext(text) for kind, text in _SANCTIONS.items()}


def sanction_said(sanction: Sanction, words: Wording) -> str:
    """Return a sanction with its end, without a full stop, such as `no new matches until Dec 5, 2026`."""
    name = sanction_names(words)[sanction.kind]
    if sanction.lifted:
        return words.gettext("%(sanction)s, lifted", sanction=name)
    if sanction.until:
        day = words.day(sanction.until)
        return words.gettext("%(sanction)s until %(day)s", sanction=name, day=day)
    return name
