"""Reading matches: as they stand or stood, drawn, and with the part that one player may see."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from domain.drawing import TextPlace, draw_svg, draw_text, text_places
from domain.errors import Code, Refusal
from domain.match.conditional_moves import ConditionalMoves, unpack
from domain.match.events import AccountId
from domain.match.history import PackedSnapshot, Snapshot, unpack_snapshot
from domain.match.state import MatchState, position_at, position_of
from domain.rules import AnyRules, Seat, game_by_key, rules_by_id
from domain.sentences import text_in
from domain.translation import ENGLISH, Translation
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.drafts import draft_of
from services.app.endings import ending_in_drawing
from services.app.games import read_display
from services.app.move_text import read_move
from services.app.sentences import SAY

MatchPhase: TypeAlias = Literal["waiting", "active", "over"]


def load_snapshot(app: App, board: int) -> Snapshot:
    """Return a match as it is stored; `unknown-board`, or `damaged` if it can't be read."""
    (data,) = app.store.snapshots([board])
    return check_exists(board, read_snapshot(app, board, data))


def read_snapshot(app: App, board: int, data: PackedSnapshot | None) -> Snapshot:
    """Return a stored snapshot, an empty one for None; `damaged` if it can't be read."""
    with refuse_damaged(app.damage, board):
        return unpack_snapshot(data)


def load_state(app: App, board: int) -> MatchState:
    """Return a match as it stands; refused as `load_snapshot` does."""
    return load_snapshot(app, board).state


def check_exists(board: int, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot, unless it is that of a board without a match: `unknown-board`."""
    if not snapshot.state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    return snapshot


def phase_of(state: MatchState) -> MatchPhase:
    """Return whether a match waits for consent or its draw, is going on, or is over."""
    if state.over:
        return "over"
    return "waiting" if state.awaits_entropy or state.invitation else "active"


def seals_its_draw(state: MatchState) -> bool:
    """Return whether the draw of a match is still to come, from texts to which its players commit."""
    if state.gather is None or state.over:
        return False
    return state.invitation is None or not state.invitation.server_deals


def running_seat(state: MatchState) -> Seat | None:
    """Return the seat whose clock the match counts, unless it is paused; None before and after the play."""
    return None if state.over or state.invitation else state.next


def paused_since(state: MatchState) -> int | None:
    """Return when the pause of a match began, ms; None without a pause."""
    return None if state.clock is None or state.invitation else state.clock.paused or None


def check_ply(board: int, state: MatchState, ply: int) -> int:
    """Return the ply, unless the match has not come to it (`unknown-ply`) or has no position.

    A match has no position (`not-started`) before its draw.
    """
    if not 0 <= ply <= state.ply:
        raise Refusal(Code.UNKNOWN_PLY, SAY("no-ply-yet", board=board, now=state.ply, ply=ply))
    if state.has_no_position:
        if state.over:
            raise Refusal(Code.NOT_STARTED, SAY("ended-early", board=board))
        raise Refusal(Code.NOT_STARTED, SAY("no-position", board=board))
    return ply


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
        ended=ending_in_drawing(state, names, language) if now else None,
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
        following = next_sentence(rules, position, names)
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


def next_sentence(
    rules: AnyRules, position: Any, names: Sequence[str], language: Translation = ENGLISH
) -> str:
    """Return a sentence on what follows in a position; empty in a puzzle that goes on."""
    outcome, mover = rules.outcome(position), rules.to_move(position)
    if outcome is not None:
        return SAY("ends", detail=outcome.text).in_language(language)
    if mover is None or len(rules.sides) == 1:
        return ""
    player = player_name(rules, mover, names, language)
    return SAY("turn", player=player).in_language(language)


def player_name(
    rules: AnyRules, seat: Seat, names: Sequence[str], language: Translation = ENGLISH
) -> str:
    """Return a player's name, or the side if there are no names."""
    return names[seat] if names else text_in(rules.sides[seat], language)


def preferred_display(app: App, account: AccountId, rules: AnyRules) -> str:
    """Return the display that an account has chosen for a game, or the game's first."""
    profile = app.accounts.record_of(account)
    # an erased account is no failure, because the drawing may answer an accepted move
    chosen = dict(profile.displays).get(rules.key, "") if profile else ""
    return chosen if chosen in rules.displays else rules.displays[0]


class PrivatePart(msgspec.Struct, frozen=True):
    """The part of a match that only one player may see."""

    conditional_moves: ConditionalMoves
    draft: str
    """The move that the player submitted and has not confirmed; empty without one."""


def private_part(app: App, board: int, state: MatchState, account: AccountId) -> PrivatePart | None:
    """Return the part of a match that a player alone may see; None for an account that does not play."""
    if account not in state.seats:
        return None
    ((_, data),) = app.store.snapshots_with_conditional_moves([board])
    stored = unpack(data).get(state.seats.index(account), ConditionalMoves())
    draft = draft_of(app, account, board, state)
    return PrivatePart(stored, draft.text if draft else "")
