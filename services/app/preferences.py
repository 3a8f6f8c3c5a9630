"""Preferences of a player: language, mail, challenges by name, and drawings of boards.

Notifications in browsers: which browsers of an account show them.
"""

from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Collection, Mapping
from typing import Annotated, Final

import msgspec

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import Text
from infra.languages.catalogues import languages
from infra.log.key_files import keys_folder
from infra.mail.push import AUTH_BYTES, VapidKey, read_public_key
from infra.people.accounts import Account
from infra.people.push_subscriptions import PushSubscription
from infra.settings.push_services import is_allowed, read_push_services
from services.app.contact import ANYONE, KNOWN, NONE
from services.app.context import App
from services.app.games import read_display, read_game
from services.app.sentences import SAY

MAIL_CHOICES: Final = ("move", "daily", "none")
"""When mail is sent: at once whenever something happens, once a day with reminders, or never."""

RECEIPT_CHOICES: Final = ("on", "off")
"""Whether mail has receipts, and moves by mail are answered by themselves."""

CHALLENGE_CHOICES: Final = (ANYONE, KNOWN, NONE)
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
        fields["notify"] = _read_choice(
            wanted.notify, MAIL_CHOICES, SAY("no-mail-choice", word=_shown(wanted.notify))
        )
        fields["signed_off"] = False
    if wanted.challenges is not None:
        fields["challenges"] = read_challengers(wanted.challenges)
    if wanted.receipts is not None:
        chosen = wanted.receipts
        fields["receipts"] = (
            chosen
            if isinstance(chosen, bool)
            else _read_choice(
                chosen, RECEIPT_CHOICES, SAY("no-receipt-choice", word=_shown(chosen))
            )
            == "on"
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


def read_challengers(text: str) -> str:
    """Return whose challenges by name are accepted; `bad-option` for another word."""
    return _read_choice(text, CHALLENGE_CHOICES, SAY("no-challenge-choice", word=_shown(text)))


def read_language(text: str) -> str:
    """Return the code of a language; `bad-option` if there is no such language here."""
    known = ", ".join(languages())
    return _read_choice(text, languages(), SAY("no-language", word=_shown(text), known=known))


def _read_displays(wanted: Mapping[str, str]) -> dict[str, str]:
    read = [(read_game(game), display) for game, display in wanted.items()]
    return {rules.key: read_display(rules, display) for rules, display in read}


def _read_choice(text: str, known: Collection[str], otherwise: Text) -> str:
    if text.lower() not in known:
        raise Refusal(Code.BAD_OPTION, otherwise)
    return text.lower()


def _shown(text: str) -> str:
    return text[:24]


MOST_LABEL: Final = 100


def vapid_key(app: App) -> VapidKey:
    """Return the key that browsers subscribe to; `MacKeyError` if the key it is derived from is missing."""
    return VapidKey.in_folder(keys_folder(app.settings), app.settings.site or "")


class BrowserKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a browser's subscription, in base64 for URLs, by the names that browsers use."""

    p256dh: Annotated[str, msgspec.Meta(max_length=200)]
    auth: Annotated[str, msgspec.Meta(max_length=200)]


def subscribe(
    app: App,
    account: AccountId,
    endpoint: str,
    keys: BrowserKeys,
    *,
    label: str,
    login: str,
) -> PushSubscription:
    """Let a browser show notifications, while the session or the token of this id lasts.

    `bad-option` for an endpoint at no known push service, for unusable keys, and where notifications are off;
    `too-many`; `unknown-user`.
    """
    if not app.settings.sends_push:
        raise Refusal(Code.BAD_OPTION, SAY("push-off"))
    if not is_allowed(endpoint, read_push_services(app.settings.push_services)):
        raise Refusal(Code.BAD_OPTION, SAY("push-service"))
    one = PushSubscription(
        endpoint,
        _public_key(keys.p256dh),
        _secret(keys.auth),
        label.strip()[:MOST_LABEL],
        app.store.now(),
        login,
    )
    app.push_subscriptions.add(account, one)
    return one


def unsubscribe(app: App, account: AccountId, id_: str) -> None:
    """End the notifications of a browser; one that shows none is no error."""
    app.push_subscriptions.remove(account, id_)


def _public_key(text: str) -> bytes:
    data = _decode(text)
    try:
        read_public_key(data)
    except ValueError:
        raise _bad_keys() from None
    return data


def _secret(text: str) -> bytes:
    data = _decode(text)
    if len(data) != AUTH_BYTES:
        raise _bad_keys()
    return data


def _decode(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (Error, ValueError):
        raise _bad_keys() from None


def _bad_keys() -> Refusal:
    return Refusal(Code.BAD_OPTION, SAY("push-keys"))
