"""The command that holds others: multiple."""

from collections.abc import Sequence
from hashlib import sha256
from itertools import chain
from typing import Final

from domain.errors import Code, Refusal
from infra.languages.wording import Wording
from services.language.answer import Answer, refusal
from services.language.invocation import Invocation
from services.language.parser import join_texts, looks_like_command

LINES: Final = 50
"""Commands in one `multiple`, at most."""

_KEY_LENGTH: Final = 400
"""Characters of a key that still leave room for a number after it."""


def multiple(call: Invocation) -> Answer:
    """Carry out each line with a key of its own, so that a repetition of all repeats none."""
    # a newline and nothing else ends a command, here as anywhere
    lines = join_texts(
        [line for line in call.line.get("body").split("\n") if line.strip()], looks_like_command
    )
    if len(lines) > LINES:
        said = call.words.gettext(
            "`multiple` has %(count)s lines; the limit is %(most)s", count=len(lines), most=LINES
        )
        raise Refusal(Code.TOO_LONG, said)
    if any(line.split()[0].lower() == "multiple" for line in lines):
        said = call.words.gettext("`multiple` can't be used inside `multiple`")
        raise Refusal(Code.USAGE, said)
    key = _shorten_key(call.key)
    answers = [_run_one(call, line, key, n) for n, line in enumerate(lines, 1)]
    return _combine(answers, call.words)


def _run_one(call: Invocation, line: str, key: str, number: int) -> Answer:
    """Carry out a line, which counts in each limit as if it had come alone."""
    if number > 1:
        try:
            call.origin.count()
        except Refusal as reason:
            return refusal(reason, call.words)
    return call.run_line(line, f"{key}/{number}")


def _shorten_key(key: str) -> str:
    """Return the key, or its hash if a number would make it too long."""
    return key if len(key) <= _KEY_LENGTH else sha256(key.encode()).hexdigest()


def _combine(answers: Sequence[Answer], words: Wording) -> Answer:
    """Return several answers as one, with the first code among them."""
    page = "\n\n".join(f"{number}: {one.text_with_code}" for number, one in enumerate(answers, 1))
    decided = tuple(chain.from_iterable(one.decided for one in answers))
    bad = [number for number, one in enumerate(answers, 1) if one.code]
    if not bad:
        return Answer(page=page, decided=decided)
    if len(bad) == 1:
        said = words.gettext("line %(number)s was not accepted; see below", number=bad[0])
    else:
        numbers = ", ".join(map(str, bad))
        said = words.gettext("lines %(numbers)s were not accepted; see below", numbers=numbers)
    return Answer(said, page, answers[bad[0] - 1].code, decided=decided)
