"""Mails that say that the addresses or the password of an account were changed, in its language.

They go to the verified addresses that the account had before, because a thief of a password changes the
addresses first. They name no new address and have no secret.

Erases all data of an account that belongs to mail.
"""

from collections.abc import Callable
from secrets import token_hex

import redis

from domain.records import AccountId
from infra.languages.wording import Wording, wording
from infra.mail.composer import EmailText
from infra.mail.email import Email, Purpose
from infra.mail.outbox import Outbox
from infra.mail.progress import MailerProgress
from infra.mail.push import PushQueue
from infra.mail.queues import ChatMailQueue, MessageMailQueue
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts.record import AccountChange, Profile
from infra.people.accounts.second_factors import SETTLING_DAYS
from infra.people.masthead import Masthead, Mastheads
from infra.people.password_resets import PasswordResets


def account_change_mailer(
    client: redis.Redis, domain: str
) -> Callable[[Profile, AccountChange], None]:
    """Return a function that queues these mails."""
    outbox, mastheads = Outbox(client), Mastheads(client)

    def enqueue(record: Profile, change: AccountChange) -> None:
        outbox.enqueue_all(account_change_emails(record, change, domain, mastheads.recent()))

    return enqueue


def account_change_emails(
    record: Profile, change: AccountChange, domain: str, masthead: Masthead
) -> list[Email]:
    """Return the mails to the verified addresses of a record."""
    text = _text(wording(record.language), change, record.name, domain)
    return [
        Email(
            id=f"{change}-{token_hex(16)}@{domain}",
            to=one.address,
            subject=text.subject,
            body=masthead.signed(text.body),
            headers=(("Auto-Submitted", "auto-generated"),),
            # not a notice, because that is sent only to addresses that the account still has
            purpose=Purpose.ANSWER,
        )
        for one in record.addresses
        if one.usable
    ]


def _text(words: Wording, change: AccountChange, name: str, domain: str) -> EmailText:
    match change:
        case AccountChange.ADDRESSES:
            return EmailText(
                words.gettext("Your e-mail addresses were changed"),
                words.gettext(
                    "The e-mail addresses of your account %(name)s at %(domain)s have just been changed.\n"
                    "We are sending this to each verified address that the account had before.\nIf you "
                    "changed them, there is nothing to do.\n\nIf you didn't, somebody knows your password "
                    "or has one of your tokens.\nLog in, change your password, and log out everywhere.\n"
                    "Then enter your addresses again.\n",
                    name=name,
                    domain=domain,
                ),
                words.code,
            )
        case AccountChange.FACTORS:
            return _text_of_factors(words, name, domain)
        case AccountChange.HOOKS:
            return EmailText(
                words.gettext("A webhook of your account"),
                words.gettext(
                    "A webhook or a channel was just added to your account %(name)s at %(domain)s:\nan address "
                    "to which what happens in your matches, or in a club or a tournament of yours,\nis sent. We "
                    "are sending this to each verified address of the account. If it was you,\nthere is nothing "
                    "to do.\n\nIf it wasn't, somebody else has access to your account. Ask for a new password "
                    "on\nthe log-in page at once: that switches off all webhooks and channels of the account.\n",
                    name=name,
                    domain=domain,
                ),
                words.code,
            )
        case AccountChange.PASSWORD:
            return EmailText(
                words.gettext("Your password was changed"),
                words.gettext(
                    "The password of your account %(name)s at %(domain)s has just been changed.\nWe are "
                    "sending this to each verified address of the account.\nIf you changed it, there is "
                    "nothing to do. Replies to earlier e-mails about your\nmatches will be refused from "
                    "now on; reply to later ones.\n\nIf you didn't, somebody else has access to your "
                    "account. Ask for a new password on\nthe log-in page at once, and check your e-mail "
                    "addresses afterwards.\n",
                    name=name,
                    domain=domain,
                ),
                words.code,
            )


def _text_of_factors(words: Wording, name: str, domain: str) -> EmailText:
    return EmailText(
        words.gettext("The second factor of your account"),
        words.gettext(
            "An app for codes, a passkey or recovery codes were just added to your account %(name)s\nat "
            "%(domain)s, or removed from it. We are sending this to each verified address of the\n"
            "account. If it was you, there is nothing to do.\n\nIf it wasn't, somebody else has access to "
            "your account. Ask for a new password on\nthe log-in page within %(days)s days: the link "
            "that you get undoes the change, too.\n",
            days=SETTLING_DAYS,
            name=name,
            domain=domain,
        ),
        words.code,
    )


def erase_mail(client: redis.Redis, account: AccountId) -> None:
    """Erase e-mails to an account, its codes, link and digests, and its unsent chat, messages and notifications.

    Safe to repeat. The counts per id and per address stay: they are hashed, and expire.
    """
    outbox = Outbox(client)
    outbox.forget(account)
    VerificationCodes(client, outbox.now).forget(account)
    MailerProgress(client).forget(account)
    MessageMailQueue(client).forget(account)
    ChatMailQueue(client).forget(account)
    PasswordResets(client).forget(account)
    PushQueue(client).forget(account)
