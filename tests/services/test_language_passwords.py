"""No password is ever told, kept or logged, however the line is mistyped that it stands in.

Every example of docs/commands.md with a password is typed with telltale passwords: as it stands, with
wrong ones, with a word too few, too many or in another's place, misspelt, about other matches, alone and
among others. Words of fewer than six characters, which no password has, may be repeated, and so may what
is all but a word of the language, what has an @ in the place of a mail address, and what is given for
a userid when an account is made.
"""

import itertools
import logging
import pickle
import traceback
from collections.abc import Iterator
from typing import Any, Self

import fakeredis
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from domain.errors import Code
from infra.people.accounts import AccountRole, Accounts
from infra.people.rate_limits import LoginRateLimit
from services.language import LOCAL, Language
from services.language.parser import join_texts, looks_like_command, parse
from tests.fakes.app import CHEAP, FakeApp
from tests.helpers.command_page import WITH_PASSWORD
from tests.helpers.examples import FULL

SHAPES = {
    "plain": "Wq3.secret-of-{}",
    "like a userid": "Zyxwvu_named-{}",
    "like a board": "17secrets.of.{}",
    "like an option": "-Wq3=secret-of-{}",
    "like a ply": "#0Wq3#secret#{}",
    "in need of quotes": 'it\'s-"{}"\\secret',
    "beyond ASCII": "ключ-к-сердцу-{}",
    "of a phone": "\u201cWq3\u2013secret\u2014of\uff11{}.\u201d",
    "long": "{}" + "Wq3long." * 15,
}

MATCHES = ("_allocated", "_inboxes", "_logs", "_tries", "_matches", "kept")
"""Where the store has what was sent."""

NAMES = ("charlotte", "benjamin")
"""Who plays: their userids are as long as passwords, and may be taken for one."""


class Secrets:
    """Telltale passwords: what is right for each player, what is new, and what is wrong."""

    def __init__(self, kind: str) -> None:
        self.right = [kind.format(sign) for sign in ("R", "B")]
        self.new, self.wrong = kind.format("N"), kind.format("F")

    def told_by(self, text: str) -> bool:
        """Whether a text has any of them, or what is left of one that was cut."""
        return any(
            part.lower() in text.lower()
            for secret in (*self.right, self.new, self.wrong)
            for part in (secret[:12], secret[-12:], ascii(secret)[1:13])
        )


class Office:
    """A desk at which two play a match and a third game is one of chance, and its door."""

    def __init__(self, secrets: Secrets) -> None:
        self.app = FakeApp()
        self.app.accounts = Accounts(
            self.app.client, CHEAP, limit=LoginRateLimit(self.app.client, most=1_000_000)
        )
        self.language = Language(self.app, origin=LOCAL)
        for name, password in zip(NAMES, secrets.right, strict=True):
            self.app.accounts.signup(name, password)
        self.app.accounts.set_role(NAMES[0], AccountRole.ARBITER, held=True)
        for line in (
            "pow2 challenge charlotte benjamin", "halves challenge charlotte benjamin -manual_start",
        ):  # fmt: skip
            assert self.language.do(line).code == ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.app.close()


def typed(example: str, secrets: Secrets) -> str:
    """The example with our players, and their passwords in the places of theirs."""
    ours = {
        "alice": NAMES[0],
        "bob": NAMES[1],
        "carol": NAMES[0],
        "mad-hatter": secrets.right[0],
        "sing-along": secrets.right[0],
        "yes-we-can": secrets.right[1],
        "looking-glass": secrets.new,
    }
    parts = [(*word.rpartition("="),) for word in example.split()]
    return " ".join(f"{before}{mark}{ours.get(last, last)}" for before, mark, last in parts)


def mistyped(line: str, secrets: Secrets) -> Iterator[str]:
    """The line, and what may become of it between head and hand."""
    words = line.split()
    places = range(len(words))
    yield from (line, line.upper().replace(secrets.right[0].upper(), secrets.right[0]))
    for one, other in itertools.permutations((*secrets.right, secrets.wrong, secrets.new), 2):
        yield line.replace(one, other)
    for number in (1, 2):  # words too few
        for out in itertools.combinations(places, number):
            yield " ".join(word for at, word in enumerate(words) if at not in out)
    for at in range(len(words) + 1):  # words too many
        for more in ("wrong", "mistaken", "7", "-x", "--x=y", "all", parse(line).get("password")):
            yield " ".join([*words[:at], more, *words[at:]])
    for one, other in itertools.combinations(places, 2):  # words in each other's place
        swapped = list(words)
        swapped[one], swapped[other] = words[other], words[one]
        yield " ".join(swapped)
    for at in places:  # words misspelt, run together, or another's
        for instead in (words[at][1:], words[at] * 2, words[at][::-1], "mistaken", "9", "2"):
            yield " ".join([*words[:at], instead, *words[at + 1 :]])
        yield " ".join([*words[:at], "".join(words[at : at + 2]), *words[at + 2 :]])
        yield " ".join(words[:at]) + "\n" + " ".join(words[at:])


def some(lines: list[str], example: str, share: int) -> list[str]:
    """One of so many of the lines, from another one on for each example; or all, where there is time."""
    return lines if FULL else lines[WITH_PASSWORD.index(example) % share :: share]


def is_named(line: str, secrets: Secrets) -> bool:
    """Whether a password is given for the userid of a new account: then it is one."""
    words = line.split()
    return words[:1] == ["signup"] and secrets.told_by(" ".join(words[1:2]))


def assert_kept_nowhere(app: FakeApp, secrets: Secrets) -> None:
    """Nothing is in what is stored: what the server has, and the matches."""
    kept = [key + (app.client.dump(key) or b"") for key in app.client.scan_iter()]
    assert len(kept) > 8
    parts = [dict(part) for name, part in vars(app.store).items() if name in MATCHES]
    assert len(parts) == len(MATCHES)
    kept.append(pickle.dumps([parts, app.store.dead_letters]))  # texts are in it as they are
    for password in (*secrets.right, secrets.new, secrets.wrong):
        assert not [data for data in kept if password.encode().lower() in data.lower()]


def assert_not_logged(caplog: pytest.LogCaptureFixture, secrets: Secrets) -> None:
    for record in caplog.records:
        said = [record.getMessage(), repr(record.args), str(record.exc_text)]
        assert not secrets.told_by("\n".join(said)), record


def typings() -> Iterator[Any]:
    """Every example with a password of one shape in turn; in the long run with one more, or with all."""
    for number, example in enumerate(WITH_PASSWORD):
        for turn, name in enumerate(SHAPES):
            in_turn = turn == number % len(SHAPES)
            # the one line in which any number of boards may follow a password
            ambiguous = name == "like a board" and "showas" in example
            if in_turn or ambiguous or FULL or turn == (number + 4) % len(SHAPES):
                marks = () if in_turn or ambiguous else pytest.mark.long
                yield pytest.param(example, SHAPES[name], id=f"{name}-{example}", marks=marks)


@pytest.mark.parametrize(("example", "kind"), list(typings()))
def test_no_password_is_told_kept_or_logged(example, kind, caplog):
    caplog.set_level(logging.DEBUG)
    secrets = Secrets(kind)
    with Office(secrets) as office:
        lines = set(mistyped(typed(example, secrets), secrets))
        lines = some(sorted(line for line in lines if not is_named(line, secrets)), example, 6)
        assert len(lines) > 8
        for line in lines:
            answer = office.language.do(line)
            assert answer.text
            assert not secrets.told_by(f"{answer.code} {answer.text}"), (line, answer)
        single = [line for line in lines if line and "\n" not in line]
        several = single[:: len(single) // 15 + 1]
        answer = office.language.do("\n".join(["multiple", *several]))
        assert f"\n\n{len(join_texts(several, looks_like_command))}: " in answer.page
        assert not secrets.told_by(answer.text)
        assert_kept_nowhere(office.app, secrets)
        assert_not_logged(caplog, secrets)


WRONG_PLACES = (
    # what may be a password is not named
    ("{} charlotte pow2 move", Code.UNKNOWN_COMMAND, "no command of that name; `help`"),
    ("benjamin {} pow2 move", Code.UNKNOWN_COMMAND, "no command of that name; `help`"),
    ("pow2 {} charlotte 1", Code.UNKNOWN_COMMAND, "pow2 has no command of that name; "),
    ("{} challenge charlotte", Code.UNKNOWN_GAME, "no game of that name; the games are "),
    ("help {}", Code.UNKNOWN_GAME, "no game and no command of that name; "),
    ("help signup charlotte {}", "", "no game and no command of that name; "),
    ("messages {} charlotte", Code.UNKNOWN_USER, "there is no user '...'; check the"),
    ("pow2 chat 1 {} Good luck", Code.UNKNOWN_USER, "there is no user '...'; check the"),
    ("pow2 chat {} charlotte Good luck", Code.UNKNOWN_BOARD, "'...' isn't a board number, such"),
    ("add charlotte {0} {0}", Code.BAD_ADDRESS, "the password is in the line twice, so"),
    ("tournament new charlotte {0} pow2 Cup {0}", Code.USAGE, "the password is in the line twice, so"),
    ("pow2 move 1 charlotte {0} {0} a1", Code.UNREADABLE_MOVE, "the form is `pow2 move BOARD"),
    ("signup emilia bronte-bell {}", Code.BAD_ADDRESS, "'...' isn't a plain e-mail address; write it"),
    # and what can't be one is
    ("chalenge charlotte benjamin", Code.UNKNOWN_COMMAND, "'chalenge'"),
    ("pow2 confrim 1 charlotte", Code.UNKNOWN_COMMAND, "'confrim'"),
    ("xyzzy", Code.UNKNOWN_COMMAND, "'xyzzy'"),
    ("halvse challenge charlotte benjamin", Code.UNKNOWN_GAME, "'halvse'"),
    ("help powerdrian", Code.UNKNOWN_GAME, "'powerdrian'"),
    ("messages zoe mad-hatter", Code.UNKNOWN_USER, "'zoe'"),
    ("pow2 show one", Code.UNKNOWN_USER, "'one'"),
    ("signup emilia haworth-22 emilia@bronte", Code.BAD_ADDRESS, "'emilia@bronte'"),
)  # fmt: skip


def test_a_password_in_a_wrong_place_is_answered_with_the_rule_and_not_with_itself():
    secrets = Secrets("Wq3.secret-of-{}")
    with Office(secrets) as office:
        for line, code, sentence in WRONG_PLACES:
            answer = office.language.do(line.format(secrets.right[0]))
            assert answer.code == code, line
            assert sentence in answer.sentence


class Unplugged(fakeredis.FakeRedis):
    """A client that lost its connection, and whose errors tell all that was to be sent."""

    def execute_command(self, *args, **_):
        raise RedisConnectionError(f"Command # 1 {args} caused error: no connection")

    def pipeline(self, *_, **__):
        raise RedisConnectionError("no connection")


def unplugged(app: FakeApp) -> None:
    """Let the connection break that every part of the desk shares."""
    app.client.__class__ = Unplugged


def spoilt(app: FakeApp) -> None:
    """Let the server hold something else under every key than it should."""
    for key in [*app.client.scan_iter()]:
        if app.client.type(key) == b"string":
            app.client.delete(key)
            app.client.lpush(key, "spoilt")
        else:
            app.client.set(key, "spoilt")


@pytest.mark.parametrize("fail", [unplugged, pytest.param(spoilt, marks=pytest.mark.long)])
@pytest.mark.parametrize("example", WITH_PASSWORD)
def test_no_password_is_told_by_an_error(example, fail, caplog):
    caplog.set_level(logging.DEBUG)
    secrets = Secrets("Wq3.secret-of-{}")
    with Office(secrets) as office:
        fail(office.app)
        lines = some([*mistyped(typed(example, secrets), secrets)], example, 12)
        failures = [told for line in lines if (told := failure(office, line, secrets))]
        assert failures
        assert not [told for told in failures if secrets.told_by(told)]
        assert_not_logged(caplog, secrets)


def failure(office: Office, line: str, secrets: Secrets) -> str:
    """What a log would show of the error that a line leads to; nothing where it is answered."""
    try:
        answer = office.language.do(line)
    except RedisError as error:
        return "".join(traceback.format_exception(error))
    assert not secrets.told_by(answer.text)
    return ""
