"""Commands about accounts: signup, passwords, addresses, preferences, and leaving."""

from collections.abc import Mapping

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.languages.wording import Wording, wording
from infra.people.accounts import read_address
from services.app import accounts
from services.app.contact import ANYONE, KNOWN, NONE
from services.app.names import name_of, shown_name
from services.app.preferences import (
    PreferenceChanges,
    change_preferences,
)
from services.language.answer import Answer
from services.language.invocation import Invocation


def signup(call: Invocation) -> Answer:
    """Make an account."""
    _check_password(call)
    written = call.line.all("address")
    addresses = written or [call.origin.address] * bool(call.origin.address)
    trusted = call.origin.trusted
    account = accounts.sign_up(
        call.app, *call.sender, addresses, link=call.line.get("link"), by_operator=trusted
    )
    _ = call.words.gettext
    said = [_("welcome, %(name)s; `help` lists what you can do", name=name_of(call.app, account))]
    if addresses and not written:
        said.append(
            _("your e-mail address is %(address)s, the one you wrote from", address=addresses[0])
        )
    if addresses:
        said.append(_about_codes(call, account))
    return Answer("; ".join(said))


def _check_password(call: Invocation) -> None:
    """Refuse a mail address in the password's place, because a word before it is missing."""
    try:
        read_address(call.line.get("password"))
    except Refusal:
        return
    raise Refusal(
        Code.BAD_PASSWORD,
        call.words.gettext(
            "there is an e-mail address where the password belongs; the form is `%(usage)s`",
            usage=call.usage,
        ),
    )


def change_password(call: Invocation) -> Answer:
    """Replace a password, which ends all sessions and, unless they are to be kept, all tokens."""
    account, end = call.account(), not call.line.has("keep_tokens")
    old, new = call.line.get("password"), call.line.get("new")
    accounts.change_password(call.app, account, old, new, tokens=end)
    _, name = call.words.gettext, name_of(call.app, account)
    if end:
        return Answer(
            _(
                "the password of %(name)s has been changed; the account is logged out everywhere, "
                "and its tokens no longer work",
                name=name,
            )
        )
    return Answer(
        _(
            "the password of %(name)s has been changed; the account is logged out everywhere, "
            "and its tokens still work",
            name=name,
        )
    )


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
    count, name = len(call.profile(account).addresses), name_of(call.app, account)
    if not count:
        return Answer(call.words.gettext("%(name)s now has no e-mail address", name=name))
    said = call.words.ngettext(
        "%(name)s now has %(count)s e-mail address",
        "%(name)s now has %(count)s e-mail addresses",
        count,
        name=name,
    )
    return Answer(f"{said}; {_about_codes(call, account)}")


def _about_codes(call: Invocation, account: AccountId) -> str:
    withheld = call.app.accounts.codes.withheld(account)
    if withheld:
        return withheld.in_language(call.words)
    return call.words.gettext(
        "if the server sends mail, each new address will get a code: reply to it to get mail there"
    )


def verify(call: Invocation) -> Answer:
    """Prove a mail address, by the code that was mailed there."""
    address = accounts.prove_address(call.app, call.account(), call.line.get("value"))
    return Answer(
        call.words.gettext(
            "%(address)s is verified; mail will go there from now on", address=address
        )
    )


def set_preference(call: Invocation) -> Answer:
    """Set a player's preference for all games: the language, mail, receipts, or challenges."""
    account, value = call.account(), call.line.get("value")
    if call.line.has("notify"):
        record = change_preferences(call.app, account, PreferenceChanges(notify=value))
        return _set(call, record.name, _mail_choices(call.words)[record.notify])
    if call.line.has("challenges"):
        record = change_preferences(call.app, account, PreferenceChanges(challenges=value))
        return _set(call, record.name, _challenge_choices(call.words)[record.challenges])
    if call.line.has("receipts"):
        record = change_preferences(call.app, account, PreferenceChanges(receipts=value))
        return _set(call, record.name, _receipt_choices(call.words)[record.receipts])
    record = change_preferences(call.app, account, PreferenceChanges(language=value))
    # in the language that was chosen
    words = wording(record.language)
    said = words.gettext("from now on %(name)s reads and gets mail in English", name=record.name)
    return Answer(said)


def _set(call: Invocation, name: str, choice: str) -> Answer:
    said = call.words.gettext("from now on %(name)s %(choice)s", name=name, choice=choice)
    return Answer(said)


def _mail_choices(words: Wording) -> Mapping[str, str]:
    """Return when mail is sent, by the word for it."""
    _ = words.gettext
    return {
        "move": _("gets a mail at once whenever something happens"),
        "daily": _("gets one mail a day, and a reminder when your time runs out"),
        "none": _("gets no mail, not even reminders"),
    }


def _challenge_choices(words: Wording) -> Mapping[str, str]:
    """Return whose challenges by name a player accepts, by the word for it."""
    _ = words.gettext
    return {
        ANYONE: _("accepts challenges by name from anybody"),
        KNOWN: _(
            "accepts challenges by name only from players they have played with, written to or challenged"
        ),
        NONE: _("accepts challenges by name from nobody"),
    }


def _receipt_choices(words: Wording) -> Mapping[bool, str]:
    """Return whether mail has receipts, and moves by mail are answered by themselves."""
    _ = words.gettext
    return {
        True: _("gets receipts in its mail, and an answer to each move by mail"),
        False: _("gets no receipts in its mail; a move by mail is in the next mail of its match"),
    }


def set_for_game(call: Invocation) -> Answer:
    """Set how a game is drawn for a player, or a preference for all games."""
    if any(call.line.has(part) for part in ("language", "notify", "challenges", "receipts")):
        return set_preference(call)
    rules, value = call.rules, call.line.get("value")
    wanted = PreferenceChanges(display=(rules.key, value))
    record = change_preferences(call.app, call.account(), wanted)
    display = dict(record.displays)[rules.key]
    said = call.words.gettext(
        "from now on %(game)s is drawn %(display)s for %(name)s",
        game=rules.title,
        display=display,
        name=record.name,
    )
    return Answer(said)


def signoff(call: Invocation) -> Answer:
    """Stop all mail."""
    account = call.account()
    accounts.sign_off(call.app, account)
    name = name_of(call.app, account)
    said = call.words.gettext(
        "%(name)s won't get any more mail; `set %(name)s password notify move` starts it "
        "again, `delete %(name)s password` erases the account",
        name=name,
    )
    return Answer(said)


def delete(call: Invocation) -> Answer:
    """Erase an account and all personal data."""
    words = _words_of_sender(call)  # before the account is erased, and its language with it
    accounts.delete_account(call.app, *call.sender)
    said = words.gettext(
        "the account and all its personal data have been erased; its matches continue under "
        "`%(name)s`, and those waiting for your move will be lost on time",
        name=shown_name(None, words),
    )
    return Answer(said)


def _words_of_sender(call: Invocation) -> Wording:
    """Return the words of the language of the userid in the line, which nothing has proven yet."""
    try:
        account = call.app.accounts.id_of(call.line.get("userid"))
    except Refusal:
        return call.words
    return wording(call.app.accounts.language_of(account))
