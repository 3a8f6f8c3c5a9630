"""Mails to the old addresses of an account whose addresses were changed.

A thief of a password changes the address first, so that the owner gets no further mail. This mail is
the last to the owner; it names no new address and has no secret.
"""

from collections.abc import Callable
from secrets import token_hex
from typing import Final

import redis

from infra.mail.email import Email, Purpose
from infra.mail.outbox import Outbox
from infra.people.accounts.record import Profile

_SUBJECT: Final = "Your e-mail addresses were changed"

_BODY: Final = """\
The e-mail addresses of your account {name} at {domain} have just been changed.
This e-mail goes to each verified address that the account had before.
If it was you, you need not do anything.

If it was not you, somebody knows your password or has one of your tokens.
Log in, change your password, log out everywhere and revoke all tokens.
Then enter your addresses again.
"""


def address_change_mailer(client: redis.Redis, domain: str) -> Callable[[Profile], None]:
    """Return a function that queues these mails."""
    outbox = Outbox(client)

    def enqueue(record: Profile) -> None:
        outbox.enqueue_all(address_change_emails(record, domain))

    return enqueue


def address_change_emails(record: Profile, domain: str) -> list[Email]:
    """Return the mails to the verified addresses of a record."""
    return [
        Email(
            id=f"addresses-{token_hex(16)}@{domain}",
            to=one.address,
            subject=_SUBJECT,
            body=_BODY.format(name=record.name, domain=domain),
            headers=(("Auto-Submitted", "auto-generated"),),
            # not a notice, because that is sent only to addresses that the account still has
            purpose=Purpose.ANSWER,
        )
        for one in record.addresses
        if one.usable
    ]
