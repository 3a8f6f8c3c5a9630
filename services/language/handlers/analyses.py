"""The analysis of a match: asked for, and shown as a table."""

from collections.abc import Sequence

from domain.engine.turning_points import AnalysedPosition, turning_points
from domain.errors import Code, Refusal
from domain.rules import rules_by_id
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.store.analyses import StoredAnalysis
from services.app.analyses import analysis_of, score_bound, start_analysis
from services.language.answer import Answer
from services.language.invocation import Invocation


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
