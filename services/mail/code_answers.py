"""Answers to the mail with a code: which of them prove that a person reads what is sent to an address."""

import re

from infra.languages.wording import Wording, all_wordings
from infra.mail.verification_codes import format_code
from infra.people.masthead import Masthead
from services.mail.mail_commands import without_prefixes
from services.mail.parse.message import ParsedMail


def code_subject(words: Wording, code: str, masthead: Masthead) -> str:
    """Return the subject of the mail with a code, by which an answer without a word is known."""
    return words.gettext("%(site)s: your code is %(code)s", site=masthead.name, code=code)


def confirms(mail: ParsedMail, code: str, masthead: Masthead) -> bool:
    """Return whether a person answers the mail with a code, and not a program that quotes it.

    A person writes `yes` first, or the code on a line of its own, or nothing below the subject as it was.
    """
    lines = [line for line in mail.lines if line]
    if not lines and not mail.problem:
        shown = format_code(code)
        return without_prefixes(mail.subject) in {
            code_subject(words, shown, masthead) for words in all_wordings()
        }
    return bool(lines and _is_yes(lines[0])) or any(
        re.sub(r"[\W_]", "", line).lower() == code for line in lines
    )


def _is_yes(line: str) -> bool:
    word = re.sub(r"^\W+|\W+$", "", line).lower()
    return word in {words.pgettext("answer to a mail", "yes").lower() for words in all_wordings()}
