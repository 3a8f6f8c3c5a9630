"""The mails about an account itself, in its language: a code for an address, a link for a new password."""

from domain.clocks.time_control import DAY
from infra.languages.wording import Wording
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import EmailText
from infra.mail.verification_codes import CODE_MS
from infra.people.masthead import Masthead
from services.mail.code_answers import code_subject


def code_text(
    words: Wording, name: str, code: str, addresses: ServerAddresses, masthead: Masthead
) -> EmailText:
    """Return the mail with a code that verifies an address."""
    body = words.gettext(
        "Somebody, probably you, entered this e-mail address for the userid %(name)s at\n"
        "%(site)s (%(domain)s).\n\nIf it was you, reply to this e-mail with the word yes "
        "to verify the address.\nOr enter this line at the terminal, or send it by e-mail to\n"
        "%(address)s:\n\n  verify %(name)s password %(code)s\n\nIf it wasn't you, you can ignore "
        "this e-mail. Until the address is verified, the\nserver will send nothing but such "
        "codes to it.\n\nThe code works for %(days)s days.\n",
        name=name,
        code=code,
        site=masthead.name,
        domain=addresses.domain,
        address=addresses.server_address,
        days=CODE_MS // DAY,
    )
    subject = code_subject(words, code, masthead)
    return EmailText(subject, masthead.signed(body), words.code)


def reset_text(words: Wording, name: str, site: str, link: str, masthead: Masthead) -> EmailText:
    """Return the mail with the link for a new password."""
    body = words.gettext(
        "Somebody, probably you, asked for a new password for %(name)s at %(site)s.\n\nOpen "
        "this link to choose one. It works once, for an hour:\n\n%(link)s\n\nYou will be logged "
        "out everywhere, and your programs' tokens will stop working.\n\nIf it wasn't you, you "
        "can ignore this e-mail: the password stays as it is.\n",
        name=name,
        site=site,
        link=f"{site}/password/{link}",
    )
    subject = words.gettext("%(site)s: a new password for %(name)s", site=masthead.name, name=name)
    return EmailText(subject, masthead.signed(body), words.code)
