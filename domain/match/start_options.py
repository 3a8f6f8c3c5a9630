"""The options of a start that are the same for all games: time, rating, and the draw."""

from collections.abc import Sequence

import msgspec

from domain.clocks.time_control import TimeControl, read_time_control
from domain.errors import Code, Refusal
from domain.match.sentences import SAY

_OF_DRAWS = ("--entropy", "--gather", "--commitment")


class StartOptions(msgspec.Struct, frozen=True):
    """The options that begin with two hyphens."""

    word: str = ""
    """The challenger's own entropy."""
    gather: bool = False
    """Whether the match waits for the others' entropy."""
    terms: TimeControl | None = None
    """None for a match without clocks, which is one of a single player."""
    commitment: str = ""
    """SHA-256 of the text that the challenger keeps, in hex."""

    @property
    def draws(self) -> bool:
        """Whether an option about a draw is set."""
        return bool(self.word) or self.gather or bool(self.commitment)


def read_start_options(flags: Sequence[str], players: int) -> StartOptions:
    """Return the options that the words stand for.

    Refused as `bad-option` or `unknown-option` if one can't be read, comes twice, or lacks another.
    """
    about_draws = [flag for flag in flags if flag.partition("=")[0] in _OF_DRAWS]
    about_time = [flag for flag in flags if flag not in about_draws]
    drawn = read_draw_options(about_draws)
    if drawn.commitment and not drawn.gather:
        raise Refusal(Code.BAD_OPTION, SAY("commitment-place"))
    if players == 1:
        if about_time:
            raise Refusal(
                Code.BAD_OPTION,
                SAY("time-alone", option=about_time[0][:24]),
            )
        return drawn
    return msgspec.structs.replace(drawn, terms=read_time_control(about_time))


def read_draw_options(flags: Sequence[str]) -> StartOptions:
    """Return the options of `--entropy=WORD`, `--gather` and `--commitment=HEX`, each at most once."""
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
                SAY("start-option", option=flag[:24]),
            )
    return StartOptions(word, gather, commitment=commitment)
