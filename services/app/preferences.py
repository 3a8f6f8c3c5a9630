"""Preferences of a player: language, mail, challenges by name, and drawings of boards."""

from collections.abc import Mapping
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.translation import ENGLISH
from infra.languages.catalogues import languages
from infra.people.accounts import Account
from services.app.contact import ANYONE, KNOWN, NONE
from services.app.context import App
from services.app.games import read_display, read_game

MAIL_CHOICES: Final = {
    "move": "a mail at once whenever something happens",
    "daily": "one mail a day, and a reminder when your time runs out",
    "none": "no mail, not even reminders",
}
"""When mail is sent."""

RECEIPT_CHOICES: Final = {
    "on": "receipts in its mail, and an answer to each move by mail",
    "off": "no receipts in its mail; a move by mail is in the next mail of its match",
}
"""Whether mail has receipts, and moves by mail are answered by themselves."""

CHALLENGE_CHOICES: Final = {
    ANYONE: "from anybody",
    KNOWN: "only from players they have played with, written to or challenged",
    NONE: "from nobody",
}
"""Whose challenges by name a player accepts."""


class PreferenceChanges(msgspec.Struct, frozen=True):
    """Preferences as a player writes them; None leaves one as it is."""

    language: str | None = None
    """Empty for none: the pages are then in the language that the browser asks for."""
    notify: str | None = None
    challenges: str | None = None
    displays: Mapping[str, str] | None = None
    """A drawing by game; a game that is not named gets its first."""
    display: tuple[str, str] | None = None
    """A game and its drawing; those of other games stay."""
    receipts: str | bool | None = None


def change_preferences(app: App, account: AccountId, wanted: PreferenceChanges) -> Account:
    """Make all these changes or, with a `bad-option`, none; return the new record.

    A choice of when mail is sent ends a sign-off.
    """
    fields: dict[str, object] = {}
    if wanted.language is not None:
        fields["language"] = wanted.language and read_language(wanted.language)
    if wanted.notify is not None:
        fields["notify"] = _read_choice(wanted.notify, MAIL_CHOICES, "time for mail")
        fields["signed_off"] = False
    if wanted.challenges is not None:
        choice = _read_choice(wanted.challenges, CHALLENGE_CHOICES, "choice of challenges")
        fields["challenges"] = choice
    if wanted.receipts is not None:
        chosen = wanted.receipts
        fields["receipts"] = (
            chosen
            if isinstance(chosen, bool)
            else _read_choice(chosen, RECEIPT_CHOICES, "choice of receipts") == "on"
        )
    displays = None if wanted.displays is None else _read_displays(wanted.displays)
    display = _read_displays(dict([wanted.display] if wanted.display else []))
    records: list[Account] = []

    def changed(record: Account) -> Account:
        drawn = (dict(record.displays) if displays is None else displays) | display
        record = msgspec.structs.replace(record, displays=tuple(sorted(drawn.items())), **fields)
        records.append(record)
        return record

    app.accounts.change_of(account, changed)
    return records[-1]


def read_language(text: str) -> str:
    """Return the code of a language; `bad-option` if there is no help in it."""
    if text.lower() in languages():
        return text.lower()
    return _read_choice(text, language_names(), "language of help")


def language_names() -> dict[str, str]:
    """Return the languages of help by their codes, with their English names."""
    from infra.languages.formats import language_name  # noqa: PLC0415 - Babel takes long to import

    return {code: language_name(code, ENGLISH.code) for code in languages()}


def _read_displays(wanted: Mapping[str, str]) -> dict[str, str]:
    read = [(read_game(game), display) for game, display in wanted.items()]
    return {rules.key: read_display(rules, display) for rules, display in read}


def _read_choice(text: str, known: Mapping[str, str], what: str) -> str:
    if text.lower() not in known:
        choices = " or ".join(f"{code} ({meaning})" for code, meaning in known.items())
        raise Refusal(Code.BAD_OPTION, f"{text[:24]!r} is no {what}; choose {choices}")
    return text.lower()
