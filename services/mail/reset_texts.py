"""The mail with the link for a forgotten password, in the language of the account."""

from collections.abc import Mapping
from typing import Final

from infra.mail.composer import EmailText

_TEXTS: Final[Mapping[str, EmailText]] = {
    "en": EmailText(
        "matchpost: a new password for {name}",
        "Somebody, probably you, has forgotten the password of {name} at {site}.\n\n"
        "Open this link to choose a new one. It can be used once, within an hour:\n\n"
        "{link}\n\n"
        "All browsers are logged out then, and the tokens of programs end.\n\n"
        "If it was not you, do nothing: the password stays as it is.\n",
    ),
    "de": EmailText(
        "matchpost: ein neues Passwort für {name}",
        "Jemand, wahrscheinlich du, hat das Passwort von {name} auf {site} vergessen.\n\n"
        "Öffne diesen Link, um ein neues zu wählen. Er gilt einmal, eine Stunde lang:\n\n"
        "{link}\n\n"
        "Dann werden alle Browser abgemeldet, und die Tokens von Programmen enden.\n\n"
        "Wenn du es nicht warst, brauchst du nichts zu tun: Das Passwort bleibt, wie es ist.\n",
    ),
}


def reset_text(language: str, name: str, site: str, link: str) -> EmailText:
    """Return the mail; English for a language without words."""
    found = _TEXTS.get(language, _TEXTS["en"])
    return EmailText(
        found.subject.format(name=name),
        found.body.format(name=name, site=site, link=f"{site}/password/{link}"),
    )
