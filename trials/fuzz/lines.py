"""Command lines of every kind: valid, played, mutated, shuffled, odd, long, many at once."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from domain.rules import game_keys
from services.language.parser import CommandLine, UnparsedLine, parse

PASSWORDS: Final = {"alice": "w0nder!land", "bob": "6uilder.two", "carol": "sing/ing.5"}
"""None of them can be a userid."""

NEW: Final = "looking/glass!"
SECRETS: Final = (*PASSWORDS.values(), NEW)
_PAGE: Final = Path(__file__).parents[2].joinpath("docs", "commands.md").read_text()

_OURS: Final = {
    "mad-hatter": PASSWORDS["alice"],
    "yes-we-can": PASSWORDS["bob"],
    "sing-along": PASSWORDS["carol"],
    "looking-glass": NEW,
}


def _examples() -> list[str]:
    blocks = re.findall(r"```text\n(.*?)\n```", _PAGE, re.DOTALL)
    lines = [
        line
        for block in blocks
        for line in ([block] if block.startswith("multiple") else block.splitlines())
    ]
    return [re.sub("|".join(_OURS), lambda found: _OURS[found[0]], line) for line in lines]


EXAMPLES: Final = tuple(_examples())
"""Those of docs/commands.md, with these passwords."""

MATCHES: Final = (
    "pow2 challenge alice bob -fast", "pow2 challenge bob alice",
    "pow2 challenge carol alice -free", "powerdrain challenge alice bob",
    "halves challenge alice bob carol -manual_start", "halves challenge bob alice -tiles_each=4",
    "goliath challenge alice bob", "line challenge alice bob",
    "powerdrain challenge bob alice -o1 -p", "torere challenge alice carol",
    "jump challenge alice", "one challenge bob", "powerdrain challenge alice carol -o2",
    "duo challenge carol", "powerdrain challenge carol bob", "powerdrain challenge alice bob",
    "powerdrain challenge alice bob --gather",
)  # fmt: skip
"""What is played, by boards from 1 on. Chance draws in each of four shards: the first time it takes long."""

_BOARDS: Final = {
    game: [board for board, line in enumerate(MATCHES, 1) if line.startswith(f"{game} ")]
    for game in game_keys()
}

_RARE: Final = ("delete ", "change password ")
"""What leaves nothing to do for the lines after it."""

_WORDS: Final = sorted(
    {word for line in EXAMPLES for word in line.split()}
    | {"#", "##1", "-", "--", "--display=", "--entropy=x", "--gather", "--days=0", "-1", "0", "-p"}
    | {str(2**63), str(10**40), "1#" + "9" * 30, "all", "resume", "propose", "abort", "pause"}
    | {"{u:alice}", "%s%n", "a1" * 100, "a1-b4:" + ",".join(["a1"] * 60), "\n", "\r\n", "\t"}
)

_ODD: Final = (
    "\0\x07\x08\x1b\x1c\x7f\x85\u00a0\u00ad\u0130\u0131\u017f\u00df\u0301\u0661\u00b2\u1680\u180e"
    "\u200b\u200d\u202e\u2028\u2029\u2066\u212a\u3000\ufb00\ufeff\uff11\ud800\udfff\U0001f3b2\U0010ffff"
)

_SIZES: Final = (500, 511, 512, 513, 2_000, 2_001, 2_599, 2_600, 2_601, 60_000, 65_536, 65_537)

_HEADS: Final = (
    "help ", "list ", "pow2 show ", "pow2 games ", "pow2 history ", "pow2 ratings ", "all show ",
    "pow2 challenge ", "halves challenge alice bob ", "jump challenge alice -solitaire=",
    "jump scores ", "pow2 preview 1 ", "one preview 12 ", "halves preview 5 ", "signup dora ",
    "pow2 move 1 alice w0nder!land ", "pow2 queue 2 bob 6uilder.two ", "vacation alice w0nder!land ",
    "jump move 11 alice w0nder!land ", "pow2 showas alice w0nder!land ",
    "powerdrain move 4 alice w0nder!land accept ", "add alice w0nder!land ", "signup dora marco-polo ",
    "message alice w0nder!land ", "message alice w0nder!land bob ", "message alice w0nder!land bob\n",
    "broadcast carol sing/ing.5 ", "pow2 chat 1 bob 6uilder.two ", "pow2 chat 1 bob 6uilder.two\n",
    "multiple\n", "", "\n", " ",
)  # fmt: skip

_TAILS: Final = (
    "x", "1 ", "1#0 ", "1#7 2 ", "alice ", "bob ", "alice,", "bob alice ", "-x ", "-fast ", "- ",
    "--display=small ", "--display=large ", "--lang=de ", "all ", "next ", "\n", " ", "\t ", "\n \t",
    "\r\n", "undo ", "m13-j7 ", "m13-j7 a13-d7 j7-m13 d7-a13 ", "a1,", "a1-", "a5 -a5 ", "#", "#1",
    "9", "a.", "a-", "a@", "a@b.", "a@b.org ", "@", "=", "--entropy=x ", "\\", "'", '"', "\u3000",
    "\u212a", "\U0001f3b2", "help\n", "games\n", "list\n", "pow2 show 1\n", "multiple\n", "a\n",
)  # fmt: skip

Playing = Callable[[random.Random], str]
"""Gives a line with a move that is legal now."""


def valid(chance: random.Random) -> str:
    """An example, about any match and by any player."""
    line = chance.choice(EXAMPLES)
    if line.startswith(_RARE) and chance.random() < 0.99:
        return valid(chance)
    players = [*PASSWORDS]
    chance.shuffle(players)
    others = dict(zip(PASSWORDS, players, strict=True))
    swap = others | {PASSWORDS[one]: PASSWORDS[other] for one, other in others.items()}
    line = re.sub(r"[^\s,]+", lambda found: swap.get(found[0], found[0]), line)
    boards = _BOARDS.get(line.split(" ")[0]) or [0]
    board = str(chance.choice(boards) if chance.random() < 0.9 else chance.randint(1, 20))
    return re.sub(r"(?<=\s)[0-9]+(?=#|\s|$)", board, line, count=1)


def mutated(chance: random.Random) -> str:
    """A valid line with some of its signs changed, lost, doubled or in another's place."""
    letters = list(valid(chance))
    for _ in range(chance.choice((1, 1, 1, 2, 4, 9))):
        at = chance.randrange(len(letters) + 1)
        match chance.randrange(4):
            case 0:
                letters.insert(at, chance.choice([chr(chance.randrange(128)), chance.choice(_ODD)]))
            case 1:
                del letters[at : at + 1]
            case 2:
                letters[at:at] = letters[at : at + chance.randint(1, 9)]
            case _:
                letters[at : at + 2] = reversed(letters[at : at + 2])
    return "".join(letters)


def reworded(chance: random.Random) -> str:
    """A valid line with words lost, doubled, changed or in another order."""
    words = valid(chance).split(" ")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(words) + 1)
        match chance.randrange(4):
            case 0:
                words.insert(at, chance.choice(_WORDS))
            case 1:
                del words[at : at + 1]
            case 2:
                words[at : at + 1] = words[at : at + 1] * 2
            case _:
                chance.shuffle(words)
    return " ".join(words)


def shuffled(chance: random.Random) -> str:
    """Words of commands and odd ones in any order."""
    count = chance.randrange(12)
    line = chance.choice(("", *game_keys())) + " "
    return line + chance.choice(" \t\n ").join(chance.choices(_WORDS, k=count))


def noise(chance: random.Random) -> str:
    top = chance.choice((0x80, 0x3000, 0x110000))
    signs = [chr(chance.randrange(top)) for _ in range(chance.randint(0, 60))]
    return "".join(signs + chance.choices(_ODD, k=chance.randint(0, 9)))


def long(chance: random.Random) -> str:
    """A line at, around or above a limit, of one thing again and again."""
    size = chance.choice(_SIZES if chance.random() < 0.2 else _SIZES[:9])
    head, tail = chance.choice(_HEADS), chance.choice(_TAILS)
    end = chance.choice(("", "", "x", "!", " next", "#0", "\ud800"))
    return (head + tail * size)[: size - len(end)] + end


KINDS: Final[tuple[Playing, ...]] = (
    *(valid, valid, valid, mutated, mutated, mutated),
    *(reworded, reworded, reworded, shuffled, noise),
)


def lines(seed: int, play: Playing) -> Iterator[tuple[str, str]]:
    """Return lines without end, each with its kind; some are long, some hold many others."""
    chance = random.Random(seed)
    while True:
        make = _kind(chance, play)
        line = make(chance)
        if make is not long and chance.random() < 0.01:
            make, line = several, several(chance, play)
        if not _betrays(line):
            yield make.__name__, line


def _kind(chance: random.Random, play: Playing) -> Callable[..., str]:
    number = chance.random()
    if number < 0.02:
        return long
    return play if number < 0.2 else chance.choice(KINDS)


def several(chance: random.Random, play: Playing) -> str:
    count = chance.choice((1, 2, 3, 5, 10, 49, 50, 51))
    return "\n".join(["multiple", *[_kind(chance, play)(chance) for _ in range(count)]])


def _betrays(text: str) -> bool:
    """Whether players tell each other a password: then it may be read in their letters."""
    if not any(secret in text for secret in SECRETS):
        return False
    parts = text.split("\n") if text.lower().startswith("multiple") else [text]
    for part in (*parts, text):
        read = read_line(part)
        if read is None or read.form == "multiple":
            continue
        told = read.get("text") + read.get("body")
        if any(secret in told for secret in SECRETS):
            return True
    return False


def read_line(text: str) -> CommandLine | None:
    """Read a line as the language does; None where it has no form."""
    try:
        return parse(text.replace("\r\n", "\n").strip())
    except UnparsedLine:
        return None
