"""Get a Jump On: the examples of the rules, every sentence, and a slow second opinion."""

import json
import re
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from domain.rules import current, pack, unpack
from domain.rules.api import IllegalMove, UnreadableMove
from domain.rules.jump import JumpMove
from domain.rules.jump_chains import NOBODY, chains
from domain.rules.kadon import INDEX, NAMES
from tests.domain import jump_reference as reference
from tests.domain.puzzles_given import SYMMETRIES, random_match, turned
from tests.domain.puzzles_given import play as played
from tests.domain.puzzles_given import start as started

RULES = current("jump")
FORM = "a move is a corner such as a1, a step c3:d4 or c3:d4-g1, a jump a1-a7, or done"
BOUND = "the source's mark: 1 stone in 20 plies"
LARGE = (
    "-solitaire=a1,a7,a9,b4,c3,c6,c9,d2,d10,e1,e5,e11,f3,f8,g4,g9,h6,h11,i1,i5,i13,j4,j10,k6,"
    "k9,l4,m5,m13"
)
SMALL = "-solitaire=c3,d4,e5,e9,g4"
FAMILIES = [(), (LARGE,), (SMALL,)]


STUCK = ("a1", "c3:d4", "e5:f6")
BEST = Path(__file__).parents[1] / "golden" / "puzzles-best.json"
WHOLE = next(
    best["moves"].split() for best in json.loads(BEST.read_text()) if best["rules"] == "jump/1"
)
"""All 32 stones, then part two down to one."""


def start(*flags):
    return started("jump", *flags)


def play(at, *texts):
    return played("jump", at, *texts)


def position(board, plies=0, flags=(), *, done=False):
    data = {"board": board, "plies": plies, "done": done}
    return RULES.from_json(data, RULES.read_options(flags), 0)


def board(at):
    return RULES.to_json(at)["board"]


def split(at):
    """Give the stones and the jumper as the reference has them."""
    shown = board(at)
    return set(shown), next((name for name, letter in shown.items() if letter == "O"), None)


def legal(at):
    return list(RULES.legal_moves(at))


def refused(at, text):
    with pytest.raises(IllegalMove) as refusal:
        RULES.check(at, RULES.read(text))
    assert refusal.value.code is Code.ILLEGAL_MOVE
    return refusal.value.sentence


@st.composite
def positions(draw):
    """Positions that come about by random play, in both parts, and how they began."""
    flags = draw(st.sampled_from(FAMILIES))
    match = [at for at, _ in random_match("jump", flags, draw(st.integers(0, 80)))]
    return flags, draw(st.sampled_from(match))


# --- part one


def test_the_first_ply_names_a_corner():
    assert legal(start()) == ["a1", "a13", "m1", "m13", "done"]
    assert board(play(start(), "m13")) == {"m13": "O"}


def test_a_step_sets_a_stone_and_jumps_over_it():
    assert board(play(start(), "a1", "c3:d4")) == {"c3": "o", "d4": "O"}


def test_a_chain_jumps_over_the_new_stone_and_back_again():
    """The jumper may land where the step began; it left that place empty."""
    at = play(start(), "a1", "e1:g1")
    assert board(at) == {"e1": "o", "g1": "O"}
    assert board(play(at, "e3:d4-g1")) == {"e1": "o", "e3": "o", "g1": "O"}


def test_the_steps_from_a_corner_are_those_with_room_behind_the_new_stone():
    """One more jump leads back over the same stone."""
    first = ["a5:a7", "b4:c5", "c3:d4", "d2:e3", "e1:g1"]
    both = [text for step in first for text in (step, f"{step}-a1")]
    assert legal(play(start(), "a1")) == [*both, "done"]


def test_a_longer_chain_with_the_same_result_is_stored_as_the_shortest():
    """Round the square a7 a1 g1 d4 the jumper may go either way."""
    at = position({"a5": "o", "b4": "o", "d2": "o", "c5": "O", "e1": "o", "c3": "o"})
    longer = [
        (text, chain)
        for text in legal(at)[:-1]
        for chain in reference_chains(at, text)
        if len(chain) > text.count("-") + 1
    ]
    assert longer
    for text, chain in longer:
        new = text.partition(":")[0]
        assert RULES.write(RULES.check(at, RULES.read(f"{new}:{'-'.join(chain)}"))) == text


def reference_chains(at, text):
    """Give all chains over the new stone of a step that end where it does."""
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
    for at in (play(start(), *WHOLE[:ply]) for ply in range(1, 20)):
        for text in legal(at)[:-1]:
            length = text.count("-") + 1
            chains = [chain for chain in reference_chains(at, text) if len(chain) == length]
            equals += len(chains) > 1
            first = min(chains, key=reference.rank)
            assert text.partition(":")[2] == "-".join(first)
            for chain in chains:
                longhand = f"{text.partition(':')[0]}:{'-'.join(chain)}"
                assert RULES.write(RULES.check(at, RULES.read(longhand))) == text
    assert equals > 20


def test_part_one_ends_when_no_step_is_left():
    at = play(start(), *STUCK)
    assert RULES.to_move(at) is None
    outcome = RULES.outcome(at)
    assert (outcome.winners, outcome.reason) == ((0,), "no-move")
    assert outcome.detail == RULES.score(at).detail
    assert legal(at) == RULES.moves(at) == []
    assert RULES.count_moves(at) == 0
    assert refused(at, "c3:d4") == (
        "c3:d4: the match is over: no stone can be set and jumped any more"
    )


def test_the_32nd_stone_begins_part_two_in_which_any_stone_jumps():
    before = play(start(), *WHOLE[:31])
    assert not before.taking
    assert RULES.score(before).detail == "31 stones set"
    at = play(before, WHOLE[31])
    assert list(board(at).values()) == ["o"] * 32
    assert set(legal(at)) == reference.takings(set(board(at))) | {"done"}
    score = RULES.score(at)
    assert (score.rank, score.bound) == ((-32, 32, 0), BOUND)
    assert score.detail == "all 32 stones set, 32 left after 0 plies"


def test_part_two_ends_when_no_jump_is_left():
    at = play(start(), *WHOLE)
    outcome = RULES.outcome(at)
    assert (outcome.winners, outcome.reason) == ((0,), "no-move")
    assert outcome.detail == "all 32 stones set, 1 left after 3 plies"
    assert RULES.score(at).rank == (-32, 1, 3)
    assert refused(at, "a1-a7").endswith("the match is over: no stone can jump any more")


# --- part two


def test_what_is_jumped_is_taken_off():
    at = start("-solitaire=a5,a7,b4")
    assert "a5-a9" in legal(at)
    assert board(play(at, "a5-a9")) == {"a9": "o", "b4": "o"}


def test_a_chain_takes_all_it_jumps_over():
    at = play(start("-solitaire=a1,a5,a9,m1"), "a1-a7-a13")
    assert board(at) == {"a13": "o", "m1": "o"}


def test_a_stone_that_is_taken_cannot_be_jumped_again():
    at = start("-solitaire=a1,a5,m13")
    assert refused(at, "a1-a7-a1") == (
        "a1-a7-a1: there is no stone at a5 to jump over from a7 to a1"
    )


def test_a_match_may_be_over_at_its_start():
    at = start("-solitaire=a1,m13")
    outcome = RULES.outcome(at)
    assert (outcome.winners, outcome.reason) == ((0,), "no-move")
    assert outcome.detail == "2 of 2 stones left after 0 plies"
    assert RULES.to_move(at) is None


def test_the_score_of_a_given_set_counts_what_is_left_then_plies():
    at = start("-solitaire=a1,a5,a9,m1")
    assert RULES.score(at).rank == (0, 4, 0)
    for texts, plies in ((["a1-a7-a13"], 1), (["a1-a7", "a7-a13"], 2)):
        score = RULES.score(play(at, *texts))
        assert score.rank == (0, 2, plies)
        assert (
            score.detail == f"2 of 4 stones left after {plies} {'ply' if plies == 1 else 'plies'}"
        )
    assert RULES.score(play(at, "a1-a7-a13")).rank < RULES.score(play(at, "a1-a7", "a7-a13")).rank


def test_what_was_set_comes_before_what_was_taken():
    ranks = [
        RULES.score(play(start(), *WHOLE)).rank,
        RULES.score(play(start(), *WHOLE[:32])).rank,
        RULES.score(play(start(), *WHOLE[:31])).rank,
        RULES.score(play(start(), "a1")).rank,
        RULES.score(start()).rank,
    ]
    assert ranks == sorted(ranks)
    assert RULES.score(start("-solitaire=a1,a5")).rank > RULES.score(play(start(), "a1")).rank


def test_chains_that_leave_the_same_stones_and_end_alike_are_one_move():
    for seed in range(10):
        for at, _ in random_match("jump", (LARGE,), seed, 4):
            stones = set(board(at))
            after = [
                (frozenset(reference.play_taking(stones, text)), text.split("-")[-1])
                for text in legal(at)[:-1]
            ]
            assert len(set(after)) == len(after)


def test_even_the_most_crowded_set_has_its_moves_each_once():
    """It was looked for: a random set of 32 stones has some hundred moves, this one 48,925."""
    at = start(
        "-solitaire=a5,a9,b10,c3,c5,c6,d2,d7,d10,d12,e1,e3,e9,e13,f8,f11,g4,g5,g10,h3,i1,i3,i9,"
        "i11,i13,k3,k5,k6,k8,l10,m5,m9"
    )
    moves = RULES.moves(at)
    assert len(moves) == len(set(moves)) == 48926
    longest = max(moves, key=lambda move: len(move.chain))
    assert len(longest.chain) == 23
    assert RULES.check(at, longest) == longest


# --- done


def test_done_ends_the_match_at_any_time_with_the_score_as_its_sentence():
    for texts, detail in (
        ([], "0 stones set"),
        (["a1"], "1 stone set"),
        (["a1", "c3:d4"], "2 stones set"),
        (WHOLE[:33], RULES.score(play(start(), *WHOLE[:33])).detail),
    ):
        at = play(start(), *texts, "done")
        outcome = RULES.outcome(at)
        assert (outcome.winners, outcome.reason, outcome.detail) == ((0,), "done", detail)
        assert RULES.to_move(at) is None
        assert legal(at) == []
        assert refused(at, "done") == "done: the match is over: the solver is done"


# --- refusals

EACH_STEP = "each step sets a new stone until all 32 are set, and the jumper at"


@pytest.mark.parametrize(
    ("texts", "text", "sentence"),
    [
        ([], "c3", "the first stone is set on a corner: a1, a13, m1 or m13"),
        ([], "c3:d4",
         "first name the corner on which the first stone is set: a1, a13, m1 or m13"),
        ([], "a1-a7",
         "first name the corner on which the first stone is set: a1, a13, m1 or m13"),
        (["a1"], "m1",
         f"{EACH_STEP} a1 jumps over it; it is written c3:d4"),
        (["a1", "c3:d4"], "c3-e5",
         f"{EACH_STEP} d4 jumps over it; it is written c3:d4"),
        (["a1", "c3:d4"], "c3:a1", "c3 is occupied; a new stone is set on an empty intersection"),
        (["a1", "c3:d4"], "d4:e5", "d4 is occupied; a new stone is set on an empty intersection"),
        (["a1"], "e5:f6", "e5 is not adjacent to the jumper at a1"),
        (["a1", "e1:g1"], "a5:a7", "a5 is not adjacent to the jumper at g1"),
        (["a1", "c3:d4"], "b4:a5", "the line from d4 ends at b4, so it can't be jumped over"),
        (["a1"], "c3:e5", "a jump over c3 lands on d4, not on e5"),
        (["a1"], "c3:d4-m13", "no line leads from d4 over one intersection to m13"),
        (["a1"], "c3:d4-g1", "there is no stone at e3 to jump over from d4 to g1"),
        (["a1", "e1:g1"], "e3:d4-g1-a1-g1", "g1 is landed on twice in one chain"),
        (["a1", "e1:g1", "e3:d4"], "c3:a1-g1-m1",
         "there is no stone at i1 to jump over from g1 to m1"),
    ],
)  # fmt: skip
def test_an_illegal_step_is_refused_by_the_rule_it_breaks(texts, text, sentence):
    assert refused(play(start(), *texts), text) == f"{text}: {sentence}"


def test_a_landing_must_be_empty():
    assert refused(position({"a7": "o", "a1": "O"}), "a5:a7") == (
        "a5:a7: a7 is occupied; a jump lands on an empty intersection"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a1", "no more stones are set; a stone jumps and takes, which is written a1-a7"),
        ("c3:d4", "no more stones are set; a stone jumps and takes, which is written a1-a7"),
        ("b4-d4", "there is no stone at b4"),
        ("a1-e5", "no line leads from a1 over one intersection to e5"),
        ("a1-d4", "there is no stone at c3 to jump over from a1 to d4"),
        ("a9-a5", "there is no stone at a7 to jump over from a9 to a5"),
        ("g1-a1", "a1 is occupied; a jump lands on an empty intersection"),
        ("a1-a1", "no line leads from a1 over one intersection to a1"),
    ],
)
def test_an_illegal_jump_is_refused_by_the_rule_it_breaks(text, sentence):
    at = start("-solitaire=a1,a5,a9,e1,g1")
    assert refused(at, text) == f"{text}: {sentence}"


# --- notation


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("A1", "a1"),
        (" c3 : d4 ", "c3:d4"),
        ("E3:D4-G1", "e3:d4-g1"),
        ("e3 - d4 - f11", "e3-d4-f11"),
        ("Done", "done"),
        (" d o n e\n", "done"),
    ],
)
def test_case_and_blanks_are_free(text, canonical):
    assert RULES.write(RULES.read(text)) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' is no move"),
        ("  ", "'  ' is no move"),
        ("\u212a3", "'\u212a3' is no move"),
        ("resign", "'resign' is no intersection"),
        ("a01", "'a01' is no intersection"),
        ("c3:", "an intersection is missing"),
        (":d4", "an intersection is missing"),
        ("c3:d4-", "an intersection is missing"),
        ("-a1", "an intersection is missing"),
        ("c3:d4:e5", "'c3:d4' is no intersection"),
        ("c3-d4:e5", "'c3-d4' is no intersection"),
        ("e3-d5", "'d5' is no intersection"),
        ("e3,d4", "'e3,d4' is no intersection"),
        ("x" * 9000, f"'{'x' * 24}' is no intersection"),
    ],
)
def test_what_is_no_notation_is_refused_with_the_form(text, problem):
    with pytest.raises(UnreadableMove) as refusal:
        RULES.read(text)
    assert refusal.value.sentence == f"{problem}; {FORM}"


@given(st.text("abcdegm13457:-, ADdone", max_size=14))
def test_any_text_is_read_to_a_move_that_writes_and_reads_alike_or_refused(text):
    try:
        move = RULES.read(text)
    except UnreadableMove:
        return
    assert RULES.read(RULES.write(move)) == move


@given(st.integers(0, 64), st.lists(st.integers(0, 63), min_size=1, max_size=9))
def test_reading_gives_back_every_move_that_was_written(new, chain):
    move = JumpMove(new, tuple(chain))
    assert RULES.read(RULES.write(move)) == move
    assert hash(RULES.read(RULES.write(move))) == hash(move)


# --- against the slow reference


@pytest.mark.parametrize("flags", FAMILIES, ids=["corner", "large", "small"])
def test_legal_moves_and_their_effect_agree_with_the_reference(flags):
    for seed in range(12):
        for at, text in random_match("jump", flags, seed):
            stones, jumper = split(at)
            assert set(legal(at)) == reference.legal(stones, jumper) | {"done"}
            after = split(play(at, text))[0]
            if text in reference.CORNERS:
                assert after == {text}
            elif jumper is None:
                assert after == reference.play_taking(stones, text)
            else:
                assert after == reference.play_step(stones, jumper, text)[0]


@pytest.mark.parametrize("texts", [WHOLE[:31], WHOLE[:32], WHOLE[:33]])
def test_both_sides_of_the_32nd_stone_agree_with_the_reference(texts):
    at = play(start(), *texts)
    assert set(legal(at)) - {"done"} == reference.legal(*split(at))


def order(text):
    new, _, chain = text.rpartition(":")
    return (
        text == "done",
        INDEX.get(new, NOBODY),
        [INDEX[name] for name in chain.split("-")] if text != "done" else [],
    )


@given(positions())
def test_legal_moves_come_sorted_each_once_and_are_counted(drawn):
    _, at = drawn
    texts = legal(at)
    assert texts == sorted(texts, key=order)
    assert len(set(texts)) == len(texts) == RULES.count_moves(at) == len(RULES.moves(at))
    assert {RULES.write(move) for move in RULES.moves(at)} == set(texts)


@given(positions(), st.data())
def test_legal_moves_are_accepted_as_they_are_and_nothing_else_is(drawn, data):
    _, at = drawn
    texts = legal(at)
    text = data.draw(st.sampled_from(texts))
    assert RULES.write(RULES.check(at, RULES.read(text))) == text
    mutated = mutate(text, data.draw)
    try:
        move = RULES.read(mutated)
    except UnreadableMove:
        return
    if valid(split(at), RULES.write(move)):
        checked = RULES.check(at, move)
        assert RULES.write(checked) in texts
        assert RULES.play(at, checked) == RULES.play(at, move)
    else:
        assert refused(at, mutated).startswith(f"{RULES.write(move)}: ")


def valid(shown, text):
    """Tell whether a move keeps the rules, whatever its chain; the reference's way."""
    stones, jumper = shown
    new, _, listed = text.rpartition(":")
    chain = listed.split("-")
    if text == "done" or not stones:
        return text == "done" or text in reference.CORNERS
    if jumper is None:
        begun = not new and len(chain) > 1 and chain[0] in stones
        return begun and lands(stones - {chain[0]}, chain, taking=True)
    begun = new and new not in stones and (new, chain[0]) in reference.JUMPS[jumper]
    return begun and lands(stones - {jumper} | {new}, [jumper, *chain], taking=False)


def lands(left, way, *, taking):
    for a, b in pairwise(way):
        over = {mid for mid, to in reference.JUMPS[a] if to == b} & left
        if not over or b in left:
            return False
        left = left - over if taking else left
    return len(set(way[1:])) == len(way) - 1


def mutate(text, draw):
    """Replace a name of a move, or drop or add a landing."""
    names = re.split("[:-]", text)
    signs = re.findall("[:-]", text)
    match draw(st.sampled_from(("name", "drop", "add", "back"))):
        case "name":
            names[draw(st.integers(0, len(names) - 1))] = draw(st.sampled_from(NAMES))
        case "drop":
            names, signs = names[:-1] or names, signs[:-1]
        case "add" if text != "done":
            lands = [to for _, to in reference.JUMPS[names[-1]]]
            names, signs = [*names, draw(st.sampled_from([*lands, "a1"]))], [*signs, "-"]
        case "back":
            names, signs = [*names, names[0]], [*signs, "-"]
    return "".join(name + sign for name, sign in zip(names, [*signs, ""], strict=True))


@given(positions(), st.sampled_from(SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    """Chains are written differently there, so what the moves lead to is compared."""
    flags, at = drawn
    other = {turned(name, symmetry): letter for name, letter in board(at).items()}
    flags = tuple(
        f"-solitaire={','.join(turned(n, symmetry) for n in flag.partition('=')[2].split(','))}"
        for flag in flags
    )
    mirrored = position(other, at.plies, flags)
    assert results(mirrored) == {
        frozenset((turned(name, symmetry), letter) for name, letter in after)
        for after in results(at)
    }


def results(at):
    return {frozenset(board(RULES.play(at, move)).items()) for move in RULES.moves(at)[:-1]}


@given(positions())
def test_no_ply_makes_the_score_worse(drawn):
    _, at = drawn
    before = RULES.score(at).rank
    assert all(RULES.score(RULES.play(at, move)).rank <= before for move in RULES.moves(at))


@pytest.mark.parametrize("flags", FAMILIES, ids=["corner", "large", "small"])
def test_random_play_ends(flags):
    for seed in range(30):
        last, text = list(random_match("jump", flags, seed, until_done=seed % 2 == 0))[-1]
        assert RULES.outcome(play(last, text)) is not None


def test_chains_are_finite_even_in_a_full_ring():
    for stones in (0, (1 << 64) - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA):
        for landing in range(64):
            found = chains(stones & ~(1 << landing), landing)
            assert len({chain[-1] for chain in found}) == len(found) <= 64


# --- options, positions as values


def test_the_stones_of_solitaire_are_recorded_in_sorting_order():
    options = RULES.read_options(["solitaire=M13,a5, a13"])
    assert RULES.write_options(options) == ("-solitaire=a5,a13,m13",)
    assert RULES.read_options(RULES.write_options(options)) == options


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
    with pytest.raises(Refusal) as refusal:
        RULES.read_options([flag])
    assert (refusal.value.code, refusal.value.sentence) == (Code.BAD_OPTION, sentence)


def test_jump_is_solved_by_one_without_a_setup():
    with pytest.raises(Refusal, match="jump is solved by one, not by 2") as players:
        RULES.start(RULES.read_options([]), 2, None)
    with pytest.raises(Refusal, match="no setup that chance draws") as setup:
        RULES.start(RULES.read_options([]), 1, {})
    assert (players.value.code, setup.value.code) == (Code.BAD_PLAYERS, Code.BAD_SETUP)


@given(positions(), st.booleans())
def test_positions_pass_through_json_and_messagepack_unchanged(drawn, done):
    flags, at = drawn
    at = play(at, "done") if done else at
    data = msgspec.json.decode(msgspec.json.encode(RULES.to_json(at)))
    again = RULES.from_json(data, RULES.read_options(flags), 0)
    unpacked = unpack("jump/1", pack(at))
    assert again == unpacked == at
    assert hash(again) == hash(unpacked) == hash(at)
    assert len(pack(at)) <= 16


@given(positions())
def test_json_lists_the_stones_in_sorting_order(drawn):
    names = list(board(drawn[1]))
    assert names == sorted(names, key=INDEX.get)


@pytest.mark.parametrize(
    ("data", "flags", "to_move", "problem"),
    [
        (None, [], 0, "Expected `object`, got `null`"),
        ({"board": {}, "plies": 0}, [], 0, "missing required field `done`"),
        ({"board": {}, "plies": -1, "done": False}, [], 0, "Expected `int` >= 0"),
        ({"board": {}, "plies": 32, "done": False}, [], 0, "Expected `int` <= 31"),
        ({"board": {"a1": "X"}, "plies": 0, "done": False}, [], 0, "Invalid enum value 'X'"),
        ({"board": {"a2": "o"}, "plies": 0, "done": False}, [], 0, "'a2' is no intersection"),
        ({"board": {}, "plies": 0, "done": False}, [], 1, "it can't be the turn of seat 1"),
        ({"board": {}, "plies": 1, "done": False}, [], 0, "it has a jumper in part two"),
        ({"board": {"a1": "O", "m1": "O"}, "plies": 0, "done": False}, [], 0, "one jumper at most"),
        ({"board": {"a1": "O"}, "plies": 3, "done": False}, [], 0, "it has a jumper in part two"),
        ({"board": {"a1": "O"}, "plies": 0, "done": False}, [SMALL], 0, "a jumper in part two"),
        ({"board": dict.fromkeys(NAMES[:32], "o") | {"a1": "O"}, "plies": 0, "done": False}, [], 0,
         "it has a jumper in part two"),
        ({"board": {"a1": "o"}, "plies": 0, "done": False}, [], 0,
         "1 stone can't be left after so many plies"),
        ({"board": dict.fromkeys(NAMES[:31], "o"), "plies": 2, "done": False}, [], 0,
         "31 stones can't be left after so many plies"),
        ({"board": dict.fromkeys(NAMES[:33], "o"), "plies": 0, "done": False}, [], 0,
         "33 stones can't be left after so many plies"),
        ({"board": {}, "plies": 2, "done": False}, [SMALL], 0, "0 stones can't be left"),
        ({"board": dict.fromkeys(NAMES[:5], "o"), "plies": 0, "done": False}, [SMALL], 0,
         "it doesn't begin with the stones of -solitaire"),
    ],
)  # fmt: skip
def test_what_is_no_position_is_refused(data, flags, to_move, problem):
    with pytest.raises(Refusal, match=re.escape(problem)) as refusal:
        RULES.from_json(data, RULES.read_options(flags), to_move)
    assert refusal.value.code is Code.BAD_SETUP
    assert refusal.value.sentence.startswith("this is no position of jump: ")


def test_nobody_leaves_or_offers_anything_in_a_puzzle():
    assert RULES.offers == ()
    with pytest.raises(ValueError, match="seat 0 left"):
        RULES.leave(start(), 0)
    with pytest.raises(ValueError, match="no offer"):
        RULES.check_offer(start(), "count")
    with pytest.raises(ValueError, match="no offer"):
        RULES.agreed(start(), "count")
    assert not RULES.needs_draw(RULES.read_options([]), 1)
