"""Each action of a player at every front end, in English and in German: one code, one sentence, one effect."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import cycle
from typing import NamedTuple

import pytest

from infra.languages.catalogues import languages
from services.app.rematch import rematch_board
from tests.fakes.everywhere import (
    API,
    FRONT_ENDS,
    MAIL,
    SEAT,
    TERMINAL,
    WEB,
    Action,
    Everywhere,
    Result,
    same,
)
from tests.fakes.everywhere import everywhere as front_ends
from tests.helpers.api import Api, Player

SECRET = b"luck"
SEAL = sha256(SECRET).hexdigest()
TEXT = "my clock ran in the pause"
NO_SEAT = (TERMINAL, MAIL, API, WEB)
DRAFTS = (TERMINAL, MAIL, SEAT, API)
OPEN = (API, WEB)
IN_A_LINE = (TERMINAL, SEAT, API, WEB)
"""In a mail to the server a text of several lines stands below its command."""


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    with Api(tmp_path_factory.mktemp("actions")) as api, front_ends(api) as found:
        yield found


class Table(NamedTuple):
    """Two players at a board, with all that leads there."""

    everywhere: Everywhere
    one: Player
    other: Player
    board: int = 0

    def give(self, player: Player, do: str, **more: str) -> None:
        """Have a player act, at the API."""
        answer = player.give(self.board, {"do": do, **more})
        assert answer.is_success, answer.text


def plain(do: str) -> Action:
    return Action(do, {"do": do}, {"do": do})


def with_one(words: str, do: str, field: str, value: str) -> Action:
    return Action(words, {"do": do, field: value}, {"do": do, field: value})


def move(text: str) -> Action:
    return with_one(text, "move", "move", text)


def offer(kind: str) -> Action:
    return with_one(f"propose {kind}", "offer", "kind", kind)


def reveal(text: bytes, game: str) -> Action:
    return with_one(f"reveal {text.hex()}", "reveal", "text", text.hex())._replace(game=game)


def acting(action: Action, by: str = "one") -> Callable[[str, Table], Result]:
    def act(where: str, table: Table) -> Result:
        return table.everywhere.act(where, getattr(table, by), table.board, action)

    return act


# how a match comes to where an action is tried


def nothing(_: Table) -> None:
    """It has just been proposed."""


def accepted(table: Table) -> None:
    table.give(table.other, "accept")


def moved(table: Table) -> None:
    table.give(table.one, "move", move="m13-j7")


def both_moved(table: Table) -> None:
    moved(table)
    table.give(table.other, "move", move="a13-d7")


def draw_offered(table: Table) -> None:
    accepted(table)
    table.give(table.other, "offer", kind="draw")


def own_draw_offered(table: Table) -> None:
    accepted(table)
    table.give(table.one, "offer", kind="draw")


def paused(table: Table) -> None:
    accepted(table)
    table.give(table.one, "offer", kind="pause")
    table.give(table.other, "accept")


def over(table: Table) -> None:
    accepted(table)
    table.give(table.other, "resign")


def claimed(table: Table) -> None:
    assert table.everywhere.claim(API, table.other, table.board, 0, TEXT) == Result("")


def proposed_openly(table: Table) -> None:
    assert table.one.post("/api/challenges", {"game": "pow2"}).is_success


def sealed(table: Table) -> Table:
    """Both have committed to a text of their own in another match."""
    pair = [table.one.name, table.other.name]
    body = {"game": "powerdrain", "players": pair, "terms": ["--gather"], "commitment": SEAL}
    begun = table.one.post("/api/matches", body)
    assert begun.is_success, begun.text
    other = table._replace(board=begun.json()["board"])
    other.everywhere.boards(other.board, other.one, other.other)
    other.give(other.other, "accept", commitment=SEAL)
    return other


class Case(NamedTuple):
    """An action, where it is tried, and its code; empty for one that is accepted."""

    name: str
    before: Callable[[Table], Table | None]
    tried: Callable[[str, Table], Result]
    code: str
    where: tuple[str, ...] = FRONT_ENDS


def draft(where: str, table: Table) -> Result:
    return table.everywhere.submit(where, table.one, table.board, "m13-a13")


def vacation(days: str) -> Callable[[str, Table], Result]:
    return lambda where, table: table.everywhere.vacation(where, table.one, days)


def queue(line: str, by: str = "one") -> Callable[[str, Table], Result]:
    return lambda where, table: table.everywhere.queue(where, getattr(table, by), table.board, line)


def chat(text: str) -> Callable[[str, Table], Result]:
    return lambda where, table: table.everywhere.chat(where, table.one, table.board, text)


def rematch(where: str, table: Table) -> Result:
    return table.everywhere.rematch(where, table.one, table.board)


def claim(ply: int) -> Callable[[str, Table], Result]:
    return lambda where, table: table.everywhere.claim(where, table.one, table.board, ply, TEXT)


def appeal(where: str, table: Table) -> Result:
    return table.everywhere.appeal(where, table.one, table.board, 2, TEXT)


def rule(where: str, table: Table) -> Result:
    return table.everywhere.rule(where, table.one, table.board, 2, TEXT)


def start(*names: str) -> Callable[[str, Table], Result]:
    def begin(where: str, table: Table) -> Result:
        players = [name.format(one=table.one.name, other=table.other.name) for name in names]
        return table.everywhere.start(where, table.one, table.board, players, ())

    return begin


def take_own(where: str, table: Table) -> Result:
    (made,) = [one["id"] for one in table.one.get("/api/account/challenges").json()["challenges"]]
    if where == API:
        return table.everywhere.http(table.one.post(f"/api/challenges/{made}/accept"))
    return table.everywhere.page(table.one, f"/challenges/{made}/take", {})


def withdraw_unknown(where: str, table: Table) -> Result:
    if where == API:
        return table.everywhere.http(table.one.delete("/api/challenges/nothing"))
    return table.everywhere.page(table.one, "/challenges/nothing/withdraw", {})


REFUSED = (
    Case("out of turn", moved, acting(move("m9-j7")), "not-your-turn"),
    Case("move at an earlier ply", both_moved, acting(move("m9-j7#0")), "stale-ply", DRAFTS[:3]),
    Case("move after the end", over, acting(move("m13-j7")), "match-over"),
    Case("unknown offer", accepted, acting(offer("win")), "unknown-offer"),
    Case("offer again", own_draw_offered, acting(offer("draw")), "offer-stands"),
    Case("undo of nothing", accepted, acting(offer("undo")), "unknown-offer"),
    Case("accept of nothing", both_moved, acting(plain("accept")), "no-offer"),
    Case("reject of nothing", both_moved, acting(plain("reject")), "no-offer"),
    Case("resume without a pause", accepted, acting(plain("resume")), "not-paused"),
    Case("decline too late", both_moved, acting(plain("decline")), "too-late"),
    Case("resign after the end", over, acting(plain("resign")), "match-over"),
    Case("reveal of nothing", accepted, acting(reveal(SECRET, "pow2")), "too-late"),
    Case("reveal of another text", sealed, acting(reveal(b"other", "powerdrain")), "wrong-text"),
    Case("claim of a ply to come", moved, claim(7), "unknown-ply"),
    Case("second claim", claimed, claim(0), "claim-stands"),
    Case("appeal before a ruling", claimed, appeal, "too-early"),
    Case("ruling by a player", claimed, rule, "not-an-arbiter", NO_SEAT),
    Case("chat that is too long", nothing, chat("too long\n" * 250), "too-long", IN_A_LINE),
    Case("conditional move at the own turn", nothing, queue("m13-j7 a13-d7"), "not-your-turn"),
    Case("conditional move that is illegal", nothing, queue("m13-a13 a13-d7", "other"), "illegal-move"),
    Case("conditional move after the end", over, queue("m13-j7 a13-d7"), "match-over"),
    Case("vacation that is too long", nothing, vacation("60"), "bad-option", NO_SEAT),
    Case("end of no vacation", nothing, vacation("back"), "too-late", NO_SEAT),
    Case("rematch before the end", accepted, rematch, "too-early"),
    Case("match with nobody", nothing, start("{one}", "nix"), "unknown-user", DRAFTS),
    Case("match with oneself", nothing, start("{one}", "{one}"), "bad-players", DRAFTS),
    Case("draft that is illegal", nothing, draft, "illegal-move", DRAFTS),
    Case("own open challenge", proposed_openly, take_own, "own-challenge", OPEN),
    Case("withdrawal of nothing", nothing, withdraw_unknown, "unknown-challenge", OPEN),
)  # fmt: skip


def table_of(everywhere: Everywhere, language: str, case: Case) -> Table:
    one, other = everywhere.player(language), everywhere.player(language)
    table = Table(everywhere, one, other, everywhere.match(one, other))
    return case.before(table) or table


@pytest.mark.parametrize(
    ("case", "language"),
    list(zip(REFUSED, cycle(languages()), strict=False)),
    ids=[case.name for case in REFUSED],
)
def test_a_refusal_has_one_code_and_one_sentence_and_changes_nothing(everywhere, case, language):
    table = table_of(everywhere, language, case)
    before = everywhere.types(table.board)
    result = same({where: case.tried(where, table) for where in case.where})
    assert result.code == case.code, result
    assert everywhere.types(table.board) == before


DONE = (
    Case("move", nothing, acting(move("m13-j7")), ""),
    Case("offer", accepted, acting(offer("draw")), ""),
    Case("accept of an offer", draw_offered, acting(plain("accept")), ""),
    Case("reject", draw_offered, acting(plain("reject")), ""),
    Case("accept of a match", nothing, acting(plain("accept"), "other"), ""),
    Case("decline", nothing, acting(plain("decline"), "other"), ""),
    Case("resign", accepted, acting(plain("resign")), ""),
    Case("resume", paused, acting(plain("resume")), ""),
    Case("reveal", sealed, acting(reveal(SECRET, "powerdrain")), ""),
    Case("start", nothing, start("{one}", "{other}"), ""),
    Case("claim", moved, claim(0), ""),
    Case("chat", nothing, chat("good luck"), ""),
    Case("conditional moves", nothing, queue("m13-j7 a13-d7", "other"), ""),
    Case("rematch", over, rematch, ""),
)


def effect_on(table: Table) -> tuple[object, ...]:
    """What a match, and what its players have begun, shows of an action; nothing that is of this match alone."""
    board, app = table.board, table.everywhere.api.parts
    chat = table.one.get(f"/api/matches/{board}/chat").json()["lines"]
    replies = table.other.get(f"/api/matches/{board}/replies").json()["replies"]
    again = rematch_board(app, board)
    return (
        table.everywhere.types(board),
        [line["text"] for line in chat],
        [(reply["ply"], reply["move"]) for reply in replies],
        again and table.everywhere.state(again).seats == (table.other.account, table.one.account),
        len(app.starts.of(table.one.account)),
    )


@pytest.mark.parametrize("case", DONE, ids=lambda case: case.name)
def test_what_is_accepted_has_one_effect(everywhere, case):
    effects = {}
    for where in case.where:
        table = table_of(everywhere, "", case)
        assert case.tried(where, table) == Result(case.code), where
        effects[where] = effect_on(table)
    assert len({repr(effect) for effect in effects.values()}) == 1, effects
