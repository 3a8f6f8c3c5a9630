"""Removes quotes and signatures from the text of a mail."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_QUOTED: Final = re.compile(r"[>|]")

_SIGNED: Final = re.compile(r"--[ ]?|_{5,}")

_FOREIGN: Final = re.compile(
    r"(?i:-{2,} ?(original message|forwarded message|urspr\S{1,3}ngliche nachricht|weitergeleitete "
    r"nachricht|message d'origine|mensaje original) ?-{2,}|begin forwarded message:?)"
    r"|\S+/log/s[0-9]{2,}(/receipt)?"
)
"""Lines below which everything was written by somebody else: the head of a mail, and the first line of a
receipt or a checkpoint, whose numbers could be taken for moves."""

_ATTRIBUTION: Final = re.compile(r"(on|am|le|op|el|il|den|em|w dniu) .{4,}", re.IGNORECASE)
"""The beginning of a line that introduces a quote, in some languages; it ends with a colon."""

_WROTE: Final = (
    *("wrote", "schrieb", "a écrit", "schreef", "escribi", "ha scritto", "skrev", "escreveu"),
    "napisał",
)
"""Words that such a line has."""

_ATTRIBUTION_LINES: Final = 3
"""Lines over which mail programs wrap it, at most."""


def unflowed(text: str, *, delete_space: bool) -> str:
    """Return a text of `format=flowed` without its soft line breaks (RFC 3676)."""
    lines: list[list[str]] = []
    soft = False
    for line in text.split("\n"):
        bare = line.removeprefix(" ")
        fixed = line.startswith(">") or bare == "-- "
        if soft and not fixed:
            lines[-1].append(bare)
        else:
            lines.append([bare])
        soft = bare.endswith(" ") and not fixed
        if soft and delete_space:
            lines[-1][-1] = bare[:-1]
    return "\n".join("".join(pieces) for pieces in lines)


def own_lines(text: str) -> list[str]:
    """Return the lines that the sender wrote, up to a signature or a quoted mail."""
    return list(_own(text.split("\n")))


def _own(lines: Sequence[str]) -> Iterator[str]:
    number = 0
    while number < len(lines):
        line = lines[number].rstrip()
        if _SIGNED.fullmatch(line) or _FOREIGN.fullmatch(line.strip()):
            return
        if skipped := _attribution(lines, number):
            number += skipped
            if not _before_quote(lines, number - 1):
                return  # some programs quote without a mark
        else:
            # a quote becomes a blank line, because the texts above and below it are separate
            yield "" if _QUOTED.match(line) else line.strip()
            number += 1


def _attribution(lines: Sequence[str], number: int) -> int:
    """Return over how many lines from this one a quote is introduced; 0 if none is."""
    if lines[number].rstrip().endswith(":") and _before_quote(lines, number):
        return 1
    if not _ATTRIBUTION.match(lines[number]):
        return 0
    joined = ""
    for count in range(1, _ATTRIBUTION_LINES + 1):
        joined += " ".join(lines[number + count - 1 : number + count]).rstrip().lower()
        if joined.endswith(":") and any(word in joined for word in _WROTE):
            return count
    return 0


def _before_quote(lines: Sequence[str], number: int) -> bool:
    below = [line for line in lines[number + 1 : number + 3] if line.strip()]
    return bool(below) and bool(_QUOTED.match(below[0]))


def paragraph(lines: Sequence[str]) -> list[str]:
    """Return the first lines that are not blank, up to one that is."""
    found: list[str] = []
    for line in lines:
        if line:
            found.append(line)
        elif found:
            break
    return found
