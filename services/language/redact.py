"""Redact words of a command line that may be misplaced passwords from its answer.

If a line has a word too few or too many, the password stands where another word should. Answers
are stored and shown where no password should be. So they repeat a word only if it can't be a
password, because it is too short or almost a word of the language. A word with an @ counts as a
mail address.
"""

from collections.abc import Container, Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from domain.errors import Code, Refusal
from infra.languages.wording import Wording
from infra.people.accounts import SHORTEST_PASSWORD
from services.app.move_text import as_flag, as_move, as_plain
from services.language.parser import CommandLine

_HIDDEN: Final = "'...'"

_DISPLACED: Final = frozenset({"address", "board", "grants", "userid", "value", "winners"})
"""Parts in whose place a password stands when a word is missing or too many."""

_ELSEWHERE: Final = frozenset(
    {
        "address",
        "at_ply",
        "board",
        "flag",
        "grants",
        "move",
        "recipient",
        "recipients",
        "step",
        "value",
        "winners",
    }
)
"""Parts whose words a refusal may repeat."""


def quote_safely(word: str, known: Iterable[str], words: Wording) -> str:
    """Return the words after `there is no command`: the word itself only if it can't be a password."""
    if _may_be_password(word) and not get_close_matches(word.lower(), list(known), n=1):
        return words.gettext("of that name")
    return repr(word[:24])


def redact_refusal(reason: Refusal, line: CommandLine, form: str, words: Wording) -> Refusal:
    """Return the refusal of a line in words of a language, without words that may be passwords."""
    if _has_password_in(line, _ELSEWHERE):
        return _password_twice(reason.code, form, words)
    sentence = _redact_sentence(reason.in_language(words), line, form)
    return Refusal(reason.code, sentence, reason.retry_after)


def check_public_name(line: CommandLine, form: str, words: Wording) -> None:
    """Refuse a name for all to see that has the line's password in it."""
    if _has_password_in(line, {"name"}):
        raise _password_twice(Code.USAGE, form, words)


def _has_password_in(line: CommandLine, parts: Container[str]) -> bool:
    # a password in the place of another part was read as that part is
    forms = {
        read(password).lower()
        for password in line.all("password")
        if _may_be_password(password)
        for read in (str, as_plain, as_move, as_flag)
    } - {""}
    return any(
        part in parts and written in word.lower() for part, word in line.words for written in forms
    )


def _password_twice(code: Code, form: str, words: Wording) -> Refusal:
    said = words.gettext(
        "the password is in the line twice, so the line isn't repeated here; the form is "
        "`%(usage)s`",
        usage=form,
    )
    return Refusal(code, said)


def _redact_sentence(sentence: str, line: CommandLine, form: str) -> str:
    for part, word in line.words:
        if _may_stand_for_password(line, part, word, form):
            for repeated in _quotations(word):
                sentence = sentence.replace(repeated, _HIDDEN)
    return sentence


def _may_stand_for_password(line: CommandLine, part: str, word: str, form: str) -> bool:
    if part == "flag":
        # the flag is misspelt, or the form has no such flag
        return bool(get_close_matches(word.partition("=")[0].lower(), ["--password"], n=1))
    # only signed lines have a value, but those sent to a seat leave the password out
    # and in some forms it may be missing
    signed = line.has("password") or part == "value" or "password" in form
    return signed and part in _DISPLACED and _may_be_password(word) and "@" not in word


def _quotations(word: str) -> Iterator[str]:
    """Return all the ways in which refusals repeat a word."""
    for cased in (word, word.lower()):
        yield from map(repr, (cased, cased[:24], f"{cased[:60]}..."))


def _may_be_password(word: str) -> bool:
    return len(word) >= SHORTEST_PASSWORD
