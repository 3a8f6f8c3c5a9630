"""Accounts, as their owners type about them: made, changed, listed, left."""

from collections.abc import Iterator

import fakeredis
import pytest
from msgspec.structs import replace

from domain.errors import Code
from infra.audit.stored_match import check
from infra.people.accounts import Accounts, Profile
from infra.people.accounts.code_requests import CODES_A_DAY
from infra.people.rate_limits import CommandRateLimit
from services.app.accounts import authenticate
from tests.fakes.app import CHEAP, FakeApp, Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def accepted(terminal: Terminal, line: str) -> str:
    answer = terminal.do(line)
    assert answer.code == "", answer
    return answer.sentence


def profile(terminal: Terminal, name: str) -> Profile:
    found = terminal.app.accounts.record_of(terminal.app.accounts.id_of(name))
    assert found is not None
    return found


def addresses(terminal: Terminal, name: str) -> list[str]:
    return [one.address for one in profile(terminal, name).addresses]


CODES = (
    "; if the server sends mail, each new address will get a code: reply to it to get mail there"
)

# signing up


def test_a_sign_up_for_whose_mailbox_no_code_is_sent_says_when_to_ask_again(terminal):
    for n in range(CODES_A_DAY):
        line = f"signup fan{n} tern-5-lamps victim+{n}@example.org"
        assert "each new address will get a code" in terminal.do(line).sentence
    answer = terminal.do("signup fan9 tern-5-lamps Victim@example.org")
    assert answer.code == ""
    assert answer.sentence == (
        "welcome, fan9; `help` lists what you can do; no code was sent to your address, because too "
        "many were requested today; add the address again in 24 hours"
    )
    assert terminal.app.accounts.id_of("fan9")
    terminal.do("set fan9 tern-5-lamps language de")
    said = terminal.do("add fan9 tern-5-lamps v.ictim@example.org").sentence
    assert said.startswith("fan9 hat jetzt 2 Mailadressen; an die Adresse ging kein Code, weil")


def test_an_account_is_made_with_the_addresses_that_follow_its_password(terminal):
    line = "signup Dora marco-polo dora@example.org Dora@Example.NET"
    assert accepted(terminal, line) == f"welcome, dora; `help` lists what you can do{CODES}"
    assert addresses(terminal, "dora") == ["dora@example.org", "Dora@Example.NET"]
    assert accepted(terminal, "signoff dora marco-polo").startswith("dora won't get any more mail")


def test_a_password_with_blanks_stands_in_quotation_marks(terminal):
    accepted(terminal, 'signup dora "correct horse battery"')
    line = "change password dora \u201ccorrect horse battery\u201d \u201ea white rabbit\u201d"
    accepted(terminal, line)
    assert terminal.do('messages dora "a wrong rabbit"').code == Code.WRONG_PASSWORD
    assert terminal.do('message dora "a white rabbit" bob a white rabbit').code == Code.BAD_REQUEST
    accepted(terminal, 'pow2 challenge dora bob --password="a white rabbit"')
    assert authenticate(terminal.app, "dora", "a white rabbit")


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("signup d marco-polo", Code.BAD_NAME, "'d' isn't a userid"),
        ("signup all marco-polo", Code.BAD_NAME, "'all' is reserved for the server or one of its"),
        ("signup dora 12345", Code.BAD_PASSWORD, "10 to 128 characters, not 5"),
        (f"signup dora {'x' * 129}", Code.BAD_PASSWORD, "10 to 128 characters, not 129"),
        (
            "signup dora marco\u200bpolo",
            Code.BAD_PASSWORD,
            "can't contain tabs, line breaks or other",
        ),
        ("signup dora dora@b.org", Code.BAD_PASSWORD, "there is an e-mail address where the"),
        (
            "signup marco-polo dora@b.org a@b.org",
            Code.BAD_PASSWORD,
            "the form is `signup userid pa",
        ),
        ("signup Alice marco-polo", Code.NAME_TAKEN, "the userid 'alice' is taken"),
        (
            "signup dora marco-polo dora@here",
            Code.BAD_ADDRESS,
            "'dora@here' isn't a plain e-mail addr",
        ),
        (
            "signup dora marco-polo a@b.org A@b.org a@B.org",
            Code.BAD_ADDRESS,
            "'a@B.org' is listed tw",
        ),
        (
            "signup dora marco-polo " + " ".join(f"{n}@b.org" for n in range(6)),
            Code.BAD_ADDRESS,
            "at most 5 e-mail addresses, not 6",
        ),
    ],
)
def test_a_signup_that_breaks_a_rule_makes_no_account(terminal, line, code, said):
    answer = terminal.do(line)
    assert (answer.code, said in answer.sentence) == (code, True), answer
    assert terminal.do("list").page == "alice, bob and carol"


# changing


def test_addresses_are_added_and_replaced_and_only_counted_in_the_answer(terminal):
    assert (
        accepted(terminal, "add alice mad-hatter a@b.org")
        == f"alice now has 1 e-mail address{CODES}"
    )
    said = accepted(terminal, "add ALICE mad-hatter a@b.org b@b.org")
    assert said == f"alice now has 2 e-mail addresses{CODES}"
    assert addresses(terminal, "alice") == ["a@b.org", "b@b.org"]
    said = accepted(terminal, "change address Alice mad-hatter c@b.org")
    assert said == f"alice now has 1 e-mail address{CODES}"
    assert addresses(terminal, "alice") == ["c@b.org"]
    said = accepted(terminal, "change address alice mad-hatter")
    assert said == "alice now has no e-mail address"
    assert addresses(terminal, "alice") == []


def test_an_account_has_five_addresses_at_most_however_they_came(terminal):
    accepted(terminal, "add alice mad-hatter 1@b.org 2@b.org 3@b.org")
    assert terminal.do("add alice mad-hatter 4@b.org 5@b.org 6@b.org").code == Code.BAD_ADDRESS
    assert len(addresses(terminal, "alice")) == 3


def test_a_changed_password_opens_and_the_old_one_does_not(terminal):
    board = terminal.challenge()
    said = accepted(terminal, "change password ALICE mad-hatter looking-glass")
    assert said == (
        "the password of alice has been changed; the account is logged out everywhere, and its tokens no longer work"
    )
    assert terminal.move(board, "alice", "m13-j7").code == Code.WRONG_PASSWORD
    assert accepted(terminal, f"pow2 move {board} alice looking-glass m13-j7")


def test_a_new_password_must_be_one(terminal):
    answer = terminal.do("change password alice mad-hatter short")
    assert answer.code == Code.BAD_PASSWORD
    assert terminal.do("messages alice mad-hatter").code == ""


def test_the_language_of_help_is_chosen_with_and_without_a_game(terminal):
    alice = terminal.app.accounts.id_of("alice")
    german = terminal.do("help line --lang=de")
    for line in ("set ALICE mad-hatter language DE", "pow2 set alice mad-hatter Language de"):
        assert accepted(terminal, line) == "alice liest ab jetzt alles auf Deutsch, auch Mails"
        assert terminal.language.do("help line", reader=alice) == german
        said = accepted(terminal, "set alice mad-hatter LANGUAGE en")
        assert said == "from now on alice reads and gets mail in English"
        assert terminal.language.do("help line", reader=alice) != german


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("move", "from now on alice gets a mail at once whenever something happens"),
        ("DAILY", "from now on alice gets one mail a day, and a reminder when your time runs out"),
        ("none", "from now on alice gets no mail, not even reminders"),
    ],
)
@pytest.mark.parametrize("game", ["", "pow2 "])
def test_it_is_chosen_when_mail_is_sent(terminal, game, when, said):
    assert accepted(terminal, f"{game}set alice mad-hatter notify {when}") == said
    assert profile(terminal, "alice").notify == when.lower()


def test_signoff_stops_all_mail_until_notify_or_an_address_starts_it_again(terminal):
    for again in (
        "set alice mad-hatter notify move",
        "add alice mad-hatter a@b.org",
        "change address alice mad-hatter",
    ):
        assert accepted(terminal, "signoff Alice mad-hatter") == (
            "alice won't get any more mail; `set alice password notify move` starts it again, "
            "`delete alice password` erases the account"
        )
        assert profile(terminal, "alice").signed_off
        accepted(terminal, again)
        assert not profile(terminal, "alice").signed_off


# refusals


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("set alice mad-hatter notify never", Code.BAD_OPTION, "'never' isn't a choice for mail"),
        ("set alice mad-hatter language eo", Code.BAD_OPTION, "the languages are en, de"),
        (
            "pow2 set alice mad-hatter tiny",
            Code.BAD_OPTION,
            "no display 'tiny'; the displays are la",
        ),
        ("add alice mad-hatter", Code.USAGE, "the form is `add userid password ADDRESS ...`"),
        ("set alice mad-hatter notify", Code.USAGE, "the form is `set userid password "),
        ("pow2 set alice mad-hatter", Code.USAGE, "the form is `pow2 set userid password "),
        ("add alice mad-hatter a@b", Code.BAD_ADDRESS, "'a@b' isn't a plain e-mail address"),
        (
            "change address alice mad-hatter a@b",
            Code.BAD_ADDRESS,
            "'a@b' isn't a plain e-mail addr",
        ),
        ("pow2 showas alice mad-hatter 1 --size=9", Code.UNKNOWN_OPTION, "only --display=NAME"),
        ("pow2 showas alice mad-hatter 9", Code.UNKNOWN_BOARD, "there is no match 9"),
    ],
)
def test_what_can_not_be_set_is_refused_and_changes_nothing(terminal, line, code, said):
    before = profile(terminal, "alice")
    answer = terminal.do(line)
    assert (answer.code, said in answer.sentence) == (code, True), answer
    assert profile(terminal, "alice") == before


OWN = [
    "add {} a@b.org",
    "change address {}",
    "change password {} marco-polo",
    "set {} language de",
    "set {} notify none",
    "pow2 set {} small",
    "signoff {}",
    "delete {}",
    "pow2 showas {} 1",
    "pow2 previewas {} 1 m13-j7",
    "messages {}",
]


@pytest.mark.parametrize("line", OWN)
def test_only_the_owner_of_an_account_speaks_for_it(terminal, line):
    terminal.challenge()
    before = profile(terminal, "alice")
    assert terminal.do(line.format("alice guessing")).code == Code.WRONG_PASSWORD
    assert terminal.do(line.format("zoe mad-hatter")).code == Code.UNKNOWN_USER
    assert profile(terminal, "alice") == before


@pytest.mark.parametrize("line", OWN)
def test_after_ten_wrong_passwords_not_even_the_right_one_is_heard(terminal, line):
    for _ in range(10):
        assert terminal.do(line.format("alice guessing")).code == Code.WRONG_PASSWORD
    answer = terminal.do(line.format("Alice mad-hatter"))
    assert answer.code == Code.TOO_MANY_ATTEMPTS
    assert answer.sentence.startswith("too many wrong passwords for 'Alice'; try again in ")


PACED = [line for line in OWN if not line.startswith("delete")]


@pytest.mark.parametrize("line", PACED)
def test_whoever_gives_too_many_commands_in_a_minute_is_asked_to_wait(terminal, line):
    terminal.challenge()
    terminal.app.pace = CommandRateLimit(1)
    before = profile(terminal, "alice")
    assert terminal.do("messages alice mad-hatter").code == ""
    answer = terminal.do(line.format("alice mad-hatter"))
    assert answer.code == Code.TOO_FAST
    assert profile(terminal, "alice") == before


class Meddled(fakeredis.FakeRedis):
    """A client that, once, does something before it runs scripts, which it does in pipelines."""

    meddle = None

    def pipeline(self, *args, **options):
        if self.meddle:
            meddle, self.meddle = self.meddle, None
            meddle()
        return super().pipeline(*args, **options)


@pytest.mark.parametrize("line", ["signoff {}", "set {} notify none", "pow2 set {} small"])
def test_of_two_changes_at_one_moment_the_later_is_to_be_tried_again(terminal, line):
    app = terminal.app
    whole, client = app.accounts, Meddled(connection_pool=app.client.connection_pool)
    app.accounts = Accounts(client, CHEAP)
    app.accounts.verify("alice", "mad-hatter")  # so that no script is run to count a login
    alice = whole.id_of("alice")
    client.meddle = lambda: whole.change_of(alice, lambda one: replace(one, language="de"))
    answer = terminal.do(line.format("alice mad-hatter"))
    assert answer.code == Code.BUSY
    said = "the account was being changed elsewhere at the same moment; try again"
    assert answer.sentence == said  # in the language of the moment when the account was proven
    assert profile(terminal, "alice").language == "de"
    assert terminal.do(line.format("alice mad-hatter")).code == ""


# leaving


def test_who_is_deleted_is_a_former_player_of_matches_that_still_hold(terminal):
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-j7")
    said = accepted(terminal, "delete Alice mad-hatter")
    assert said.startswith("the account and all its personal data have been erased")
    shown = terminal.do(f"pow2 show {board}").page
    assert "players: Light a former player, Dark bob" in shown
    assert "alice" not in shown
    answer = terminal.move(board, "bob", "a13-d7")
    assert answer.sentence.endswith("it is Light's turn (a former player)")
    assert "holds" in check(terminal.app.store, board)


@pytest.mark.parametrize("line", [*OWN, "pow2 move 1 {} m13-j7"])
def test_the_password_of_a_deleted_account_opens_nothing_any_more(terminal, line):
    terminal.challenge()
    accepted(terminal, "delete alice mad-hatter")
    assert terminal.do(line.format("alice mad-hatter")).code == Code.UNKNOWN_USER


def a_year_later(terminal: Terminal) -> None:
    """The userids of deleted accounts have rested."""
    terminal.app.client.delete(*terminal.app.client.keys("{l:*}"))


def test_the_userid_of_who_was_deleted_is_free_after_a_year_and_brings_nothing_back(terminal):
    board = terminal.challenge()
    accepted(terminal, "pow2 set alice mad-hatter small")
    accepted(terminal, "add alice mad-hatter a@b.org")
    accepted(terminal, "delete alice mad-hatter")
    assert terminal.do("list").page == "bob and carol"
    a_year_later(terminal)
    accepted(terminal, "signup alice looking-glass")
    assert addresses(terminal, "alice") == []
    assert profile(terminal, "alice").displays == ()
    assert terminal.do("messages alice mad-hatter").code == Code.WRONG_PASSWORD
    answer = terminal.do(f"pow2 move {board} alice looking-glass m13-j7")
    assert answer.code == Code.NOT_A_PLAYER


def test_the_letters_of_who_is_deleted_are_gone(terminal):
    board = terminal.challenge()
    accepted(terminal, "message alice mad-hatter bob a secret of alice")
    accepted(terminal, "message bob yes-we-can alice,carol a word of bob")
    accepted(terminal, f"pow2 chat {board} alice mad-hatter said by alice")
    accepted(terminal, f"pow2 chat {board} bob yes-we-can said by bob")
    accepted(terminal, "delete alice mad-hatter")
    assert terminal.do("messages bob yes-we-can").page == "nobody has written to you"
    assert "a word of bob" in terminal.do("messages carol sing-along").page
    chat = terminal.do(f"pow2 chat {board} bob yes-we-can").page
    assert chat.endswith("bob: said by bob")
    assert "alice" not in chat
    a_year_later(terminal)
    accepted(terminal, "signup alice looking-glass")
    assert terminal.do("messages alice looking-glass").page == "nobody has written to you"


def test_nothing_in_the_store_leads_to_who_was_deleted(terminal):
    board = terminal.challenge()
    accepted(terminal, "signup Eleanor aquitaine-2 eleanor@example.org")
    accepted(terminal, "message eleanor aquitaine-2 bob from eleanor")
    accepted(terminal, "message bob yes-we-can eleanor hello")
    accepted(terminal, "pow2 challenge eleanor bob")
    accepted(terminal, "pow2 submit 2 eleanor aquitaine-2 m13-j7")
    accepted(terminal, "delete eleanor aquitaine-2")
    client = terminal.app.client
    kept = [key + (client.dump(key) or b"") for key in client.scan_iter()]
    assert kept
    assert not [data for data in kept if b"eleanor" in data.lower()]
    store = terminal.app.store
    assert not [data for data in store.events(board + 1) if b"eleanor" in data]


# listing


def test_the_players_are_listed_in_order(terminal):
    assert terminal.do("list").page == "alice, bob and carol"
    accepted(terminal, "signup Amber marco-polo")
    assert terminal.do("LIST").page == "alice, amber, bob and carol"


def test_where_nobody_has_signed_up_the_list_says_so(terminal):
    for line in ("delete alice mad-hatter", "delete bob yes-we-can", "delete carol sing-along"):
        accepted(terminal, line)
    assert terminal.do("list").page == "nobody has signed up yet"


@pytest.mark.parametrize(("many", "more"), [(1000, False), (1001, True)])
def test_of_a_thousand_players_and_more_a_thousand_are_listed(terminal, many, more):
    for number in range(many - 3):  # and alice, bob, carol
        terminal.app.accounts.signup(f"player{number:04}", "marco-polo")
    page = terminal.do("list").page
    assert len(page.replace(" and ", ", ").split(", ")) == 1000
    assert page.endswith(" (only the first 1,000)") == more


def test_an_address_is_proven_by_the_code_that_was_mailed_there(terminal):
    accepted(terminal, "add alice mad-hatter a@b.org")
    refused = terminal.do("verify alice mad-hatter nonsense")
    assert refused.code == Code.BAD_ADDRESS
    assert not profile(terminal, "alice").addresses[0].verified
    assert terminal.do("verify alice guessing nonsense").code == Code.WRONG_PASSWORD
