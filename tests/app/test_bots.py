"""Bots: whose they are, which challenges they accept, what they can't do, where programs read, and how they end."""

import json
from types import SimpleNamespace
from typing import Any

import feedparser
import pytest

from domain.errors import Code, Refusal
from domain.match.game_text import read_game_text
from domain.match.state import BOT_PREFIX, is_bot
from infra.people.accounts import AccountRole
from infra.people.accounts.record import BotRules
from infra.people.accounts.usernames import Lookalikes
from infra.people.moderation import SanctionKind
from infra.redis import keys
from services.app import accounts, bots, moderation
from services.app.acts import TERMINAL
from services.app.context import Actor
from services.app.games_off import switch_games
from services.app.moderation import ReportVerdict
from services.app.own_data import own_files
from services.app.passwords import replace_lost_password
from services.app.roles import set_role
from tests.helpers.api import PASSWORD, Api, Player, code_of, until

SETTINGS = {"site": "https://play.example", "hooks": "on"}


@pytest.fixture
def owner(api: Api) -> Player:
    return api.player()


guest = owner


@pytest.fixture
def bot(api: Api, owner: Player) -> Player:
    return bot_of(api, owner)


def bot_of(api: Api, owner: Player, name: str = "") -> Player:
    made = bots.make_bot(api.parts, owner.account, name or f"x{owner.name}")
    name = made.profile.name
    token = bots.make_bot_token(api.parts, owner.account, name, "rig").text
    return Player(api, name, made.account, token)


def rule(owner: Player, bot: Player, **changes: Any) -> None:
    assert owner.patch(f"/api/account/bots/{bot.name}", changes).is_success


def start(guest: Player, bot: Player, *terms: str, game: str = "pow2") -> Any:
    body = {"game": game, "players": [guest.name, bot.name], "terms": list(terms)}
    return guest.post("/api/matches", body)


def why(answer: Any) -> str:
    return f"{code_of(answer)}: {answer.json()['detail']}"


# what they are


def test_a_bot_is_known_by_its_userid_its_account_and_its_page(api, owner, bot):
    assert bot.name == f"bot-x{owner.name}"
    assert is_bot(bot.account)
    shown = api.http.get(f"/api/players/{bot.name}").json()
    assert (shown["bot"], shown["owner"], shown["robot"]) == (True, owner.name, None)
    assert api.http.get(f"/api/players/{owner.name}").json()["bot"] is False
    page = api.http.get(f"/players/{bot.name}").text
    assert '<span class="tag">bot</span>' in page
    assert f'A program of <a href="/players/{owner.name}">' in page


def test_nobody_else_gets_such_a_userid_or_id_and_that_of_a_deleted_bot_is_not_used_again(
    api, owner, monkeypatch
):
    for name in ("bot-deep", "b0t_deep", "Bot-Deep"):
        answer = api.http.post("/api/accounts", json={"userid": name, "password": PASSWORD})
        assert code_of(answer) == Code.BAD_NAME, name
    api.parts.data.sadd(keys.ERASED_ACCOUNTS, BOT_PREFIX + b"gone")
    drawn = iter([BOT_PREFIX + b"1234", b"a person", b"gone", b"new."])
    drawing = SimpleNamespace(urandom=lambda _: next(drawn))
    monkeypatch.setattr("infra.people.accounts.accounts.os", drawing)
    assert api.parts.accounts.signup("not-a-program", PASSWORD) == b"a person"
    assert api.parts.accounts.make_bot("bot-again", owner.account) == BOT_PREFIX + b"new."


def test_an_owner_has_five_bots_and_a_name_that_is_free(api, owner, guest):
    made = [bot_of(api, owner, f"{owner.name}-{n}") for n in range(5)]
    answer = owner.post("/api/account/bots", {"userid": "one-more"})
    assert why(answer) == "too-many: you have 5 bots, and that is the limit; delete one first"
    assert code_of(guest.post("/api/account/bots", {"userid": made[0].name})) == Code.NAME_TAKEN
    assert guest.get("/api/account/bots").json() == []
    path = f"/api/account/bots/{made[0].name}/deletion"
    assert code_of(guest.post(path, {})) == Code.NOT_FOUND
    assert owner.post(path, {}).is_success
    assert owner.post("/api/account/bots", {"userid": "one-more"}).status_code == 201


def test_a_bot_whose_making_was_cut_off_is_made_by_the_same_request(api, owner, monkeypatch):
    def killed(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(api.parts.accounts, "make_bot", killed)
    for name in ("a", "b", "c", "d", "e"):
        with pytest.raises(KeyboardInterrupt):
            bots.make_bot(api.parts, owner.account, f"{name}-{owner.name}")
        # what it holds of the name ends by itself
        Lookalikes(api.parts.people).release(f"bot-{name}-{owner.name}")
    monkeypatch.undo()
    assert bots.bots_of(api.parts, owner.account) == []
    assert bots.make_bot(api.parts, owner.account, f"a-{owner.name}").profile.owner == owner.account
    # the others don't count
    assert bots.make_bot(api.parts, owner.account, f"f-{owner.name}")


def test_an_owner_who_is_deleted_meanwhile_leaves_no_bot(api, owner, monkeypatch):
    make = api.parts.accounts.make_bot

    def after_deletion(name: str, account: bytes) -> bytes:
        accounts.delete_account(api.parts, owner.name, PASSWORD)
        return make(name, account)

    monkeypatch.setattr(api.parts.accounts, "make_bot", after_deletion)
    with pytest.raises(Refusal):
        bots.make_bot(api.parts, owner.account, f"late-{owner.name}")
    with pytest.raises(Refusal):
        api.parts.accounts.id_of(f"bot-late-{owner.name}")


# which challenges they accept


@pytest.mark.parametrize(
    ("rules", "terms", "sentence"),
    [
        ({"games": ["line", "torere"]}, "", "only plays line, torere"),
        ({"rated": "rated"}, "--unrated", "only plays rated matches"),
        ({"rated": "unrated"}, "", "only plays unrated matches"),
        ({"least_days": 3}, "--days=2", "only plays with at least 3 days for a move"),
        ({"most_days": 3}, "--days=4", "only plays with at most 3 days for a move"),
        ({"most_days": 3}, "--forfeittime=0", "only plays with at most 3 days for a move"),
        ({"challengers": "none"}, "", "doesn't accept challenges by name; try an open one"),
        ({"at_once": 0}, "", "plays at most 0 matches at a time, and has no room for another"),
    ],
)
def test_a_challenge_outside_the_rules_is_refused_with_the_rule(
    owner, bot, guest, rules, terms, sentence
):
    rule(owner, bot, **rules)
    assert why(start(guest, bot, *terms.split())) == f"not-wanted: {bot.name} {sentence}"
    line = f"pow2 challenge {guest.name} {bot.name} {terms}"
    assert guest.line(line).strip() == f"not-wanted: {bot.name} {sentence}"


def test_a_challenge_inside_the_rules_waits_for_the_program(owner, bot, guest):
    rule(owner, bot, games=["pow2"], rated="rated", least_days=2, most_days=5)
    board = start(guest, bot, "--days=3").json()["board"]
    assert bot.api.http.get(f"/api/matches/{board}").json()["invitation"]["seats"] == [1]
    bot.accept(board)
    match = guest.get(f"/api/matches/{board}").json()
    assert [one["bot"] for one in match["players"]] == [False, True]
    assert match["state"] == "active"


def test_a_rematch_is_a_challenge_under_the_same_rules(owner, bot, guest):
    board = start(guest, bot).json()["board"]
    bot.accept(board)
    guest.give(board, {"do": "resign"})
    rule(owner, bot, games=["line"])
    answer = guest.post(f"/api/matches/{board}/rematch", {})
    assert why(answer) == f"not-wanted: {bot.name} only plays line"


def test_only_so_many_matches_go_on_and_five_with_one_player(api, owner, bot, guest):
    rule(owner, bot, at_once=6)
    boards = []
    for _ in range(5):
        boards.append(start(guest, bot).json()["board"])
        bot.accept(boards[-1])
    assert why(start(guest, bot)) == (
        f"not-wanted: {bot.name} plays at most 5 matches with one player at a time"
    )
    another, third = api.players()
    assert start(another, bot).is_success
    assert why(start(third, bot)) == (
        f"not-wanted: {bot.name} plays at most 6 matches at a time, and has no room for another"
    )
    guest.give(boards[0], {"do": "resign"})
    assert start(third, bot).is_success


def test_known_players_are_those_of_the_owner_too(owner, bot, guest):
    rule(owner, bot, challengers="known")
    assert why(start(guest, bot)).startswith(f"not-wanted: {bot.name} only accepts")
    assert owner.post("/api/messages", {"to": [guest.name], "text": "Try it"}).is_success
    assert start(guest, bot).is_success


def test_rules_that_nothing_could_meet_are_refused(api, owner, bot):
    for code, changes in (
        (Code.UNKNOWN_GAME, {"games": ["chess"]}),
        (Code.BAD_OPTION, {"least_days": 5, "most_days": 3}),
        (Code.BAD_OPTION, {"challengers": "friends"}),
    ):
        answer = owner.patch(f"/api/account/bots/{bot.name}", {"at_once": 3, **changes})
        assert code_of(answer) == code, changes
    assert api.parts.accounts.record_of(bot.account).rules == BotRules()


# what they can't do


def test_a_bot_meets_no_person_who_has_not_chosen_it(api, owner, bot, guest):
    opened = guest.post("/api/challenges", {"game": "pow2"}).json()["id"]
    answer = bot.post(f"/api/challenges/{opened}/accept")
    assert why(answer) == (
        "not-wanted: a bot can't accept an open challenge of a person; it can challenge them by name"
    )
    own = bot.post("/api/challenges", {"game": "pow2"}).json()["id"]
    assert code_of(owner.post(f"/api/challenges/{own}/accept")) == Code.OWN_CHALLENGE
    sibling = bot_of(api, owner, f"y{owner.name}")
    assert code_of(sibling.post(f"/api/challenges/{own}/accept")) == Code.OWN_CHALLENGE
    assert guest.post(f"/api/challenges/{own}/accept").is_success


def test_an_owner_plays_with_their_own_bot_unrated(owner, bot):
    board = start(owner, bot).json()["board"]
    assert owner.get(f"/api/matches/{board}").json()["clock"]["rated"] is False


def test_a_bot_has_no_office_no_password_no_messages_and_no_bots(api, owner, bot, guest):
    parts = api.parts
    with pytest.raises(Refusal, match="programs have no roles"):
        set_role(parts, TERMINAL, bot.name, AccountRole.MODERATOR, held=True)
    with pytest.raises(Refusal, match="has no password"):
        replace_lost_password(parts, bot.name)
    with pytest.raises(Refusal):
        accounts.authenticate(parts, bot.name, PASSWORD)
    with pytest.raises(Refusal, match="no bots of its own"):
        bots.make_bot(parts, bot.account, "child")
    said = {"to": [guest.name], "text": "Buy this"}
    assert code_of(bot.post("/api/messages", said)) == Code.NOT_WANTED
    answer = guest.post("/api/messages", {"to": [bot.name], "text": "Hello"})
    assert why(answer) == (
        f"not-wanted: {bot.name} is a bot, and doesn't read messages; write to {owner.name}"
    )
    report = {"kind": "player", "userid": guest.name, "reason": "spam"}
    assert code_of(bot.post("/api/reports", report)) == Code.NOT_WANTED
    assert code_of(bot.patch("/api/account", {"language": "de"})) == Code.MISSING_SCOPE
    # a link for a new password would go there, and its token changes nothing of the account
    assert bot.line("add x@example.org").startswith("usage: ")


def test_bots_enter_no_tournaments(bot, guest):
    number = guest.post("/api/tournaments", {"name": "Cup", "game": "pow2"}).json()["board"]
    assert guest.post(f"/api/tournaments/{number}/open").is_success
    answer = bot.post(f"/api/tournaments/{number}/entry", {})
    assert why(answer) == "against-terms: bots can't enter tournaments"


# what holds for the owner holds for the bot


def test_a_block_of_the_owner_and_by_the_owner_is_one_of_the_bot(owner, bot, guest):
    assert guest.put(f"/api/account/blocks/{owner.name}", None).is_success
    answer = start(bot, guest)
    assert why(answer) == f"not-wanted: {guest.name} doesn't take challenges from you"
    assert guest.delete(f"/api/account/blocks/{owner.name}").is_success
    assert owner.put(f"/api/account/blocks/{guest.name}", None).is_success
    answer = start(guest, bot)
    assert why(answer) == f"not-wanted: {bot.name} doesn't take challenges from you"


def test_a_sanction_of_the_owner_holds_for_the_bot(api, owner, bot, guest):
    moderator = api.player()
    set_role(api.parts, TERMINAL, moderator.name, AccountRole.MODERATOR, held=True)
    verdict = ReportVerdict(sanction=SanctionKind.NO_MATCHES, why="too many")
    moderation.sanction_player(
        api.parts, Actor(moderator.account, "test", "1"), owner.name, verdict
    )
    assert code_of(start(bot, guest)) == Code.SANCTIONED


def test_a_suspension_and_its_end_are_those_of_the_bots_too(api, owner, bot, guest):
    accounts.set_suspended(api.parts, owner.name, suspended=True)
    assert code_of(bot.get("/api/account")) == Code.UNKNOWN_TOKEN
    assert why(start(guest, bot)).endswith("is suspended and can't start matches")
    with pytest.raises(Refusal, match="suspended"):
        bots.make_bot_token(api.parts, owner.account, bot.name, "again")
    accounts.set_suspended(api.parts, owner.name, suspended=False)
    assert bots.make_bot_token(api.parts, owner.account, bot.name, "again")
    assert start(guest, bot).is_success


def test_what_ends_the_owners_tokens_ends_those_of_the_bots(owner, bot):
    kept = {"old": PASSWORD, "new": "another-word", "tokens": "keep"}
    assert owner.post("/api/account/password", kept).is_success
    assert bot.get("/api/account").is_success
    assert owner.post("/api/account/logout").is_success
    assert code_of(bot.get("/api/account")) == Code.UNKNOWN_TOKEN


def test_bots_are_deleted_with_their_owner_and_their_matches_stay(api, owner, bot, guest):
    board = start(guest, bot).json()["board"]
    bot.accept(board)
    accounts.delete_account(api.parts, owner.name, PASSWORD)
    assert code_of(api.http.get(f"/api/players/{bot.name}")) == Code.UNKNOWN_USER
    assert code_of(bot.get("/api/account")) == Code.UNKNOWN_TOKEN
    players = api.http.get(f"/api/matches/{board}").json()["players"]
    assert [(one["userid"], one["bot"]) for one in players] == [(guest.name, False), (None, True)]
    # nobody gets the name for a year
    assert code_of(guest.post("/api/account/bots", {"userid": bot.name})) == Code.NAME_TAKEN


def test_own_data_have_the_bots_without_secrets(api, owner, bot):
    files = {one.name: one.content.decode() for one in own_files(api.parts, owner.account)}
    assert bot.name in files["bots.json"]
    assert bot.name in files["account.json"]
    assert bot.token not in "".join(files.values())
    assert owner.name in next(own_files(api.parts, bot.account)).content.decode()


# where programs read


def test_a_match_with_a_bot_is_in_its_lines_its_feed_and_its_game_text(api, guest, bot):
    board = start(guest, bot).json()["board"]
    assert bot.give(board, {"do": "accept"}).is_success
    assert guest.give(board, {"do": "resign"}).is_success

    def lines() -> list[str]:
        return api.http.get(f"/api/players/{bot.name}/matches.ndjson").text.splitlines()

    until(lambda: len(lines()) == 1)
    (line,) = map(json.loads, lines())
    assert {guest.name, bot.name} <= set(line["players"])
    api.caught_up()
    found = feedparser.parse(api.http.get(f"/players/{bot.name}/feed?lang=en").content)
    assert bot.name in found.entries[0].title
    text = read_game_text(api.http.get(f"/api/matches/{board}/game.txt").content)
    assert text.headers.players == (guest.name, bot.name)


def test_a_bots_token_opens_nothing_of_an_account(bot):
    site = "https://example.org"
    hook = {"address": site, "topics": ["turn"], "label": "x"}
    program = {"name": "x", "site": site, "redirect_uris": [f"{site}/back"]}
    for path, body in (
        ("webhooks", hook),
        ("account/calendar", {}),
        ("account/bots", {"userid": "bot-of-a-bot"}),
        ("apps", program),
    ):
        assert why(bot.post(f"/api/{path}", body)).startswith("missing-scope: "), path


def test_a_game_that_is_off_is_off_for_bots_too(api, guest, bot):
    switch_games(api.parts, off=["goliath"], on=[], by=TERMINAL)
    try:
        assert why(start(guest, bot, game="goliath")).startswith("game-off: ")
        assert start(guest, bot).is_success
    finally:
        switch_games(api.parts, off=[], on=["goliath"], by=TERMINAL)
