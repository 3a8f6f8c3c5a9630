import random

import pytest
from fakes.desk import PASSWORDS, FakeDesk, Terminal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import Code
from services.language import Answer

LINES_EACH = 40
EXAMPLES = 500

VALID = [
    "help",
    "help pow2",
    "games",
    "signup dora explorer",
    "change password alice wonderland wonderland",
    "pow2 challenge alice bob -fast",
    "pow2 challenge bob alice -exact -noborder",
    "pow2 move 1 alice wonderland m13-j7",
    "pow2 move 1 bob builder2 a13-d7#1",
    "pow2 move 1 alice wonderland a13-c11:d10,a13",
    "pow2 move 1 alice wonderland propose draw",
    "pow2 move 1 bob builder2 reject",
    "pow2 move 4 bob builder2 accept",
    "pow2 move 5 carol singing5 resign",
    "pow2 resign 3 alice wonderland",
    "pow2 decline 2 bob builder2",
    "pow2 show 1 1#0 2#1 --display=small",
    "pow2 preview 1 m13-j7 a13-d7 j7-m13",
]
WORDS = sorted({word for line in VALID for word in line.split()} | set(PASSWORDS.values()))
ODD = [
    "#",
    "##1",
    "-",
    "--",
    "--display=",
    "-1",
    "0",
    str(2**63),
    str(10**40),
    "1#" + "9" * 30,
    "\0",
    "\x1b[31m",
    "\u202e",
    "\ud83d",
    "\N{KELVIN SIGN}elvin",
    "²",
    "\N{ARABIC-INDIC DIGIT ONE}",
    "ﬀ",
    "İ",
    "m13\N{EN DASH}j7",
    "{u:alice}",
    "%s%n",
    "a1" * 200,
    "a1-b4:" + ",".join(["a1"] * 60),
    "m13-j7:" + ",".join(f"{c}{n}" for c in "abcdefghijklm" for n in range(1, 14))[:400],
]


def mutated(chance: random.Random, line: str) -> str:
    """A valid line, mostly with a few characters changed, dropped, doubled or swapped."""
    letters = list(line)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 4])):
        at = chance.randrange(len(letters) + 1)
        match chance.randrange(4):
            case 0:
                letters.insert(at, chr(chance.choice([chance.randrange(128), 0x2028, 0x1F3B2])))
            case 1:
                del letters[at : at + 1]
            case 2:
                letters[at:at] = letters[at : at + chance.randint(1, 9)]
            case _:
                letters[at : at + 2] = reversed(letters[at : at + 2])
    return "".join(letters)


def words(chance: random.Random) -> str:
    """Words of commands and odd ones, in any order."""
    count = chance.randrange(9)
    return chance.choice(" \t\n ").join(chance.choice(WORDS + ODD) for _ in range(count))


def noise(chance: random.Random) -> str:
    """Anything at all."""
    length = chance.choice([0, 1, 5, 40, 511, 512, 513, 5000])
    return "".join(chr(chance.randrange(0x3000)) for _ in range(length))


def any_line(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.5:
        return mutated(chance, chance.choice(VALID))
    return words(chance) if kind < 0.9 else noise(chance)


@pytest.fixture(scope="module")
def terminal():
    desk = FakeDesk()
    yield Terminal(desk)
    desk.close()


def check(answer: Answer) -> None:
    assert answer.code == "" or answer.code in set(Code)
    assert answer.text
    assert answer.code not in (Code.INTERNAL, Code.UNAVAILABLE)


# the desk is shared by all examples: a match that goes on makes later lines mean more
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**64))
def test_twenty_thousand_lines_are_each_answered(terminal, seed):
    chance = random.Random(seed)
    for _ in range(LINES_EACH):
        check(terminal.do(any_line(chance), chance.choice([None, "key-1", "key-2"])))


@settings(max_examples=500, deadline=None)
@given(line=st.text(max_size=600), key=st.none() | st.text(max_size=20))
def test_any_text_is_answered(terminal, line, key):
    check(terminal.do(line, key))
