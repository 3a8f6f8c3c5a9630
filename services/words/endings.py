"""How a match ended, in words: as a sentence to its players, as a clause with names, and beside a result.

Matches drawn, with how they ended, and as text, with whose turn follows.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from domain.drawing import TextPlace, draw_svg, draw_text, text_places
from domain.match.state import MatchState, Reason, position_at, position_of
from domain.rules import AnyRules, GameOutcome, MissingRules, Seat, game_by_key, rules_by_id
from domain.sentences import ENGLISH, Translation, text_in
from infra.languages.wording import Wording, capitalised, wording
from infra.projections.match_lists import MatchListRow
from services.app.games import read_display
from services.app.move_text import read_move

Verdict = Literal["won", "lost", "drawn", "void", "seen"]


class SaidResult(msgspec.Struct, frozen=True):
    """A result in words."""

    verdict: Verdict
    """`void` for a match that does not count, `seen` for one of others."""
    text: str
    """A sentence."""


def said_result(
    state: MatchState, seat: Seat | None, names: Sequence[str], words: Wording
) -> SaidResult:
    """Return the result of a match that is over, said to the player of a seat, or to anybody else."""
    result = state.result
    assert result is not None
    reason, winners, detail = result.reason, result.winners, _rules_say(state, words)
    if len(state.seats) == 1 and winners:
        _ = words.gettext
        return SaidResult("seen", _("Finished: %(detail)s.", detail=detail))
    named = [names[one] for one in winners]
    if not winners or len(winners) == len(state.seats):
        clause = capitalised(ending_words(reason, named, len(names), words))
        text = f"{clause}: {detail}." if detail else f"{clause}."
        return SaidResult("drawn" if winners else "void", text)
    if seat is None:
        clause = ending_words(reason, named, len(names), words)
        return SaidResult("seen", f"{clause}: {detail}." if detail else f"{clause}.")
    if seat in winners:
        return SaidResult("won", _victory(reason, detail, words))
    resigned = seat not in state.active_seats
    return SaidResult("lost", _defeat(reason, detail, words, resigned=resigned))


def over(state: MatchState, names: Sequence[str], words: Wording) -> str:
    """Return that a match is over, and how it ended; players are named by side and name."""
    return words.gettext("the match is over: %(how)s", how=ending_clause(state, names, words))


def over_by_rules(outcome: GameOutcome, words: Wording) -> str:
    """Return that a match is over by the rules of its game."""
    detail = text_in(outcome.text, words)
    return words.gettext("the match is over: %(how)s", how=detail)


def ending_clause(state: MatchState, names: Sequence[str], words: Wording) -> str:
    """Return how a match that is over ended, such as `Light (alice) won by resignation`.

    Where the game's rules ended it, their own words stand in brackets.
    """
    result, rules = state.result, rules_by_id(state.rules)
    assert result is not None
    winners = [
        named_side(text_in(rules.sides[seat], words), names[seat]) for seat in result.winners
    ]
    clause = ending_words(result.reason, winners, len(state.seats), words)
    detail = _rules_say(state, words)
    return f"{clause} ({detail})" if detail else clause


def ending_in_list(reason: str, winners: Sequence[str], seats: int, words: Wording) -> str:
    """Return how a match ended, for a list that shows its players beside it.

    A game's own code for an ending is left out, because it is not meant for people.
    """
    if seats == 1 and reason not in set(Reason):
        return words.gettext("finished")
    return ending_words(reason, winners, seats, words)


def ending_in_drawing(
    state: MatchState, names: Sequence[str], words: Wording
) -> GameOutcome | None:
    """Return how a match ended, for a drawing; None while it goes on."""
    if state.result is None:
        return None
    clause = capitalised(ending_clause(state, names, words))
    return GameOutcome(state.result.winners, state.result.reason, clause)


def named_side(side: str, name: str) -> str:
    """Return a side with the player's name, such as `Light (alice)`."""
    return f"{side} ({name})"


def ending_words(reason: str, winners: Sequence[str], seats: int, words: Wording) -> str:
    """Return how a match of so many seats ended, with its winners' names."""
    if not winners:
        return _without_winner(reason, words)
    if len(winners) == seats > 1:
        return _draw(reason, words)
    return (_won if len(winners) == 1 else _shared)(reason, words.names(winners), words)


def _without_winner(reason: str, words: Wording) -> str:
    _ = words.gettext
    known: dict[str, str] = {
        Reason.ABORTED: _("called off by agreement; the match doesn’t count"),
        Reason.TRANSFERRED: _("it continues on another server, and doesn’t count here"),
        Reason.DECLINED: _("declined; the match doesn’t count"),
        Reason.ANNULLED: _("annulled by an arbiter; the match doesn’t count"),
        # without a winner only a puzzle can end like this
        Reason.RESIGNATION: _("the puzzle was given up"),
        Reason.TIME: _("the time for the puzzle ran out"),
    }
    return known.get(reason) or _("the match doesn’t count")


def _draw(reason: str, words: Wording) -> str:
    _ = words.gettext
    known: dict[str, str] = {
        Reason.AGREEMENT: _("draw by agreement"),
        Reason.REPETITION: _("draw, because the same position occurred three times"),
        Reason.RULING: _("draw by a ruling"),
    }
    return known.get(reason) or _("draw")


def _won(reason: str, player: str, words: Wording) -> str:
    _ = words.gettext
    known: dict[str, str] = {
        Reason.RESIGNATION: _("%(name)s won by resignation", name=player),
        Reason.TIME: _("%(name)s won on time", name=player),
        Reason.RULING: _("%(name)s won by a ruling", name=player),
    }
    return known.get(reason) or _("%(name)s won", name=player)


def _shared(reason: str, players: str, words: Wording) -> str:
    _ = words.gettext
    known: dict[str, str] = {
        Reason.RESIGNATION: _("%(names)s share the win by resignation", names=players),
        Reason.TIME: _("%(names)s share the win on time", names=players),
        Reason.RULING: _("%(names)s share the win by a ruling", names=players),
        Reason.AGREEMENT: _("%(names)s share the win by agreement", names=players),
        Reason.REPETITION: _("%(names)s share the win by repetition", names=players),
    }
    return known.get(reason) or _("%(names)s share the win", names=players)


def _victory(reason: str, detail: str, words: Wording) -> str:
    _ = words.gettext
    known: dict[str, str] = {
        Reason.RESIGNATION: _("You won by resignation."),
        Reason.TIME: _("You won on time."),
        Reason.RULING: _("You won by a ruling."),
    }
    won = _("You won: %(detail)s.", detail=detail) if detail else _("You won.")
    return known.get(reason) or won


def _defeat(reason: str, detail: str, words: Wording, *, resigned: bool) -> str:
    _ = words.gettext
    known: dict[str, str] = {
        Reason.RESIGNATION: _("You resigned.") if resigned else _("You lost by resignation."),
        Reason.TIME: _("You lost on time."),
        Reason.RULING: _("You lost by a ruling."),
    }
    lost = _("You lost: %(detail)s.", detail=detail) if detail else _("You lost.")
    return known.get(reason) or lost


def reason_label(reason: str, words: Wording) -> str:
    """Return how a match ended, beside its result; empty for an ending by the game's rules."""
    _ = words.gettext
    known: dict[str, str] = {
        Reason.AGREEMENT: _("by agreement"),
        Reason.REPETITION: _("by repetition"),
        Reason.TIME: _("on time"),
        Reason.RESIGNATION: _("by resignation"),
        Reason.ABORTED: _("called off"),
        Reason.DECLINED: _("declined"),
        Reason.RULING: _("by a ruling"),
        Reason.ANNULLED: _("annulled by an arbiter"),
        Reason.TRANSFERRED: _("continues on another server"),
    }
    return known.get(reason, "")


def _rules_say(state: MatchState, words: Wording) -> str:
    """Return the words of the game's rules for an ending by them, without a full stop."""
    rules: Any = rules_by_id(state.rules)
    assert state.result is not None
    if state.result.reason in set(Reason):
        return ""
    if state.has_no_position or isinstance(rules, MissingRules):
        return ""
    outcome = rules.outcome(position_of(state))
    return text_in(outcome.text, words).rstrip(".") if outcome else ""


def verdict_for(row: MatchListRow, seat: int | None) -> Verdict | Literal[""]:
    """Return the result of a match for a seat; empty while it goes on."""
    if row.winners is None:
        return ""
    if not row.winners:
        return "void"
    if len(row.winners) == len(row.seats) > 1:
        return "drawn"
    if seat is None or len(row.seats) == 1:
        return "seen"
    if seat not in row.winners:
        return "lost"
    return "won" if len(row.winners) == 1 else "drawn"


def board_svg(
    state: MatchState,
    ply: int,
    names: Sequence[str],
    *,
    standalone: bool = True,
    plates: bool = True,
    turned: bool = False,
    language: Translation = ENGLISH,
) -> str:
    """Return a match as it stood after so many moves, drawn with the last of them marked."""
    rules = rules_by_id(state.rules)
    now = ply == state.ply
    last = state.first_moves(ply)[-1] if ply else ""
    return draw_svg(
        rules,
        position_of(state) if now else position_at(state, ply),
        names,
        last=last,
        before=position_at(state, ply - 1)
        if last and game_by_key(rules.key).needs_previous_position
        else None,
        ended=ending_in_drawing(state, names, wording(language.code)) if now else None,
        language=language,
        standalone=standalone,
        plates=plates,
        turned=turned,
    )


def board_text(state: MatchState, ply: int, names: Sequence[str], display: str = "") -> str:
    """Return a match as it stood after so many moves, drawn as text.

    `display` is one of the game's, or empty for its first; `bad-option` for any other.
    """
    rules = rules_by_id(state.rules)
    display = read_display(rules, display or rules.displays[0])
    return draw_text(rules, position_at(state, ply), display, names)


class TextBoard(msgspec.Struct, frozen=True):
    """A board as text, and where its places are."""

    ply: int
    """The number of moves played, a previewed one included."""
    move: str | None
    """The last of them in canonical form; null at the start."""
    next: str
    """A sentence on the turn after a previewed move; empty without one, and in a puzzle."""
    text: str
    places: tuple[TextPlace, ...]
    """Where the text shows each place; empty for a game that does not say it."""
    display: str
    """The display of the text, such as `small`."""
    displays: tuple[str, ...]
    """All displays of the game, the default first."""
    prompt: str
    """A sentence for a player who has chosen no place yet."""


def text_board(
    state: MatchState, ply: int, names: Sequence[str], display: str = "", move: str = ""
) -> TextBoard:
    """Return a match as it stood after so many moves, or as it would stand after a move then.

    Nothing is played. Refused as the move itself would be; `bad-option` for an unknown display.
    """
    rules = rules_by_id(state.rules)
    display = read_display(rules, display or rules.displays[0])
    position, following = position_at(state, ply), ""
    last = state.first_moves(ply)[-1] if ply else None
    if move:
        checked = rules.check(position, read_move(rules, move))
        position, last, ply = rules.play(position, checked), rules.write(checked), ply + 1
        following = what_follows(rules, position, names)
    return TextBoard(
        ply=ply,
        move=last,
        next=following,
        text=draw_text(rules, position, display),
        places=text_places(rules, position, display),
        display=display,
        displays=tuple(rules.displays),
        prompt=f"{str(game_by_key(rules.key).prompt).rstrip('.')}.",
    )


def what_follows(
    rules: AnyRules, position: Any, names: Sequence[str], language: Translation = ENGLISH
) -> str:
    """Return a clause on what follows in a position; empty in a puzzle that goes on."""
    words = wording(language.code)
    outcome, mover = rules.outcome(position), rules.to_move(position)
    if outcome is not None:
        detail = text_in(outcome.text, language).rstrip(".")
        return words.gettext("this ends the match: %(detail)s", detail=detail)
    if mover is None or len(rules.sides) == 1:
        return ""
    player = player_name(rules, mover, names, language)
    return words.gettext("it will be %(name)s's turn", name=player)


def player_name(
    rules: AnyRules, seat: Seat, names: Sequence[str], language: Translation = ENGLISH
) -> str:
    """Return a player's name, or the side if there are no names."""
    return names[seat] if names else text_in(rules.sides[seat], language)
