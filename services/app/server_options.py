"""The server's options of a challenge: time, rating, and what is mixed into a draw."""

from collections.abc import Sequence

import msgspec

from domain.clocks.terms import Terms, read_terms
from domain.errors import Code, Refusal

_OF_DRAWS = ("--entropy", "--gather", "--commitment")


class Agreed(msgspec.Struct, frozen=True):
    """What a challenge says to the server."""

    word: str = ""
    """Entropy of the challenger's own."""
    gather: bool = False
    """Whether the match waits for the others' entropy."""
    terms: Terms | None = None
    """None for a match without clocks: one that is played alone."""
    commitment: str = ""
    """SHA-256 of the challenger's own text, in hex."""

    @property
    def draws(self) -> bool:
        """Whether it says anything about a draw."""
        return bool(self.word) or self.gather or bool(self.commitment)


def read_agreed(flags: Sequence[str], players: int) -> Agreed:
    """Read the options that begin with two hyphens, each at most once.

    `bad-option` and `unknown-option` for what can't be read, or makes no sense alone.
    """
    about_draws = [flag for flag in flags if flag.partition("=")[0] in _OF_DRAWS]
    about_time = [flag for flag in flags if flag not in about_draws]
    drawn = read_draw(about_draws)
    if drawn.commitment and not drawn.gather:
        raise Refusal(Code.BAD_OPTION, "--commitment belongs to a challenge with --gather")
    if players == 1:
        if about_time:
            raise Refusal(
                Code.BAD_OPTION,
                f"who plays alone has all the time: leave {about_time[0][:24]!r} out",
            )
        return drawn
    return msgspec.structs.replace(drawn, terms=read_terms(about_time))


def read_draw(flags: Sequence[str]) -> Agreed:
    """Read `--entropy=WORD`, `--gather` and `--commitment=HEX`, each at most once."""
    word, gather, commitment = "", False, ""
    for flag in flags:
        name, mark, value = flag.partition("=")
        if name == "--entropy" and value and not word:
            word = value
        elif name == "--gather" and not mark and not gather:
            gather = True
        elif name == "--commitment" and value and not commitment:
            commitment = value
        else:
            raise Refusal(
                Code.BAD_OPTION,
                f"{flag[:24]!r} can't stand here; --entropy=WORD, --gather and --commitment=HEX "
                "can, once each",
            )
    return Agreed(word, gather, commitment=commitment)
