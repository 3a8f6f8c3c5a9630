"""The mails about an account itself, in its language: a code for an address, a link for a new password."""

import re
from collections.abc import Mapping
from typing import Final

from domain.clocks.calendar import DAY
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import EmailText
from infra.mail.verification_codes import CODE_MS, format_code
from services.mail.mail_commands import without_prefixes
from services.mail.parse.message import ParsedMail

_CODES: Final[Mapping[str, EmailText]] = {
    "en": EmailText(
        "matchpost: your code is {code}",
        "Somebody, probably you, entered this e-mail address for the userid {name} on the\n"
        "matchpost server {domain}.\n\n"
        "If it was you, reply to this e-mail with the word yes to verify the address.\n"
        "Or enter this line at the terminal, or send it by e-mail to\n"
        "{address}:\n\n  verify {name} password {code}\n\n"
        "If it was not you, do nothing. Until the address is verified, the server sends only\n"
        "such codes to it.\n\nThe code is good for {days} days.\n",
        "en",
    ),
    "de": EmailText(
        "matchpost: dein Code ist {code}",
        "Jemand, wahrscheinlich du, hat diese Mailadresse für das Konto {name} auf dem\n"
        "matchpost-Server {domain} eingetragen.\n\n"
        "Wenn du es warst, antworte auf diese Mail mit dem Wort ja, um die Adresse zu\n"
        "bestätigen. Oder gib diese Zeile im Terminal ein, oder schicke sie per Mail an\n"
        "{address}:\n\n  verify {name} password {code}\n\n"
        "Wenn du es nicht warst, brauchst du nichts zu tun. Bis die Adresse bestätigt ist,\n"
        "schickt der Server nur solche Codes dorthin.\n\nDer Code gilt {days} Tage lang.\n",
        "de",
    ),
}

_RESETS: Final[Mapping[str, EmailText]] = {
    "en": EmailText(
        "matchpost: a new password for {name}",
        "Somebody, probably you, has forgotten the password of {name} at {site}.\n\n"
        "Open this link to choose a new one. It can be used once, within an hour:\n\n"
        "{link}\n\n"
        "All browsers are logged out then, and the tokens of programs end.\n\n"
        "If it was not you, do nothing: the password stays as it is.\n",
        "en",
    ),
    "de": EmailText(
        "matchpost: ein neues Passwort für {name}",
        "Jemand, wahrscheinlich du, hat das Passwort von {name} auf {site} vergessen.\n\n"
        "Öffne diesen Link, um ein neues zu wählen. Er gilt einmal, eine Stunde lang:\n\n"
        "{link}\n\n"
        "Dann werden alle Browser abgemeldet, und die Tokens von Programmen enden.\n\n"
        "Wenn du es nicht warst, brauchst du nichts zu tun: Das Passwort bleibt, wie es ist.\n",
        "de",
    ),
}


def code_text(language: str, name: str, code: str, addresses: ServerAddresses) -> EmailText:
    """Return the mail with a code that verifies an address; English for a language without words."""
    found = _CODES.get(language, _CODES["en"])
    return EmailText(
        found.subject.format(code=code),
        found.body.format(
            name=name,
            code=code,
            domain=addresses.domain,
            address=addresses.server_address,
            days=CODE_MS // DAY,
        ),
        found.language,
    )


_YES: Final = re.compile(r"\W*(yes|ja)\W*", re.IGNORECASE)


def confirms(mail: ParsedMail, code: str) -> bool:
    """Return whether a person answers the mail with a code, and not a program that quotes it.

    A person writes `yes` first, or the code on a line of its own, or nothing below the subject as it was.
    """
    lines = [line for line in mail.lines if line]
    if not lines and not mail.problem:
        shown = format_code(code)
        return without_prefixes(mail.subject) in {
            text.subject.format(code=shown) for text in _CODES.values()
        }
    return bool(lines and _YES.fullmatch(lines[0])) or any(
        re.sub(r"[\W_]", "", line).lower() == code for line in lines
    )


def reset_text(language: str, name: str, site: str, link: str) -> EmailText:
    """Return the mail; English for a language without words."""
    found = _RESETS.get(language, _RESETS["en"])
    return EmailText(
        found.subject.format(name=name),
        found.body.format(name=name, site=site, link=f"{site}/password/{link}"),
        found.language,
    )
