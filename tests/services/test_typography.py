"""What phones make of typed text is read as it was meant, in every way in, and free text is not touched."""

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

import pytest

from domain.rules import all_rules, latest_rules
from services.app.move_text import as_flag, as_move, as_plain
from services.language.parser import parse
from tests.fakes.app import FakeApp, Terminal
from tests.helpers.api import Api

T = TypeVar("T")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("m13\u2013j7", "m13-j7"),
        ("m13\u2014j7", "m13-j7"),
        ("m13\u2212j7", "m13-j7"),
        ("m13\u2011j7", "m13-j7"),
        ("\uff4d\uff11\uff13\uff0d\uff4a\uff17", "m13-j7"),
        ("m\u0661\u0663-j\u0667", "m13-j7"),
        ("m13-j7.", "m13-j7"),
        ("\u201em13-j7\u201c", "m13-j7"),
        ('"m13-j7."', "m13-j7"),
        ("\u00abm13\u2013j7\u00bb.", "m13-j7"),
        ("m13-j7#\uff10", "m13-j7#0"),
        (".", "."),
        ('""', '""'),
        ("3...", "3"),
    ],
)
def test_a_move_is_read_as_it_was_meant(typed, meant):
    assert as_move(typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("\u2014days=3", "--days=3"),
        ("\u2013days=3", "--days=3"),
        ("\u2014days=\uff13", "--days=3"),
        ("--days=3", "--days=3"),
        ("\u2010size=7", "-size=7"),
        ("\u2212\u2212days=3", "--days=3"),
        ("\u2014entropy=a\u2013b\uff11", "--entropy=a\u2013b\uff11"),
        ("\u2014password=a\u2013b", "--password=a\u2013b"),
    ],
)
def test_a_flag_is_read_as_it_was_meant(typed, meant):
    assert as_flag(typed) == meant


class Shuffling:
    """Chance that is the same each time."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def below(self, purpose: str, limit: int) -> int:
        del purpose
        return self._chance.randrange(limit)

    def shuffled(self, purpose: str, items: Sequence[T]) -> list[T]:
        del purpose
        return self._chance.sample(list(items), len(items))


@pytest.mark.parametrize("key", sorted({rules.key for rules in all_rules()}))
def test_no_move_of_any_game_is_changed(key):
    rules, chance = latest_rules(key), random.Random(7)
    players = next(n for n in range(1, 5) if n in rules.players)
    options = rules.read_options([])
    drawn = rules.needs_draw(options, players)
    setup = rules.draw(options, players, Shuffling(chance)) if drawn else None
    position = rules.start(options, players, setup)
    tried = 0
    for _ in range(30):
        moves = list(rules.legal_moves(position))
        if not moves or rules.outcome(position) is not None:
            break
        assert [as_move(text) for text in moves] == moves
        tried += len(moves)
        position = rules.play(position, rules.read(chance.choice(moves)))
    assert tried > len(moves)


def test_what_people_write_to_each_other_is_not_changed():
    text = "\u201eGut \u2013 gespielt.\u201c \uff11 - \u2014days=3"
    for line in (
        f"pow2 chat \uff11\uff15 alice pw\u2013d {text}",
        f"message alice pw\u2013d bob {text}",
    ):
        read = parse(line)
        assert read.get("text") == text
        assert read.get("password") == "pw\u2013d"
    assert parse(f"pow2 chat \uff11\uff15 alice pw {text}").get("board") == "15"


def test_boards_and_flags_of_a_line_are_read_as_they_were_meant():
    read = parse("pow2 challenge \u2014days=3 alice bob")
    assert (read.all("flag"), read.all("userid")) == (["--days=3"], ["alice", "bob"])
    assert parse("pow2 show \uff11\uff15").get("board") == "15"
    assert as_plain("caf\u00e9 \u0663") == "caf\u00e9 3"


def test_the_terminal_plays_what_a_phone_wrote(terminal: Terminal):
    board = terminal.challenge()
    shown = "".join(chr(ord(digit) + 0xFEE0) for digit in str(board))
    said = terminal.do(f"pow2 move {shown} alice mad-hatter m13\u2013j7.")
    assert not said.code, said.text


def test_the_interface_plays_what_a_phone_wrote(tmp_path):
    with Api(tmp_path) as api:
        one, other = api.players()
        board = api.match(one, other)
        assert one.move(board, "\u201cm13\u2013j7\u201d").json()["accepted"]
        shown = one.get(f"/api/matches/{board}/events").json()
        assert shown[-1]["body"]["move"] == "m13-j7"
