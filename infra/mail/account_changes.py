"""Mails that say that the addresses or the password of an account were changed, in its language.

They go to the verified addresses that the account had before, because a thief of a password changes the
addresses first. They name no new address and have no secret.
"""

from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import Final

import redis

from infra.mail.composer import EmailText
from infra.mail.email import Email, Purpose
from infra.mail.outbox import Outbox
from infra.people.accounts.record import AccountChange, Profile

_TEXTS: Final[Mapping[tuple[AccountChange, str], EmailText]] = {
    (AccountChange.ADDRESSES, "en"): EmailText(
        "Your e-mail addresses were changed",
        "The e-mail addresses of your account {name} at {domain} have just been changed.\n"
        "This e-mail goes to each verified address that the account had before.\n"
        "If it was you, you need not do anything.\n\n"
        "If it was not you, somebody knows your password or has one of your tokens.\n"
        "Log in, change your password, and log out everywhere.\n"
        "Then enter your addresses again.\n",
    ),
    (AccountChange.ADDRESSES, "de"): EmailText(
        "Deine Mailadressen wurden geändert",
        "Die Mailadressen deines Kontos {name} auf {domain} wurden gerade geändert.\n"
        "Diese Mail geht an jede bestätigte Adresse, die das Konto davor hatte.\n"
        "Wenn du es warst, brauchst du nichts zu tun.\n\n"
        "Wenn du es nicht warst, kennt jemand dein Passwort oder hat eins deiner Tokens.\n"
        "Melde dich an, ändere dein Passwort, und melde dich überall ab.\n"
        "Trage dann deine Adressen wieder ein.\n",
    ),
    (AccountChange.PASSWORD, "en"): EmailText(
        "Your password was changed",
        "The password of your account {name} at {domain} has just been changed.\n"
        "This e-mail goes to each verified address of the account.\n"
        "If it was you, you need not do anything. Replies to earlier e-mails about your\n"
        "matches are refused from now on; reply to later ones.\n\n"
        "If it was not you, somebody else has your account. Ask for a new password on the\n"
        "log-in page at once, and check your e-mail addresses afterwards.\n",
    ),
    (AccountChange.PASSWORD, "de"): EmailText(
        "Dein Passwort wurde geändert",
        "Das Passwort deines Kontos {name} auf {domain} wurde gerade geändert.\n"
        "Diese Mail geht an jede bestätigte Adresse des Kontos.\n"
        "Wenn du es warst, brauchst du nichts zu tun. Antworten auf frühere Mails zu deinen\n"
        "Partien werden ab jetzt abgelehnt; antworte auf spätere.\n\n"
        "Wenn du es nicht warst, hat jemand anders dein Konto. Lass dir sofort auf der Seite\n"
        "zum Anmelden ein neues Passwort geben, und prüfe danach deine Mailadressen.\n",
    ),
}


def account_change_mailer(
    client: redis.Redis, domain: str
) -> Callable[[Profile, AccountChange], None]:
    """Return a function that queues these mails."""
    outbox = Outbox(client)

    def enqueue(record: Profile, change: AccountChange) -> None:
        outbox.enqueue_all(account_change_emails(record, change, domain))

    return enqueue


def account_change_emails(record: Profile, change: AccountChange, domain: str) -> list[Email]:
    """Return the mails to the verified addresses of a record."""
    text = _TEXTS.get((change, record.language), _TEXTS[change, "en"])
    return [
        Email(
            id=f"{change}-{token_hex(16)}@{domain}",
            to=one.address,
            subject=text.subject,
            body=text.body.format(name=record.name, domain=domain),
            headers=(("Auto-Submitted", "auto-generated"),),
            # not a notice, because that is sent only to addresses that the account still has
            purpose=Purpose.ANSWER,
        )
        for one in record.addresses
        if one.usable
    ]
