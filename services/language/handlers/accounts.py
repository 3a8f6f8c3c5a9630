"""Commands about accounts: signup, passwords, addresses, preferences, and leaving."""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.translation import ENGLISH
from infra.languages.wording import wording
from infra.people.accounts import read_address
from services.app import accounts
from services.app.names import name_of, shown_name
from services.app.preferences import (
    CHALLENGE_CHOICES,
    MAIL_CHOICES,
    RECEIPT_CHOICES,
    PreferenceChanges,
    change_preferences,
    language_names,
)
from services.language.answer import Answer
from services.language.invocation import Invocation

_CODES: Final = (
    "; where the server sends mail, a code comes to each new address: answer it to get mail there"
)


def signup(call: Invocation) -> Answer:
    """Make an account."""
    _check_password(call)
    written = call.line.all("address")
    addresses = written or [call.origin.address] * bool(call.origin.address)
    trusted = call.origin.trusted
    account = accounts.sign_up(call.app, *call.sender, addresses, by_operator=trusted)
    welcome = f"welcome, {name_of(call.app, account)}; `help` lists what you can do"
    if addresses and not written:
        welcome += f"; your mail address is {addresses[0]}, from which you wrote"
    return Answer(welcome + (_about_codes(call, account) if addresses else ""))


def _check_password(call: Invocation) -> None:
    """Refuse a mail address in the password's place, because a word before it is missing."""
    try:
        read_address(call.line.get("password"))
    except Refusal:
        return
    raise Refusal(
        Code.BAD_PASSWORD,
        f"a mail address stands in the place of the password; the form is `{call.usage}`",
    )


def change_password(call: Invocation) -> Answer:
    """Replace a password, which ends all sessions and, unless they are to be kept, all tokens."""
    account, end = call.account(), not call.line.has("keep_tokens")
    old, new = call.line.get("password"), call.line.get("new")
    accounts.change_password(call.app, account, old, new, tokens=end)
    name = name_of(call.app, account)
    tokens = "and its tokens are ended" if end else "and its tokens stay valid"
    return Answer(f"the password of {name} is changed; it is logged out everywhere, {tokens}")


def add_addresses(call: Invocation) -> Answer:
    """Add mail addresses."""
    account = call.account()
    accounts.add_addresses(call.app, account, call.line.all("address"))
    return _address_count_answer(call, account)


def change_addresses(call: Invocation) -> Answer:
    """Replace all mail addresses."""
    account = call.account()
    accounts.replace_addresses(call.app, account, call.line.all("address"))
    return _address_count_answer(call, account)


def _address_count_answer(call: Invocation, account: AccountId) -> Answer:
    """Return how many addresses there are now; none is shown, because others may read the answer."""
    count = len(call.profile(account).addresses)
    has = "no mail address" if not count else f"{count} mail address{'es' * (count > 1)}"
    return Answer(
        f"{name_of(call.app, account)} has {has} now{_about_codes(call, account) if count else ''}"
    )


def _about_codes(call: Invocation, account: AccountId) -> str:
    withheld = call.app.accounts.codes.withheld(account)
    return (
        f"; {withheld.in_language(wording(call.profile(account).language))}" if withheld else _CODES
    )


def verify(call: Invocation) -> Answer:
    """Prove a mail address, by the code that was mailed there."""
    address = accounts.prove_address(call.app, call.account(), call.line.get("value"))
    return Answer(f"{address} is yours; mail goes there from now on")


def set_preference(call: Invocation) -> Answer:
    """Set a player's preference for all games: the language of help, mail, receipts, or challenges."""
    account, value = call.account(), call.line.get("value")
    if call.line.has("notify"):
        record = change_preferences(call.app, account, PreferenceChanges(notify=value))
        return Answer(f"from now on {record.name} gets {MAIL_CHOICES[record.notify]}")
    if call.line.has("challenges"):
        record = change_preferences(call.app, account, PreferenceChanges(challenges=value))
        whose = CHALLENGE_CHOICES[record.challenges]
        return Answer(f"from now on {record.name} accepts challenges by name {whose}")
    if call.line.has("receipts"):
        record = change_preferences(call.app, account, PreferenceChanges(receipts=value))
        chosen = RECEIPT_CHOICES["on" if record.receipts else "off"]
        return Answer(f"from now on {record.name} gets {chosen}")
    record = change_preferences(call.app, account, PreferenceChanges(language=value))
    return Answer(
        f"{record.name} reads help in {language_names()[record.language or ENGLISH.code]} from now on"
    )


def set_for_game(call: Invocation) -> Answer:
    """Set how a game is drawn for a player, or a preference for all games."""
    if any(call.line.has(part) for part in ("language", "notify", "challenges", "receipts")):
        return set_preference(call)
    rules, value = call.rules, call.line.get("value")
    wanted = PreferenceChanges(display=(rules.key, value))
    record = change_preferences(call.app, call.account(), wanted)
    display = dict(record.displays)[rules.key]
    return Answer(f"{rules.title} is drawn {display} for {record.name} from now on")


def signoff(call: Invocation) -> Answer:
    """Stop all mail."""
    account = call.account()
    accounts.sign_off(call.app, account)
    name = name_of(call.app, account)
    return Answer(
        f"{name} gets no mail from now on; `set {name} password notify move` starts it again, "
        f"`delete {name} password` erases the account"
    )


def delete(call: Invocation) -> Answer:
    """Erase an account and all personal data."""
    accounts.delete_account(call.app, *call.sender)
    return Answer(
        "the account and all its personal data are erased; matches go on under "
        f"`{shown_name(None)}`, and those that wait for your move are lost on time"
    )
