"""The agreements of a match in words: its time, its variants, and the side that moves first."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from domain.clocks.time_control import TimeControl
from domain.game.option_form import OptionField, OptionKind
from domain.game.package import GamePart, game_text
from domain.match.state import MatchState
from domain.rules import AnyRules, Seat, game_by_key
from domain.sentences import text_in
from domain.translation import Translation
from infra.languages.wording import Wording


def time_words(words: Wording, terms: TimeControl | None) -> str:
    """Return a time control, such as `7 days a move, clock stops at weekends`; empty for none."""
    return "" if terms is None else ", ".join(_time_phrases(words, terms))


def _time_phrases(words: Wording, terms: TimeControl) -> Iterator[str]:
    if terms.turn:
        yield words.ngettext("%(count)s day a move", "%(count)s days a move", terms.turn)
    if terms.bank and terms.increment:
        yield words.ngettext(
            "%(count)s day in total, plus %(more)s per move",
            "%(count)s days in total, plus %(more)s per move",
            terms.bank,
            more=terms.increment,
        )
    elif terms.bank:
        yield words.ngettext("%(count)s day in total", "%(count)s days in total", terms.bank)
    if terms.total:
        yield words.ngettext("%(count)s day in all", "%(count)s days in all", terms.total)
    if not (terms.turn or terms.bank or terms.total):
        yield words.gettext("no time limit")
    if not terms.weekends:
        yield words.gettext("clock stops at weekends")


def variant_words(rules: AnyRules, options: Sequence[str], language: Translation) -> list[str]:
    """Return the options of a match in the words of the game's form, such as `Tiles each: 7`."""
    form = game_by_key(rules.key).options_form
    words = partial(game_text, rules.key, GamePart.OPTIONS, language=language)
    found = [_variant(field, flag, words) for field in form for flag in options]
    return [said for said in found if said]


def _variant(field: OptionField, flag: str, words: Callable[[str], str]) -> str:
    title = words(field.title)
    picked = [pick.label for pick in field.picks if pick.flag == flag]
    if picked:
        one_of = field.kind is OptionKind.ONE_OF
        return f"{title}: {words(picked[0])}" if one_of else title
    name, _, value = flag.partition("=")
    own = not field.picks and name == f"-{field.field}"
    return f"{title}: {value.replace(',', ', ')}" if own else ""


def agreed_words(words: Wording, rules: AnyRules, state: MatchState) -> list[str]:
    """Return what the players of a match agreed on: its time, whether it is rated, its variants."""
    terms = state.clock.terms if state.clock else None
    rated = []
    if terms and (state.invited or not terms.rated):
        rated = [words.gettext("rated") if terms.rated else words.gettext("unrated")]
    time = [time_words(words, terms)] if terms else []
    deal = []
    if state.gather and not (state.invitation and state.invitation.server_deals):
        deal = [words.gettext("provably fair deal")]
    return [*time, *rated, *variant_words(rules, state.options, words), *deal]


def side_words(rules: AnyRules, language: Translation) -> tuple[str, ...]:
    """Return the names of a game's sides where there is no board yet."""
    return tuple(text_in(rules.colour_text(seat), language) for seat in range(rules.players[-1]))


def first_mover(rules: AnyRules, options: Sequence[str], seats: int) -> Seat | None:
    """Return the seat that moves first; None if chance has a part in the start."""
    read = rules.read_options(options)
    if rules.needs_draw(read, seats):
        return None
    return rules.to_move(rules.start(read, seats, None))
