"""The analysis of a match: asked for, and shown as a table.

Commands that look at matches: show and preview.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from domain.drawing import draw_text
from domain.engine.turning_points import AnalysedPosition, turning_points
from domain.errors import Code, Refusal
from domain.match.history import decode_event
from domain.match.state import MatchState, position_at
from domain.records import AccountId
from domain.rules import MissingRules, rules_by_id
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.projections.match_lists import MatchFilter
from infra.store.analyses import StoredAnalysis
from services.app.context import App
from services.app.draws import describe_draw
from services.app.games import read_display
from services.app.matches import (
    analysis_of,
    check_ply,
    load_state,
    preferred_display,
    private_part,
    score_bound,
    start_analysis,
)
from services.app.move_text import read_move, split_ply
from services.app.sentences import SAY
from services.app.tournaments import shown_name
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.invocation import Invocation
from services.language.redact import redact_refusal
from services.language.texts import bounced_address_lines, conditional_move_lines
from services.words.matches import summary, summary_at
from services.words.named_match import NamedMatch


def analyse(call: Invocation) -> Answer:
    """Show the analysis of a match; ask for it first, if the line proves an account."""
    app, board, state, _ = call.app, call.board, call.state, call.words.gettext
    if call.identity is None:
        found = analysis_of(app, board, state)
    else:
        found = start_analysis(app, call.account(), board, state)
    if found is None:
        raise Refusal(
            Code.NOT_FOUND,
            _(
                "match %(board)s has no analysis yet; `%(game)s analyse %(board)s userid password` asks for it",
                board=board,
                game=call.rules.key,
            ),
        )
    if not isinstance(found, StoredAnalysis):
        said = [
            _("match %(board)s is being analysed", board=board),
            _("%(done)s of %(total)s positions are done", done=found.done, total=found.total),
            _(
                "`%(game)s analyse %(board)s` shows the result when all are done",
                game=call.rules.key,
                board=board,
            ),
        ]
        if found.interrupted:
            said.insert(1, _("it was interrupted, and will continue by itself"))
        return Answer("; ".join(said))
    rules = rules_by_id(state.rules)
    sides = [text_in(rules.sides[seat], call.words) for seat in range(len(state.seats))]
    head = _what_is_shown(call.words, board, puzzle=len(sides) == 1)
    bound = text_in(score_bound(state), call.words)
    return Answer(
        f"{head}; {bound}" if bound else head, "\n".join(_table(found, sides, call.words))
    )


def _what_is_shown(words: Wording, board: int, *, puzzle: bool) -> str:
    if puzzle:
        return words.gettext(
            "match %(board)s: the best score within reach after each move, according to the "
            "engine; 100 is the proven maximum",
            board=board,
        )
    return words.gettext(
        "match %(board)s: each player's winning chances after each move, according to the engine",
        board=board,
    )


def _table(found: StoredAnalysis, sides: Sequence[str], words: Wording) -> list[str]:
    """Return a line for the start and each move, and its marks: `?` and a better line, `??` at a turning point."""
    seats = len(found.positions[0].values)
    tipped = {point.number for point in turning_points(found.positions)}
    start = words.gettext("the start")
    wide = max(len(start), *(len(one.move) + 2 for one in found.positions))
    names = [side[:8] for side in sides[:seats]]
    side = max(map(len, names))
    head = " ".join(f"{name:>8}" for name in names)
    lines = [f"{'':4} {'':{side}} {'':{wide}} {head}".rstrip()]
    lines.append(f"{0:>4} {'':{side}} {start:{wide}} {_values(found.positions[0])}")
    for number, (before, after) in enumerate(
        zip(found.positions, found.positions[1:], strict=False), 1
    ):
        mover = names[before.seat] if before.seat is not None else ""
        mark = "??" if number in tipped else "?" if before.better else ""
        better = ""
        if before.better:
            moves = " ".join(before.better)
            better = f"  {words.gettext('better: %(moves)s', moves=moves)}"
        move = f"{before.move}{mark}"
        lines.append(f"{number:>4} {mover:{side}} {move:{wide}} {_values(after)}{better}")
    return lines


def _values(position: AnalysedPosition) -> str:
    shown = " ".join(f"{round(100 * value):>6} %" for value in position.values)
    return f"{shown}  {position.score}" if position.score else shown


BOARDS: Final = 20
"""Boards drawn in one answer, at most."""


def show(call: Invocation) -> Answer:
    """Show boards, as they stand or as they stood."""
    display = _read_display(call, call.line.all("flag"), call.rules.displays[0])
    return _all_of(call, lambda word: _shown(call, word, display), _board_words(call))


def _all_of(call: Invocation, shown: Callable[[str], str], words: Sequence[str]) -> Answer:
    """Return the boards that can be shown, and say which can't; refused if none can."""
    boards, missing = [], []
    for word in words:
        try:
            boards.append(shown(word))
        except Refusal as reason:
            missing.append(redact_refusal(reason, call.line, call.usage, call.words))
    if missing and not boards:
        raise missing[0]
    return Answer("; ".join(reason.sentence for reason in missing), "\n\n\n".join(boards))


def _board_words(call: Invocation) -> list[str]:
    """Return the boards that are asked for by number; `too-long` for too many."""
    words = call.line.all("board")
    if len(words) > BOARDS:
        said = call.words.gettext(
            "that's %(count)s boards; the limit is %(most)s", count=len(words), most=BOARDS
        )
        raise Refusal(Code.TOO_LONG, said)
    return words


def _read_display(call: Invocation, flags: Sequence[str], display: str) -> str:
    """Return the display that a flag names; without one `display`."""
    for flag in flags:
        name, _, display = flag.lstrip("-").partition("=")
        if name != "display":
            said = call.words.gettext(
                "there is no option %(written)s here, only --display=NAME",
                written=repr(flag[:24]),
            )
            raise Refusal(Code.UNKNOWN_OPTION, said)
    if len(flags) > 1:
        said = call.words.gettext("--display is given twice; give it once")
        raise Refusal(Code.BAD_OPTION, said)
    return read_display(call.rules, display)


def _shown(call: Invocation, word: str, display: str) -> str:
    number, ply = split_ply(word)
    board = read_board(number, call.words)
    scene = NamedMatch.of(call.app, board, match_of_game(call, board), call.words)
    if ply is None or check_ply(board, scene.state, ply) == scene.state.ply:
        return _drawn(call.app, scene, display)
    then = msgspec.structs.replace(scene, position=position_at(scene.state, ply))
    return f"{summary_at(then, ply)}\n\n{draw(then, display)}"


def display_of(call: Invocation, account: AccountId) -> str:
    """Return the display that an account has chosen for the game of a command."""
    return preferred_display(call.app, account, call.rules)


def show_as(call: Invocation) -> Answer:
    """Show boards as a player prefers them, with what only that player may see."""
    account = call.account()
    display = _read_display(call, call.line.all("flag"), display_of(call, account))
    words = _board_words(call) or _own_boards(call, account)
    shown = _all_of(
        call,
        lambda word: "\n\n".join([_shown(call, word, display), *_private(call, word, account)]),
        words,
    )
    bounced = bounced_address_lines(call.profile(account), call.words)
    said = filter(None, [*bounced, shown.sentence])
    return Answer("; ".join(said), shown.page or call.words.gettext("there are none"))


def _own_boards(call: Invocation, account: AccountId) -> list[str]:
    """Return the player's boards in the game: the active ones, unless the line has another state."""
    state = MatchFilter(call.line.get("state").lower() or MatchFilter.ACTIVE)
    rows = call.app.lists.of(account, state, call.rules.key, 0, BOARDS)
    if state in (MatchFilter.ACTIVE, MatchFilter.ALL):
        # nobody else has in a list what not all players have accepted
        proposed = call.app.lists.proposed(account)
        rows = [row for row in proposed if row.game == call.rules.key] + rows
    return [str(row.board) for row in rows[:BOARDS]]


def _private(call: Invocation, word: str, account: AccountId) -> list[str]:
    """Return the lines below a board that are for its player alone."""
    board = read_board(split_ply(word)[0], call.words)
    private = private_part(call.app, board, match_of_game(call, board), account)
    if private is None:
        return []
    lines = conditional_move_lines(private.conditional_moves, call.words)
    if private.draft:
        said = call.words.gettext("submitted but not played yet: %(move)s", move=private.draft)
        lines.append(said)
    return ["\n".join(lines)] if lines else []


def preview_as(call: Invocation) -> Answer:
    """Preview, drawn as a player prefers it."""
    return _preview(call, display_of(call, call.account()))


def preview(call: Invocation) -> Answer:
    """Show where moves would lead, played in turn from the present position."""
    return _preview(call, call.rules.displays[0])


def _preview(call: Invocation, display: str) -> Answer:
    board, _ = read_board(call.line.get("board"), call.words), call.words.gettext
    scene = NamedMatch.of(call.app, board, match_of_game(call, board), call.words)
    if scene.state.over:
        said = _("the match is over; `show` with #ply shows it as it was")
        raise Refusal(Code.MATCH_OVER, said)
    if scene.state.awaits_entropy:
        said = _("the match is waiting for all players to accept")
        raise Refusal(Code.NOT_STARTED, said)
    played = []
    for number, text in enumerate(call.line.all("step"), 1):
        scene, move = _played(scene, text, number)
        played.append(move)
    return Answer(
        sentence=_(
            "match %(board)s, only a preview of %(moves)s: %(then)s",
            board=board,
            moves=" ".join(played),
            then=_turn_after(scene),
        ),
        page=draw(scene, display),
    )


def _played(scene: NamedMatch, text: str, number: int) -> tuple[NamedMatch, str]:
    """Play one move of a preview."""
    rules = scene.rules
    if outcome := rules.outcome(scene.position):
        detail = text_in(outcome.text, scene.words)
        raise Refusal(Code.MATCH_OVER, SAY("over-before", number=number, detail=detail))
    try:
        move = rules.check(scene.position, read_move(rules, text))
    except Refusal as reason:
        problem = reason.in_language(scene.words)
        raise Refusal(reason.code, SAY("bad-move", number=number, problem=problem)) from None
    after = msgspec.structs.replace(scene, position=rules.play(scene.position, move))
    return after, rules.write(move)


def _turn_after(scene: NamedMatch) -> str:
    mover = scene.rules.to_move(scene.position)
    if mover is None:
        return scene.words.gettext("the match would be over")
    return scene.words.gettext(
        "it would be %(side)s's turn (%(name)s)", side=scene.side(mover), name=scene.names[mover]
    )


def draw(scene: NamedMatch, display: str) -> str:
    """Return the position drawn; empty before the draw, a sentence if the game is not installed."""
    if isinstance(scene.rules, MissingRules):
        return scene.rules.sentence
    if scene.position is None:
        return ""
    return draw_text(scene.rules, scene.position, display, scene.names, scene.words)


def match_of_game(call: Invocation, board: int) -> MatchState:
    """Return a match of the game as it stands; refused as `load_state` does, or as `wrong-game`.

    The refusal of a tournament's number says what shows it.
    """
    try:
        state = load_state(call.app, board)
    except Refusal as reason:
        missing = reason.code == Code.UNKNOWN_BOARD
        if not (missing and shown_name(call.app, call.origin.proven, board)):
            raise
        said = call.words.gettext(
            "%(number)s is a tournament, not a match; `tournament %(number)s` shows it",
            number=board,
        )
        raise Refusal(Code.UNKNOWN_BOARD, said) from None
    game = state.rules.partition("/")[0]
    if game != call.rules.key:
        said = call.words.gettext(
            "match %(board)s is a match of %(game)s, not %(other)s; write %(game)s",
            board=board,
            game=game,
            other=call.rules.key,
        )
        raise Refusal(Code.WRONG_GAME, said)
    return state


def drawn_now(app: App, board: int, words: Wording) -> str:
    """Return a match of any game as it stands, in the game's first display."""
    scene = NamedMatch.of(app, board, load_state(app, board), words)
    return _drawn(app, scene, scene.rules.displays[0])


def _drawn(app: App, scene: NamedMatch, display: str) -> str:
    above = "\n".join([summary(scene, app.store.now()), *_draw_line(app, scene)])
    return f"{above}\n\n{draw(scene, display)}"


def _draw_line(app: App, scene: NamedMatch) -> list[str]:
    """Return a line about the players' part in the draw, if chance set up a match of several."""
    state = scene.state
    if state.setup is None or len(state.seats) == 1:
        return []
    events = app.store.events(scene.board)
    described = describe_draw(decode_event(data).body for data in events)
    if not described:
        return []
    # the messages are those of `DEALS`
    deal = scene.words.gettext(described)
    return [scene.words.gettext("deal: %(deal)s", deal=deal)]
