"""The page of a match: its board, the turn, and the actions of its players."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import msgspec
from litestar import Request, Response
from litestar.response import Redirect
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.game.protocol import PuzzleScore
from domain.match.offers import DEAL, NOT_IN_TOURNAMENTS, can_pause
from domain.match.state import MatchState, position_of
from domain.records import AccountId
from infra.languages.wording import Wording
from infra.projections.ratings import RatingChange
from infra.redis.reads import Read, read_all, read_nothing
from services.app import tournaments
from services.app.challenges import count_from
from services.app.context import App
from services.app.games_off import is_off
from services.app.matches import staff_at_deal, was_sealed
from services.app.queries import best_scores
from services.app.rematch import rematch_board
from services.app.waiting import URGENT_MS, OwnMatches, next_match
from services.http.context import ApiContext
from services.http.web.boards.board_view import is_turned, legal_moves_json, preview_move
from services.http.web.declared import Pages
from services.http.web.match.moves import MoveList, RecordedMark, conditional_lines
from services.http.web.match.plates import Ratings, board_plates, read_rating_change, read_ratings
from services.http.web.match.view import (
    MatchView,
    MatchWriting,
    ReadWriting,
    match_writing,
    writing_reads,
)
from services.http.web.params import Asked, BoardNumber, MoveText
from services.http.web.puzzles.view import Points
from services.http.web.render import redirect_to, render
from services.http.web.session import AskedPage, Visitor
from services.words.agreements import agreed_words, answered, offer_button, offered, own_offer
from services.words.endings import said_result
from services.words.matches import takeovers
from services.words.named_match import NamedMatch

pages = Pages()

AnyRequest = Request[Any, Any, Any]


class NextMatchLink(msgspec.Struct, frozen=True):
    """The next match in words, in the visitor's language."""

    board: int
    path: str
    text: str
    """Such as `Halves against carol`."""
    left: str
    """Such as `2 days left`; empty without a time limit."""
    urgent: bool
    """Whether less than a day is left."""
    waiting: int
    """The number of all matches that wait, without the one that the visitor comes from."""


def next_match_link(
    context: ApiContext, visitor: Visitor, after: int | None = None, own: OwnMatches | None = None
) -> NextMatchLink | None:
    """Return the link to the match that waits next for the visitor, after a board; None without one."""
    if visitor.account is None:
        return None
    found = next_match(context.app, visitor.account, after, visitor.wording, own)
    if found is None:
        return None
    words = visitor.wording
    text = found.title
    if found.others:
        names = words.names(found.others)
        text = words.gettext("%(game)s against %(players)s", game=found.title, players=names)
    left = None if found.deadline is None else found.deadline - visitor.now
    return NextMatchLink(
        board=found.board,
        path=f"/m/{found.board}",
        text=text,
        left="" if left is None else words.gettext("%(time)s left", time=words.span(left)),
        urgent=left is not None and left < URGENT_MS,
        waiting=found.waiting,
    )


class BesideMatch(NamedTuple):
    """The contents of a match page that are read beside the match."""

    writing: ReadWriting
    ratings: Ratings
    change: RatingChange | None
    """The change of the visitor's rating by the match."""
    own: OwnMatches | None
    """The visitor's matches, of which the page names the next; None if they were not read."""

    @classmethod
    def of(cls, account: AccountId | None, found: Sequence[Any]) -> Self:
        """Return what `_reads_beside` have read for an account."""
        *writing, ratings, change, boards, followed = found
        own = OwnMatches(account, boards, followed) if account and boards else None
        return cls(ReadWriting(*writing), ratings, change, own)


def _reads_beside(
    app: App, asked: AskedPage, board: int, state: MatchState | None
) -> Sequence[Read[Any]]:
    """Return the reads of a `BesideMatch`."""
    if state is None:
        return ()
    account = asked.account
    seat = state.seats.index(account) if account in state.seats else None
    # a request of the other parts of the page leaves the chat unread
    chats = seat is not None and len(state.seats) > 1 and not asked.partial
    # with an offer it depends on more whether a match waits; then they are read if they are needed
    waits = seat is None or seat in state.waits or state.offer is not None
    return (
        *writing_reads(app, account, board, with_chat=chats),
        read_ratings(app, state),
        read_rating_change(app, board, state, seat),
        read_nothing(None) if account is None or waits else app.lists.read_boards(account),
        read_nothing(None) if account is None or waits else app.follows.read(account),
    )


@pages.get("/m/{board:int}", reads=_reads_beside)
def show_match(board: BoardNumber, asked: Asked, move: MoveText = "") -> Response[str] | Redirect:
    """Show a match; a move in the address is put into the form, but not played.

    The number of a tournament leads to its page.
    """
    context, visitor = asked.context, asked.visitor
    try:
        table = MatchView.of(context, board, visitor)
    except Refusal as reason:
        is_unknown = reason.code is Code.UNKNOWN_BOARD
        if is_unknown and tournaments.shown_name(context.app, visitor.account, board):
            return redirect_to(f"/tournaments/{board}")
        raise
    return match_page(table, context, visitor, move.strip())


@pages.get("/m/{board:int}/chat")
def show_chat(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Show the chat, as a part of the page of the match."""
    visitor = asked.visitor
    table = MatchView.of(asked.context, board, visitor)
    if not visitor.partial or table.seat is None:
        return redirect_to(f"/m/{board}#chat")
    app, chats = asked.app, not table.puzzle
    found = read_all(app.data, *writing_reads(app, visitor.account, board, with_chat=chats))
    chat = _chat(match_writing(app, table, visitor.account, ReadWriting(*found)))
    return render("match.html", visitor, block="chat", table=table, **chat)


def _chat(writing: MatchWriting) -> dict[str, Any]:
    """Return the chat for the page."""
    unread = sum(line.new for line in writing.chat)
    return {"chat": writing.mark, "lines": writing.chat, "unread": unread, "muted": writing.muted}


def match_page(
    table: MatchView, context: ApiContext, visitor: Visitor, move: str = ""
) -> Response[str]:
    """Return the page of a match."""
    state = table.state
    app, account, board = context.app, visitor.account, table.board
    score = None if state.has_no_position else table.score(position_of(state))
    asked = AskedPage(account, table.now, visitor.partial)
    beside = BesideMatch.of(
        account, visitor.gathered or read_all(app.data, *_reads_beside(app, asked, board, state))
    )
    writing = match_writing(app, table, account, beside.writing)
    words, offer = visitor.wording, state.offer
    recorded = RecordedMark.of(context, table)
    return render(
        "match.html",
        visitor,
        table=table,
        shown=table.shown(turned=is_turned(visitor.display, table.seat)),
        around=board_plates(table, beside.ratings, own_below=visitor.display.below == "mine"),
        said=said_result(table.state, table.seat, table.names, words) if state.result else None,
        change=beside.change,
        upcoming=_upcoming(table, context, visitor, beside.own),
        played=table.in_play and table.moved and not (table.mine or table.answers),
        move=move,
        **_chat(writing),
        at=state.ply,
        live=True,
        listed=MoveList.of(context, table, recorded),
        conditional=conditional_lines(table.board, state.ply, table.conditional_moves),
        dropped=table.conditional_moves.notes,
        can_keep=table.plans,
        score=score,
        solved=_points(table, context, score),
        note=writing.note,
        marks=writing.marks,
        offers=[(kind, offer_button(kind, words)) for kind in _offers(table)],
        transfer_to=context.app.settings.transfer_to or "",
        answer=table.answers,
        offer_text=offer and _offer_text(table, words),
        if_declined=_if_declined(table, words),
        recorded=recorded,
        agreed=agreed_words(words, table.rules, state),
        tournament=_tournament(table, context, visitor),
        takeovers=_takeovers(table, context, visitor),
        challenges=_challenges(table, context, visitor),
        seen=_was_seen(table, context),
        deal_button=offer_button(DEAL, words),
        staff=[table.names[seat] for seat in staff_at_deal(context.app, table.board, state)],
        again=_rematch(table, context, visitor),
        off=table.repeatable and is_off(context.app, table.rules),
        sealed_before=table.repeatable and was_sealed(context.app, table.board, state),
    )


def _takeovers(table: MatchView, context: ApiContext, visitor: Visitor) -> list[str]:
    """Return a clause on each seat that a substitute has taken over."""
    if not table.state.left_seats:
        return []
    return takeovers(NamedMatch.of(context.app, table.board, table.state, visitor.wording))


def _tournament(table: MatchView, context: ApiContext, visitor: Visitor) -> tuple[int, str] | None:
    """Return number and name of the tournament of a match; None without one, or if the visitor may not see it."""
    if table.state.pairing is None:
        return None
    number, _ = table.state.pairing
    name = tournaments.shown_name(context.app, visitor.account, number)
    return (number, name) if name else None


def _rematch(table: MatchView, context: ApiContext, visitor: Visitor) -> MatchView | None:
    """Return the rematch of a match for one of its players; None if nobody has asked for it."""
    board = rematch_board(context.app, table.board) if table.repeatable else None
    if board is None:
        return None
    return MatchView.of(context, board, replace(visitor, match=None))


def _challenges(table: MatchView, context: ApiContext, visitor: Visitor) -> int:
    """Return to how many matches the challenger invites the visitor, if there is but one challenger."""
    if visitor.account is None or table.seat not in table.state.invited or len(table.makers) != 1:
        return 0
    maker = table.state.seats[table.names.index(table.makers[0])]
    return count_from(context.app, visitor.account, maker)


def _was_seen(table: MatchView, context: ApiContext) -> bool:
    """Return whether a browser with the visitor's text was seen, so that declining is counted."""
    if table.seat is None or not table.reveals:
        return False
    seats = table.state.seats
    return not context.app.seen_texts.unseen(table.board, seats, [table.seat])


def _points(table: MatchView, context: ApiContext, score: PuzzleScore | None) -> Points | None:
    """Return the points of a puzzle beside the best; None for any other game."""
    if score is None:
        return None
    rows = best_scores(context.app, table.rules, table.state.options, count=1)
    return Points.of(table.rules, rows, score.rank)


def _upcoming(
    table: MatchView, context: ApiContext, visitor: Visitor, own: OwnMatches | None
) -> NextMatchLink | None:
    """Return the link to the next match, for a player for whom this one does not wait."""
    waits = table.seat in table.state.waits or table.answers
    if table.seat is None or waits:
        return None
    return next_match_link(context, visitor, table.board, own)


def _offer_text(table: MatchView, words: Wording) -> str:
    offer = table.state.offer
    assert offer is not None
    if offer.seat == table.seat:
        return own_offer(offer.kind, words)
    return f"{offered(offer.kind, table.names[offer.seat], words)}."


def _if_declined(table: MatchView, words: Wording) -> str:
    """Return what to say when the visitor's own proposal is declined; empty for all others."""
    offer = table.state.offer
    if offer is None or offer.seat != table.seat or offer.kind in table.rules.offers:
        return ""
    others = [name for seat, name in enumerate(table.names) if seat != offer.seat]
    name = others[0] if len(others) == 1 else words.gettext("A player")
    return f"{answered(offer.kind, name, words, accepted=False)}."


def _offers(table: MatchView) -> list[str]:
    """Return the kinds of offers that the visitor can make now, but a transfer."""
    state = table.state
    if not table.in_play or table.puzzle or state.offer is not None or state.has_no_position:
        return []
    kinds = ["draw"]
    if table.moves and table.moved:
        kinds.append("undo")
    kinds.append("abort")
    if can_pause(state):
        kinds.append("pause")
    kinds += table.rules.offers
    return [one for one in kinds if state.pairing is None or one not in NOT_IN_TOURNAMENTS]


@pages.get("/m/{board:int}/moves")
def list_moves(board: BoardNumber, asked: Asked) -> dict[str, Any]:
    """Return the legal moves in the current position."""
    table = MatchView.of(asked.context, board, asked.visitor)
    table.check_ply(table.state.ply)
    return {
        "ply": table.state.ply,
        **legal_moves_json(table.rules, position_of(table.state), asked.visitor.wording),
    }


@pages.get("/m/{board:int}/check")
def check_move(
    request: AnyRequest, board: BoardNumber, asked: Asked, move: MoveText = ""
) -> Response[Any]:
    """Return the result of a move, or why it can't be played; nothing is played."""
    visitor = asked.visitor
    table = MatchView.of(asked.context, board, visitor)
    table.check_ply(table.state.ply)
    turned = is_turned(visitor.display, table.seat)
    found = preview_move(
        table.rules,
        position_of(table.state),
        move.strip(),
        table.names,
        visitor.wording,
        plates=False,
        turned=turned,
    )
    if "application/json" in request.headers.get("accept", ""):
        return preview_json(found)
    shown = table.shown(turned=turned)
    return render("check.html", visitor, found=found, table=table, shown=shown)


def preview_json(found: Any) -> Response[Any]:
    """Return the result of a move, for the page's script."""
    changes = [
        {"place": one.place, "was": one.was, "now": one.now, "kind": one.kind}
        for one in found.changes
    ]
    body = {
        "legal": found.legal,
        "move": found.move,
        "said": found.said,
        "label": found.label,
        "svg": found.svg,
        "changes": changes,
    }
    return Response(body, media_type="application/json")
