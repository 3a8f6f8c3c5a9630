"""Get a Jump On: both parts and their scores, every sentence, and a slow second opinion."""

import json
from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES
from domain.errors import Code
from domain.games.jump.jumps import chains
from tests.games import playing
from tests.games.jump import reference

JUMP = playing.Game("jump", players=1)
RULES, start, played, legal = JUMP.rules, JUMP.start, JUMP.played, JUMP.legal
LARGE = (
    "-solitaire=a1,a7,a9,b4,c3,c6,c9,d2,d10,e1,e5,e11,f3,f8,g4,g9,h6,h11,i1,i5,i13,j4,j10,k6,"
    "k9,l4,m5,m13"
)
SMALL = "-solitaire=c3,d4,e5,e9,g4"
FAMILIES = [(), (LARGE,), (SMALL,)]
BEST = json.loads((Path(__file__).parents[1] / "puzzles-best.json").read_text())
WHOLE = next(best["moves"].split() for best in BEST if best["rules"] == "jump/1")
"""All 32 stones, then part two down to one."""
EACH_STEP = "each step sets a new stone until all 32 are set, and the jumper at"
TAKING = start("-solitaire=a1,a5,a9,e1,g1")
NO_MORE = "no more stones are set; now a stone jumps and removes others, written a1-a7"


def split(at):
    """Return the stones and the jumper as the reference has them."""
    shown = JUMP.board(at)
    return set(shown), next((name for name, letter in shown.items() if letter == "O"), None)


class TestJump(playing.GameTests):
    key = "jump"
    wrong_players = 2, "is solved by one, not by 2"
    illegal = (
        (played(""), "c3", "the first stone goes on a corner: a1, a13, m1 or m13"),
        (played(""), "c3:d4",
         "first name the corner on which the first stone is set: a1, a13, m1 or m13"),
        (played(""), "a1-a7",
         "first name the corner on which the first stone is set: a1, a13, m1 or m13"),
        (played("a1"), "m1",
         f"{EACH_STEP} a1 jumps over it; it is written c3:d4"),
        (played("a1 c3:d4"), "c3-e5",
         f"{EACH_STEP} d4 jumps over it; it is written c3:d4"),
        (played("a1 c3:d4"), "c3:a1", "c3 is occupied; a new stone is set on an empty intersection"),
        (played("a1 c3:d4"), "d4:e5", "d4 is occupied; a new stone is set on an empty intersection"),
        (played("a1"), "e5:f6", "e5 is not adjacent to the jumper at a1"),
        (played("a1 e1:g1"), "a5:a7", "a5 is not adjacent to the jumper at g1"),
        (played("a1 c3:d4"), "b4:a5", "the line from d4 ends at b4, so it can't be jumped over"),
        (played("a1"), "c3:e5", "a jump over c3 lands on d4, not on e5"),
        (played("a1"), "c3:d4-m13", "no line leads from d4 over one intersection to m13"),
        (played("a1"), "c3:d4-g1", "there is no stone at e3 to jump over from d4 to g1"),
        (played("a1 e1:g1"), "e3:d4-g1-a1-g1", "g1 is landed on twice in one chain"),
        (played("a1 e1:g1 e3:d4"), "c3:a1-g1-m1",
         "there is no stone at i1 to jump over from g1 to m1"),
        (TAKING, "a1", NO_MORE),
        (TAKING, "c3:d4", NO_MORE),
        (TAKING, "b4-d4", "there is no stone at b4"),
        (TAKING, "a1-e5", "no line leads from a1 over one intersection to e5"),
        (TAKING, "a1-d4", "there is no stone at c3 to jump over from a1 to d4"),
        (TAKING, "a9-a5", "there is no stone at a7 to jump over from a9 to a5"),
        (TAKING, "g1-a1", "a1 is occupied; a jump lands on an empty intersection"),
        (TAKING, "a1-a1", "no line leads from a1 over one intersection to a1"),
        (played("a1 done"), "done", "the match is over: the puzzle has been submitted"),
    )  # fmt: skip
    unreadable = (
        ("", "'' isn't a move"),
        ("  ", "'  ' isn't a move"),
        ("\u212a3", "'\u212a3' isn't a move"),
        ("resign", "'resign' isn't an intersection"),
        ("a01", "'a01' isn't an intersection"),
        ("c3:", "an intersection is missing"),
        (":d4", "an intersection is missing"),
        ("c3:d4-", "an intersection is missing"),
        ("-a1", "an intersection is missing"),
        ("c3:d4:e5", "'c3:d4' isn't an intersection"),
        ("c3-d4:e5", "'c3-d4' isn't an intersection"),
        ("e3-d5", "'d5' isn't an intersection"),
        ("e3,d4", "'e3,d4' isn't an intersection"),
        ("x" * 9000, f"'{'x' * 24}' isn't an intersection"),
    )
    form = "a move is a corner such as a1, a step c3:d4 or c3:d4-g1, a jump a1-a7, or done"


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("-solitaire=a1", "-solitaire has 1 names: -solitaire=a1,a5,... with 2 to 32 names"),
        (f"-solitaire={','.join(NAMES[:33])}",
         "-solitaire has 33 names: -solitaire=a1,a5,... with 2 to 32 names"),
        ("-solitaire=a1,b2", "-solitaire can't name 'b2': -solitaire=a1,a5,... with 2 to 32 names"),
        ("-solitaire=a1,a5,a1", "-solitaire names a1 twice; name it once"),
        ("-solitaire", "'-solitaire' needs names: -solitaire=a1,a5,... with 2 to 32 names"),
    ],
)  # fmt: skip
def test_a_set_that_does_not_fit_is_refused(flag, sentence):
    assert playing.refusal(Code.BAD_OPTION, RULES.read_options, [flag]) == sentence


def reference_chains(at, text):
    """Return all chains over the new stone of a step that end where it does."""
    new, _, chain = text.partition(":")
    first, last = chain.split("-")[0], chain.split("-")[-1]
    stones, jumper = split(at)
    among = stones - {jumper} | {new}
    found, walks = [], [(first,)]
    for walk in walks:
        found += [walk] if walk[-1] == last else []
        walks += [
            (*walk, to)
            for over, to in reference.JUMPS[walk[-1]]
            if over in among and to not in among and to not in walk
        ]
    return found


def test_equal_chains_are_stored_as_the_first_in_sorting_order():
    equals = 0
    for at in (played(" ".join(WHOLE[:ply])) for ply in range(1, 20, 2)):
        for text in legal(at)[:-1]:
            length = text.count("-") + 1
            chains = [chain for chain in reference_chains(at, text) if len(chain) == length]
            equals += len(chains) > 1
            first = min(chains, key=reference.rank)
            assert text.partition(":")[2] == "-".join(first)
            for chain in chains:
                longhand = f"{text.partition(':')[0]}:{'-'.join(chain)}"
                assert RULES.write(RULES.check(at, RULES.read(longhand))) == text
    assert equals > 10


def test_done_ends_the_match_at_any_time_with_the_score_as_its_sentence():
    later = " ".join(WHOLE[:33])
    for texts, detail in (
        ("", "0 stones set"),
        ("a1", "1 stone set"),
        ("a1 c3:d4", "2 stones set"),
        (later, RULES.score(played(later)).detail),
    ):
        assert JUMP.ending(played(f"{texts} done")) == ((0,), "done", detail)


def test_nobody_leaves_or_offers_anything_in_a_puzzle():
    assert RULES.offers == ()
    with pytest.raises(ValueError, match="seat 0 left"):
        RULES.remove_seat(start(), 0)
    with pytest.raises(ValueError, match="no offer"):
        RULES.check_offer(start(), "count")
    with pytest.raises(ValueError, match="no offer"):
        RULES.outcome_by_offer(start(), "count")
    assert not RULES.needs_draw(RULES.read_options([]), 1)


# --- against the slow reference


@pytest.mark.parametrize("flags", FAMILIES, ids=["corner", "large", "small"])
def test_legal_moves_and_their_effect_agree_with_the_reference(flags):
    for seed in range(6):
        for at, text in playing.random_puzzle(JUMP, start(*flags), seed):
            stones, jumper = split(at)
            assert set(legal(at)) == reference.legal(stones, jumper) | {"done"}
            after = split(played(text, at=at))[0]
            if text in reference.CORNERS:
                assert after == {text}
            elif jumper is None:
                assert after == reference.play_taking(stones, text)
            else:
                assert after == reference.play_step(stones, jumper, text)[0]


def test_chains_are_finite_even_in_a_full_ring():
    for stones in (0, (1 << 64) - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA):
        for landing in range(64):
            found = chains(stones & ~(1 << landing), landing)
            assert len({chain[-1] for chain in found}) == len(found) <= 64
