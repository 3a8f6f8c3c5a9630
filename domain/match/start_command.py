"""The command that starts a match, the same from every front end, with the options that all games have."""

from collections.abc import Mapping, Sequence

import msgspec

from domain.clocks.time_control import TimeControl, read_time_control
from domain.errors import Code, Refusal
from domain.fairness import Commitment, entropy_text
from domain.match.commands import CommandEnvelope, StartMatch
from domain.match.events import AccountId, Called, CommandId
from domain.match.leaves import decode_event
from domain.match.sentences import SAY
from domain.rules import AnyRules, rules_id

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


def start_command(
    rules: AnyRules,
    flags: Sequence[str],
    chosen: StartOptions,
    seats: Sequence[AccountId],
    command: CommandId,
) -> StartMatch:
    """Return the command that starts a match; `flags` are the game's options.

    Where chance sets up a match of several, all of them add to the draw, also if the server deals at once.
    Refused as the game refuses its options, as `bad-players`, and as `bad-option` for entropy if
    chance decides nothing.
    """
    options = rules.read_options(flags)
    check_players(rules, seats)
    draws = rules.needs_draw(options, len(seats))
    if chosen.draws and not draws:
        raise Refusal(Code.BAD_OPTION, SAY("no-chance-here"))
    gather = chosen.gather or (draws and len(seats) > 1)
    return StartMatch(
        rules=rules_id(rules),
        options=rules.write_options(options),
        seats=tuple(seats),
        text=entropy_text(command, chosen.word) if draws and not gather else b"",
        gather=gather,
        terms=chosen.terms,
    )


def check_players(rules: AnyRules, seats: Sequence[object]) -> None:
    """Refuse as `bad-players` too few players, too many, and one player twice."""
    if len(seats) not in rules.players:
        counts = " ".join(str(count) for count in rules.players)
        raise Refusal(
            Code.BAD_PLAYERS,
            SAY("player-count", game=rules.title, counts=counts, count=len(seats)),
        )
    if len(set(seats)) != len(seats):
        raise Refusal(Code.BAD_PLAYERS, SAY("two-seats"))


def with_commitments(
    sent: CommandEnvelope, commitments: Mapping[AccountId, Commitment], history: Sequence[bytes]
) -> CommandEnvelope:
    """Return a start that gathers, with what its players have committed to.

    If the match has begun by this very command, the command is the same as then, whatever the
    `commitments` are now. `history` has the events of the match.
    """
    start = sent.command
    assert isinstance(start, StartMatch)
    by_seat = tuple(commitments.get(account, Commitment()) for account in start.seats)
    for data in history[:1]:
        first = decode_event(data)
        if first.command == sent.id and isinstance(first.body, Called):
            by_seat = first.body.commitments
    start = msgspec.structs.replace(start, text=b"", commitments=by_seat)
    return msgspec.structs.replace(sent, command=start)
