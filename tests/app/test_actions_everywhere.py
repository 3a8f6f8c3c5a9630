"""Each action of a player at every front end, in English and in German: one code, one sentence, one effect."""

from collections.abc import Callable
from hashlib import sha256
from itertools import cycle
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.match.events import Absent, Appealed, Claimed, MatchStarted, Ruled
from domain.match.history import decode_event
from infra.durability.durability import Mode
from infra.languages.catalogues import languages
from infra.people.accounts import AccountRole
from infra.people.texts import TEXT_LIMIT
from infra.redis import keys
from services.app.accounts import set_suspended
from services.app.drafts import draft_of
from services.app.rematch import rematch_board
from services.cli.verify import run as verify
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
from tests.helpers.api import PASSWORD, Api, Player

SECRET = b"luck"
SEAL = sha256(SECRET).hexdigest()
TEXT = "my clock ran in the pause"
TEXTS = {"too long": "x" * (TEXT_LIMIT + 1)}
NO_SEAT = (TERMINAL, MAIL, API, WEB)
NO_MAIL = (TERMINAL, API, WEB)
WITHOUT_PAGE = (TERMINAL, API)
DRAFTS = (TERMINAL, MAIL, SEAT, API)
OPEN = (API, WEB)
IN_A_LINE = (TERMINAL, SEAT, API, WEB)
"""In a mail to the server a text of several lines stands below its command."""


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

    def named(self, text: str) -> str:
        """A text with what is at this table."""
        own = f"{self.one.name} {PASSWORD}"
        words = {"one": self.one.name, "other": self.other.name, "own": own, "board": self.board}
        return text.format(**words, **TEXTS)

    def filled(self, value: Any) -> Any:
        """A body or the fields of a form, with what is at this table."""
        if isinstance(value, dict):
            return {key: self.filled(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        return self.named(value) if isinstance(value, str) else value


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


LUCK = with_one("accept --entropy=luck", "accept", "entropy", "luck")


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


def blocked(table: Table) -> None:
    both_moved(table)  # a block declines the matches in which the blocker has not moved
    assert table.other.put(f"/api/account/blocks/{table.one.name}", None).is_success


def proposed_by_who_blocks(table: Table) -> None:
    blocked(table)
    assert table.other.post("/api/challenges", {"game": "pow2"}).is_success


def other_suspended(table: Table) -> None:
    set_suspended(table.everywhere.api.parts, table.other.name, suspended=True)


def stranger(table: Table) -> Table:
    """Who acts is no player of the match."""
    return table._replace(one=table.everywhere.player(table.one.language))


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
    """An action, where it is tried, its code, which is empty for one that is accepted, and a part of its sentence."""

    name: str
    before: Callable[[Table], Table | None]
    tried: Callable[[str, Table], Result]
    code: str
    where: tuple[str, ...] = FRONT_ENDS
    said: str = ""


def by(do: Callable[..., Result], *values: Any, who: str = "one") -> Callable[[str, Table], Result]:
    """What a player does at a board with one of the methods of `Everywhere`."""
    return lambda where, table: do(
        table.everywhere, where, getattr(table, who), table.board, *values
    )


def acting(action: Action, who: str = "one") -> Callable[[str, Table], Result]:
    return by(Everywhere.act, action, who=who)


def vacation(days: str) -> Callable[[str, Table], Result]:
    return lambda where, table: table.everywhere.vacation(where, table.one, days)


def start(*names: str, terms: tuple[str, ...] = ()) -> Callable[[str, Table], Result]:
    def begin(where: str, table: Table) -> Result:
        players = [table.named(name) for name in names]
        return table.everywhere.start(where, table.one, table.board, players, terms)

    return begin


def asked(
    line: str, request: str, body: Any = None, page: str = "", **fields: str
) -> Callable[[str, Table], Result]:
    """A line, a request of the API and a form or, without fields, a page; `{own}` is userid and password."""

    def ask(where: str, table: Table) -> Result:
        one, everywhere = table.one, table.everywhere
        method, _, path = table.named(request).partition(" ")
        return {
            TERMINAL: lambda: everywhere.say(table.named(line)),
            MAIL: lambda: everywhere.mail(one, table.named(line)),
            API: lambda: everywhere.http(one._request(method, path, json=table.filled(body))),
            WEB: lambda: (
                everywhere.page(one, table.named(page), table.filled(fields))
                if fields
                else everywhere.shown(everywhere.guest(one).get(table.named(page)))
            ),
        }[where]()

    return ask


def of_challenge(id_: str, do: str) -> Callable[[str, Table], Result]:
    """Something that is done with an open challenge, the first of a player if none is named."""

    def ask(where: str, table: Table) -> Result:
        found = table.other.get("/api/account/challenges").json()["challenges"]
        found += table.one.get("/api/account/challenges").json()["challenges"]
        path = f"/challenges/{id_ or found[0]['id']}"
        if where == WEB:
            return table.everywhere.page(table.one, f"{path}/{do}", {})
        by_api = {"take": ("POST", "/accept"), "withdraw": ("DELETE", "")}[do]
        return table.everywhere.http(table.one._request(by_api[0], f"/api{path}{by_api[1]}"))

    return ask


REFUSED = (
    Case("out of turn", moved, acting(move("m9-j7")), "not-your-turn"),
    Case("move at an earlier ply", both_moved, acting(move("m9-j7#0")), "stale-ply", DRAFTS[:3]),
    Case("move after the end", over, acting(move("m13-j7")), "match-over"),
    Case("unknown offer", accepted, acting(offer("win")), "unknown-offer"),
    Case("offer again", own_draw_offered, acting(offer("draw")), "offer-stands"),
    Case("undo of nothing", accepted, acting(offer("undo")), "unknown-offer"),
    Case("accept of nothing", both_moved, acting(plain("accept")), "no-offer"),
    Case("entropy for nothing", draw_offered, acting(LUCK), "bad-option", said="othing is dealt in this match;"),
    Case("reject of nothing", both_moved, acting(plain("reject")), "no-offer"),
    Case("resume without a pause", accepted, acting(plain("resume")), "not-paused"),
    Case("decline too late", both_moved, acting(plain("decline")), "too-late"),
    Case("resign after the end", over, acting(plain("resign")), "match-over"),
    Case("reveal of nothing", accepted, acting(reveal(SECRET, "pow2")), "too-late"),
    Case("reveal of another text", sealed, acting(reveal(b"other", "powerdrain")), "wrong-text"),
    Case("claim of a ply to come", moved, by(Everywhere.claim, 7, TEXT), "unknown-ply"),
    Case("second claim", claimed, by(Everywhere.claim, 0, TEXT), "claim-stands"),
    Case("appeal before a ruling", claimed, by(Everywhere.appeal, 2, TEXT), "too-early"),
    Case("ruling by a player", claimed, by(Everywhere.rule, 2, TEXT), "not-an-arbiter", NO_SEAT),
    Case("chat that is too long", nothing, by(Everywhere.chat, "too long\n" * 250), "too-long", IN_A_LINE),
    Case("chat of a stranger", stranger, by(Everywhere.chat, "hello"), "not-a-player", NO_SEAT),
    Case("chat with who blocks", blocked, by(Everywhere.chat, "hello"), "not-wanted", said="{other} doesn't read your chat"),
    Case("conditional move at the own turn", nothing, by(Everywhere.queue, "m13-j7 a13-d7"), "not-your-turn"),
    Case("conditional move that is illegal", nothing, by(Everywhere.queue, "m13-a13 a13-d7", who="other"), "illegal-move"),
    Case("conditional move after the end", over, by(Everywhere.queue, "m13-j7 a13-d7"), "match-over"),
    Case("conditional move of a stranger", stranger, by(Everywhere.queue, "m13-j7 a13-d7"), "not-a-player", NO_SEAT),
    Case("vacation that is too long", nothing, vacation("60"), "bad-option", NO_SEAT),
    Case("end of no vacation", nothing, vacation("back"), "too-late", NO_SEAT),
    Case("rematch before the end", accepted, by(Everywhere.rematch), "too-early"),
    Case("match with nobody", nothing, start("{one}", "nix"), "unknown-user", DRAFTS),
    Case("match with oneself", nothing, start("{one}", "{one}"), "bad-players", DRAFTS),
    Case("match with who is suspended", other_suspended, start("{one}", "{other}"), "not-wanted", said="is suspended and can't start matches"),
    Case("commitment where nothing is gathered", nothing, start("{one}", "{other}", terms=(f"--commitment={SEAL}",)), "bad-option",
         DRAFTS, "--commitment belongs to a challenge with --gather."),
    Case("draft that is illegal", nothing, by(Everywhere.submit, "m13-a13"), "illegal-move", DRAFTS),
    Case("draft out of turn", nothing, by(Everywhere.submit, "a13-d7", who="other"), "not-your-turn", DRAFTS, "It is Light's turn ({one})"),
    Case("confirmation of nothing", nothing, by(Everywhere.confirm), "no-draft", DRAFTS),
    Case("own open challenge", proposed_openly, of_challenge("", "take"), "own-challenge", OPEN),
    Case("open challenge of who blocks", proposed_by_who_blocks, of_challenge("", "take"), "not-wanted", OPEN),
    Case("withdrawal of nothing", nothing, of_challenge("nothing", "withdraw"), "unknown-challenge", OPEN),
    Case("decline of nobody's", nothing, asked("decline all {own} nix", "POST /api/account/challenges/decline", {"userid": "nix"}),
         "unknown-user", (TERMINAL, MAIL, API)),
    Case("unknown language", nothing, asked("set {own} language fr", "PATCH /api/account", {"language": "fr"}, "/account/preferences",
         language="fr"), "bad-option", NO_SEAT, "there is no language 'fr'; the languages are en, de"),
    Case("unknown time of mail", nothing, asked("set {own} notify never", "PATCH /api/account", {"notify": "never"}, "/account/preferences",
         notify="never"), "bad-option", NO_SEAT, "'never' isn't a choice"),
    Case("unknown challengers", nothing, asked("set {own} challenges all", "PATCH /api/account", {"challenges": "all"},
         "/account/preferences", challenges="all"), "bad-option", NO_SEAT, "'all' doesn't say whose challenges you accept"),
    Case("unknown display", nothing, asked("pow2 set {own} huge", "PATCH /api/account", {"displays": {"pow2": "huge"}}, "/account/preferences",
         **{"display-pow2": "huge"}), "bad-option", NO_SEAT, "pow2 has no display 'huge'; the displays are large, small"),
    Case("unknown display of a board", nothing, asked("pow2 show {board} --display=huge", "GET /api/matches/{board}/board.txt?display=huge"),
         "bad-option", WITHOUT_PAGE, "pow2 has no display 'huge'; the displays are large, small"),
    Case("address that is none", nothing, asked("change address {own} a@b.example here@", "PUT /api/account/addresses",
         {"addresses": ["a@b.example", "here@"]}, "/account/addresses", addresses="a@b.example here@"), "bad-address", NO_MAIL,
         "'here@' isn't a plain e-mail address"),
    Case("password that can be none", nothing, asked("change password {own} tiny", "POST /api/account/password",
         {"old": PASSWORD, "new": "tiny"}, "/account/password", old=PASSWORD, new="tiny"), "bad-password", NO_MAIL),
    Case("unknown token", nothing, asked("", "DELETE /api/tokens/0000000000000000", None, "/account/tokens/0000000000000000/revoke", x=""),
         "not-found", OPEN, "you have no token with this id"),
    Case("message that is too long", nothing, asked("message {own} {other} {too long}", "POST /api/messages",
         {"to": ["{other}"], "text": "{too long}"}), "too-long", WITHOUT_PAGE, f"the text has {TEXT_LIMIT + 1} characters; the limit is {TEXT_LIMIT}"),
    Case("message to who blocks", blocked, asked("message {own} {other} hello", "POST /api/messages", {"to": ["{other}"], "text": "hello"}),
         "not-wanted", (TERMINAL, MAIL, API), "{other} doesn't take messages from you"),
    Case("block of oneself", nothing, asked("block {own} {one}", "PUT /api/account/blocks/{one}", None, "/players/{one}/block", x=""),
         "bad-option", NO_MAIL, "you can't block yourself"),
    Case("block of nobody", nothing, asked("", "PUT /api/account/blocks/nobody", None, "/players/nobody/block", x=""), "unknown-user", OPEN,
         "there is no user 'nobody'"),
    Case("ratings of a puzzle", nothing, asked("jump ratings", "GET /api/ratings/jump", None, "/ratings/jump"), "usage", NO_SEAT,
         "jump is a puzzle and has scores instead; ask for those"),
    Case("standings of a puzzle", nothing, asked("jump standings", "GET /api/standings/jump"), "usage", WITHOUT_PAGE,
         "jump is a puzzle and has scores instead; ask for those"),
    Case("ratings of a player in a puzzle", nothing, asked("", "GET /api/ratings/jump/{one}"), "usage", (API,),
         "jump is a puzzle and has scores instead; ask for those"),
    Case("history with oneself", nothing, asked("pow2 history {one} {one}", "GET /api/head-to-head/pow2/{one}/{one}"), "bad-players", WITHOUT_PAGE),
)  # fmt: skip


def table_of(everywhere: Everywhere, language: str, case: Case) -> Table:
    one, other = everywhere.player(language), everywhere.player(language)
    table = Table(everywhere, one, other, everywhere.match(one, other))
    return case.before(table) or table


def stored(table: Table) -> object:
    """What a refusal changes nothing of."""
    accounts = table.everywhere.api.parts.accounts
    return table.everywhere.types(table.board), *(
        replace(accounts.record_of(one.account), mail_turn=0) for one in (table.one, table.other)
    )


@pytest.mark.parametrize(
    ("case", "language"),
    list(zip(REFUSED, cycle(languages()), strict=False)),
    ids=[case.name for case in REFUSED],
)
def test_a_refusal_has_one_code_and_one_sentence_and_changes_nothing(everywhere, case, language):
    table = table_of(everywhere, "" if case.said else language, case)
    before = stored(table)
    result = same({where: case.tried(where, table) for where in case.where})
    assert result.code == case.code, result
    assert table.named(case.said).lower() in result.sentence.lower()
    assert stored(table) == before


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
    Case("claim", moved, by(Everywhere.claim, 0, TEXT), ""),
    Case("chat", nothing, by(Everywhere.chat, "good luck"), ""),
    Case("conditional moves", nothing, by(Everywhere.queue, "m13-j7 a13-d7", who="other"), ""),
    Case("rematch", over, by(Everywhere.rematch), ""),
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


# what only some front ends have, or what begins at one and ends at another


def test_with_durability_none_every_front_end_says_pending(tmp_path):
    with Api(tmp_path, durability=Mode.NONE) as api, front_ends(api) as everywhere:
        for where in FRONT_ENDS:
            one, other = everywhere.player(), everywhere.player()
            everywhere.say(f"pow2 challenge {one.name} {other.name}")
            api.caught_up()
            board = api.parts.lists.proposed(one.account)[0].board
            everywhere.boards(board, one, other)
            result = everywhere.act(where, one, board, move("m13-j7"))
            assert result.code == "pending", where
            assert "durability none" in result.sentence, where
            assert api.http.get(f"/api/matches/{board}").json()["moves"] == ["m13-j7"], where


def test_a_damaged_snapshot_is_damaged_at_every_front_end(everywhere, pair):
    board = everywhere.match(*pair)
    everywhere.api.parts.data.set(keys.snapshot(keys.shard_of(board, 4), board), b"x" * 40)
    found = {where: everywhere.act(where, pair[0], board, move("m13-j7")) for where in FRONT_ENDS}
    assert {result.code for result in found.values()} == {"damaged"}
    assert board in everywhere.api.parts.damage.all()
    # a mail to a seat is to come again: what it asks for is not lost
    del found[SEAT]
    assert same(found).sentence.startswith(f"Match {board} can't be read")


@pytest.mark.parametrize("where", FRONT_ENDS)
def test_a_match_that_the_last_accept_starts_knows_who_is_on_vacation(everywhere, pair, where):
    one, other = pair
    assert everywhere.vacation(TERMINAL, one, "9") == Result("")
    board = everywhere.match(one, other, "powerdrain", "--gather")
    accept = plain("accept")._replace(game="powerdrain")
    assert everywhere.act(where, other, board, accept) == Result("")
    bodies = [decode_event(data).body for data in everywhere.api.parts.store.events(board)]
    assert any(isinstance(body, MatchStarted) for body in bodies)
    assert [body.seat for body in bodies if isinstance(body, Absent)] == [0]
    found = everywhere.api.http.get(f"/api/matches/{board}").json()
    assert found["clock"]["deadline"] - found["updated"] > 29 * DAY


@pytest.mark.parametrize("where", DRAFTS)
def test_a_draft_is_submitted_at_one_front_end_and_confirmed_at_another(everywhere, pair, where):
    one, other = pair
    board = everywhere.match(one, other)
    assert everywhere.submit(where, one, board, "m13-j7") == Result("")
    shown = one.get(f"/api/matches/{board}/draft").json()
    assert shown == {"board": board, "move": "m13-j7", "ply": 0}
    after = DRAFTS[(DRAFTS.index(where) + 1) % len(DRAFTS)]
    assert everywhere.confirm(after, one, board) == Result("")
    assert everywhere.api.http.get(f"/api/matches/{board}").json()["moves"] == ["m13-j7"]
    state = everywhere.state(board)
    assert draft_of(everywhere.api.parts, one.account, board, state) is None


@pytest.mark.parametrize("where", FRONT_ENDS)
def test_a_case_takes_its_whole_course_and_the_match_holds(where, everywhere):
    alice, bob, *arbiters = (everywhere.player() for _ in range(4))
    board, app = everywhere.match(alice, bob), everywhere.api.parts
    text = "my clock ran\nin the pause"
    for arbiter in arbiters:
        app.accounts.set_role(arbiter.name, AccountRole.ARBITER, held=True)
    judging = MAIL if where == SEAT else where
    assert everywhere.claim(where, alice, board, 0, text) == Result("")
    assert where != SEAT or everywhere.seat(bob, board, "case") == Result("")
    assert everywhere.rule(judging, arbiters[0], board, 2, text) == Result("")
    assert everywhere.appeal(where, bob, board, 2, text) == Result("")
    assert everywhere.rule(judging, arbiters[1], board, 2, text) == Result("")
    bodies = [decode_event(data).body for data in app.store.events(board)][1:]
    assert [type(body) for body in bodies] == [Claimed, Ruled, Appealed, Ruled]
    statements = {one.digest: one.text for one in app.statements.of_match(board)}
    assert [statements[body.text] for body in bodies] == [text] * 4
    assert verify(str(board), settings=everywhere.api.settings) == 0
