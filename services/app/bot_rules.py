"""The rules by which a bot accepts challenges by name: they hold wherever a match is started.

The rules are checked and the match is counted when the challenge is made, so a challenge that waits for a bot
is one that it accepts. Its program does that, and a bot whose program doesn't run begins no matches.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from domain.clocks.time_control import TimeControl
from domain.errors import Code, Refusal
from domain.match.commands import StartMatch
from domain.match.state import is_bot
from domain.records import AccountId, CommandId
from domain.rules import latest_rules, rules_by_id
from domain.sentences import Sentence, Translation
from infra.languages.wording import wording
from infra.people.accounts.record import BotRules, Profile, RatedChoice
from infra.people.pending_starts import MOST_SLOW_MATCHES
from services.app.context import App
from services.app.games import read_game
from services.app.names import name_of
from services.app.opponents import is_start_over
from services.app.sentences import SAY
from services.app.typed_values import read_choice, typed_number

MOST_AT_ONCE: Final = 100

MOST_DAYS: Final = 999
"""The most days of a rule for clocks."""


def read_rules(old: BotRules, changes: Mapping[str, str | Sequence[str]]) -> BotRules:
    """Return rules after changes as they were typed: `bad-option`, `unknown-game`."""
    games, rated = old.games, old.rated
    if "games" in changes:
        named = changes["games"]
        words = named.replace(",", " ").split() if isinstance(named, str) else named
        games = tuple(dict.fromkeys(read_game(one).key for one in words))
    if "rated" in changes:
        rated = read_choice(RatedChoice, str(changes["rated"]))
    bounds = {
        "least_days": (0, MOST_DAYS),
        "most_days": (0, MOST_DAYS),
        "at_once": (0, MOST_AT_ONCE),
    }
    numbers = {
        name: _number(str(changes[name]), *bound) if name in changes else getattr(old, name)
        for name, bound in bounds.items()
    }
    if 0 < numbers["most_days"] < numbers["least_days"]:
        raise Refusal(Code.BAD_OPTION, SAY("bot-days"))
    return BotRules(games=games, rated=rated, **numbers)


def _number(text: str, low: int, high: int) -> int:
    number = typed_number(text.strip() or "0")
    if number is None or not low <= number <= high:
        raise Refusal(Code.BAD_OPTION, SAY("bot-number", low=low, high=high))
    return number


def check_bots_accept(app: App, start: StartMatch, others: Sequence[AccountId]) -> None:
    """Refuse a match outside the rules of a bot that plays in it: `not-wanted`."""
    for bot in filter(is_bot, others):
        profile = app.accounts.record_of(bot)
        why = profile and _outside(profile.rules, start)
        if why:
            raise Refusal(Code.NOT_WANTED, SAY("not-wanted", player=name_of(app, bot), why=why))


def _outside(rules: BotRules, start: StartMatch) -> Sentence | None:
    """Return which rule a match breaks, after the name of the bot; None for none."""
    terms = start.terms or TimeControl()
    if rules.games and rules_by_id(start.rules).key not in rules.games:
        return SAY("bot-games", games=", ".join(rules.games))
    if rules.rated is not RatedChoice.ANY and bool(terms.rated) != (
        rules.rated is RatedChoice.RATED
    ):
        return _rated(rules.rated)
    turn = min(filter(None, (terms.turn, terms.bank, terms.total)), default=0)
    if 0 < turn < rules.least_days:
        return SAY("bot-least", days=rules.least_days)
    if rules.most_days and not 0 < turn <= rules.most_days:
        return SAY("bot-most", days=rules.most_days)
    return None


def _rated(choice: RatedChoice) -> Sentence:
    return SAY("bot-rated") if choice is RatedChoice.RATED else SAY("bot-unrated")


def reserve_bots(
    app: App, challenger: AccountId, command: CommandId, others: Sequence[AccountId]
) -> None:
    """Count a match at each of its bots, until it is over; `not-wanted` for a bot without room for one more."""
    for bot in filter(is_bot, others):
        profile = app.accounts.record_of(bot)
        most = profile.rules.at_once if profile else 0
        starts = app.starts.of_bot(most)
        if starts.add(bot, command, [challenger]):
            # nothing reports here that a match has ended, so those that are over are found now
            over = [one.command for one in starts.of(bot) if is_start_over(app, one)]
            starts.remove(bot, over)
            if full := starts.add(bot, command, [challenger]):
                of_you = SAY("bot-full-of-you", most=MOST_SLOW_MATCHES)
                why = SAY("bot-full", most=most) if full == "all" else of_you
                raise Refusal(Code.NOT_WANTED, SAY("not-wanted", player=name_of(app, bot), why=why))


def rules_in_words(profile: Profile, language: Translation) -> list[str]:
    """Return what a bot accepts, a clause for each rule that it has."""
    rules, words = profile.rules, wording(language.code)
    said = []
    if rules.games:
        said.append(
            SAY("bot-games", games=words.names([latest_rules(one).title for one in rules.games]))
        )
    if rules.rated is not RatedChoice.ANY:
        said.append(_rated(rules.rated))
    if rules.least_days:
        said.append(SAY("bot-least", days=rules.least_days))
    if rules.most_days:
        said.append(SAY("bot-most", days=rules.most_days))
    return [one.in_language(language) for one in said]
