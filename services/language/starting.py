"""What a match begins with: the start command of a challenge, by whatever door it came."""

from collections.abc import Sequence

from domain.errors import Code, Refusal
from domain.fairness import entropy_text
from domain.match.commands import Start
from domain.match.events import AccountId, CommandId
from domain.rules import AnyRules, rules_id
from services.language.terms import Agreed


def start_command(
    rules: AnyRules,
    flags: Sequence[str],
    agreed: Agreed,
    seats: Sequence[AccountId],
    command: CommandId,
) -> Start:
    """Give the command that starts a match; `flags` are the game's options.

    Refused as the options are read, as `bad-players`, or as `bad-option` for entropy where chance
    decides nothing.
    """
    options = rules.read_options(flags)
    check_players(rules, seats)
    draws = rules.needs_draw(options, len(seats))
    if agreed.draws and not draws:
        raise Refusal(Code.BAD_OPTION, "chance decides nothing here, so it takes no entropy")
    return Start(
        rules=rules_id(rules),
        options=rules.write_options(options),
        seats=tuple(seats),
        text=entropy_text(command, agreed.word) if draws and not agreed.gather else b"",
        gather=agreed.gather,
        terms=agreed.terms,
    )


def check_players(rules: AnyRules, seats: Sequence[object]) -> None:
    """Refuse as `bad-players` what the game is not played by: too few, too many, one twice."""
    if len(seats) not in rules.players:
        counts = " or ".join(str(count) for count in rules.players)
        raise Refusal(
            Code.BAD_PLAYERS,
            f"{rules.title} is played by {counts}, not by {len(seats)}; "
            "an option begins with a hyphen",
        )
    if len(set(seats)) != len(seats):
        raise Refusal(Code.BAD_PLAYERS, "a player can't take two seats of one match")
