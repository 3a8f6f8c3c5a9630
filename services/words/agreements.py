"""The agreements of a match in words: its time, its variants, and the side that moves first.

Time controls in words: the limits of a match, and beside them its reminder and whether it is rated.

Offers in words: what a player proposes, how another answered, and the button that proposes it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from domain.clocks.time_control import ClockOptions, TimeControl
from domain.game.options import OptionField, OptionKind
from domain.game.protocol import GamePart, game_text
from domain.match.state import MatchState
from domain.rules import AnyRules, Seat, game_by_key
from domain.sentences import Translation, text_in
from infra.languages.wording import Wording


def limits(terms: TimeControl | None, words: Wording) -> str:
    """Return the limits of a time control, such as `7 days a move, clock stops at weekends`; empty for none."""
    return "" if terms is None else ", ".join(_limits(terms, words))


def described(terms: TimeControl, words: Wording) -> str:
    """Return the whole of a time control in one line, such as `21 days a move, a reminder after 7`."""
    return ", ".join([*_limits(terms, words), *_others(terms, words)])


def _limits(terms: TimeControl, words: Wording) -> Iterator[str]:
    if terms.turn:
        yield words.ngettext("%(count)s day a move", "%(count)s days a move", terms.turn)
    options = terms.options
    if terms.bank and options.cap:
        yield words.ngettext(
            "%(count)s day in total, plus %(more)s per move up to %(cap)s",
            "%(count)s days in total, plus %(more)s per move up to %(cap)s",
            terms.bank,
            more=terms.increment,
            cap=options.cap,
        )
    elif terms.bank and terms.increment:
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
    yield from _stops(options, words)


def _stops(options: ClockOptions, words: Wording) -> Iterator[str]:
    """Yield what stops the clock, where it is not as usual."""
    if not options.weekends:
        yield words.gettext("clock stops at weekends")
    if options.vacation:
        yield words.ngettext(
            "at most %(count)s day of vacation",
            "at most %(count)s days of vacation",
            options.vacation,
        )
    elif options.vacation is not None:
        yield words.gettext("no vacation")
    if not options.pause:
        yield words.gettext("no pauses")


def _others(terms: TimeControl, words: Wording) -> Iterator[str]:
    reminders = terms.reminders
    if len(reminders) > 1:
        yield words.gettext(
            "reminders after %(days)s days", days=words.names([str(day) for day in reminders])
        )
    elif reminders and terms.turn and not (terms.bank or terms.total):
        # after a single limit, as in "21 days a move", the unit is plain
        yield words.ngettext("a reminder after %(count)s", "a reminder after %(count)s", terms.nag)
    elif reminders:
        yield words.ngettext(
            "a reminder after %(count)s day", "a reminder after %(count)s days", terms.nag
        )
    if not terms.rated:
        yield words.gettext("unrated")
    elif terms.rated_from > 1:
        yield words.gettext(
            "a loss on time or by a ruling changes no rating before its loser has made %(moves)s moves",
            moves=terms.rated_from,
        )


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
    time = [limits(terms, words)] if terms else []
    deal = []
    if state.gather and not (state.invitation and state.invitation.server_deals):
        deal = [words.gettext("provably fair deal")]
    return [*time, *rated, *variant_words(rules, state.options, words), *deal]


@cache
def side_words(rules: AnyRules, language: Translation) -> tuple[str, ...]:
    """Return the names of a game's sides where there is no board yet."""
    return tuple(text_in(rules.colour_text(seat), language) for seat in range(rules.players[-1]))


def first_mover(rules: AnyRules, options: Sequence[str], seats: int) -> Seat | None:
    """Return the seat that moves first; None if chance has a part in the start."""
    read = rules.read_options(options)
    if rules.needs_draw(read, seats):
        return None
    return rules.to_move(rules.start(read, seats, None))


def offered(kind: str, player: str, words: Wording) -> str:
    """Return what a player proposes, without a full stop."""
    _ = words.gettext
    known = {
        "draw": _("%(name)s offers a draw", name=player),
        "undo": _("%(name)s asks for a takeback", name=player),
        "pause": _("%(name)s suggests a pause", name=player),
        "abort": _("%(name)s offers to call the match off", name=player),
        "transfer": _("%(name)s wants to move the match to another server", name=player),
        "count": _("%(name)s proposes to count", name=player),
        "deal": _("%(name)s wants the server to deal now", name=player),
    }
    return known.get(kind) or _("%(name)s proposes: %(kind)s", name=player, kind=kind)


def own_offer(kind: str, words: Wording) -> str:
    """Return what the reader has proposed, as a sentence."""
    _ = words.gettext
    known = {
        "draw": _("You offered a draw."),
        "undo": _("You asked for a takeback."),
        "pause": _("You suggested a pause."),
        "abort": _("You offered to call the match off."),
        "transfer": _("You suggested moving the match to another server."),
        "count": _("You proposed to count."),
        "deal": _("You want the server to deal now."),
    }
    return known.get(kind) or _("You proposed: %(kind)s.", kind=kind)


def answered(kind: str, player: str, words: Wording, *, accepted: bool) -> str:
    """Return how a player answered an offer, without a full stop."""
    return (_accepted if accepted else _declined)(kind, player, words)


def _accepted(kind: str, player: str, words: Wording) -> str:
    _ = words.gettext
    known = {
        "draw": _("%(name)s accepted the draw", name=player),
        "undo": _("%(name)s accepted the takeback", name=player),
        "pause": _("%(name)s accepted the pause", name=player),
        "abort": _("%(name)s agreed to call the match off", name=player),
        "transfer": _("%(name)s agreed to move the match to another server", name=player),
        "count": _("%(name)s agreed to count", name=player),
        "deal": _("%(name)s agreed to let the server deal", name=player),
    }
    return known.get(kind) or _("%(name)s accepted the proposal", name=player)


def _declined(kind: str, player: str, words: Wording) -> str:
    _ = words.gettext
    known = {
        "draw": _("%(name)s declined the draw", name=player),
        "undo": _("%(name)s declined the takeback", name=player),
        "pause": _("%(name)s declined the pause", name=player),
        "abort": _("%(name)s does not want to call the match off", name=player),
        "transfer": _("%(name)s does not want to move the match to another server", name=player),
        "count": _("%(name)s does not want to count", name=player),
        "deal": _("%(name)s does not want the server to deal", name=player),
    }
    return known.get(kind) or _("%(name)s declined the proposal", name=player)


def offer_button(kind: str, words: Wording) -> str:
    """Return the label of the button that proposes something."""
    _ = words.gettext
    known = {
        "draw": _("Offer a draw"),
        "undo": _("Ask for a takeback"),
        "pause": _("Suggest a pause"),
        "abort": _("Offer to call it off"),
        "transfer": _("Suggest moving it"),
        "count": _("Propose to count"),
        "deal": _("Let the server deal"),
    }
    return known.get(kind) or _("Propose: %(kind)s", kind=kind)
