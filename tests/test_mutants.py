"""Mutants of the pure core are drawn alike for equal seeds, and differ from the code in one place."""

import ast
from importlib.util import module_from_spec

import pytest

from trials.mutants import (
    MutantFinder,
    change,
    concerned_tests,
    drawn,
    found_again,
    mutated,
    places,
)

SOURCE = """
LIMIT = 7

def rate(count, seen):
    note(seen)
    if count {sign} seen:
        return count
    return 0
"""


def changed(sign: str) -> list[str]:
    """What each change of the source makes of it."""
    found = []
    for number, _ in enumerate(places(ast.parse(SOURCE.format(sign=sign)))):
        tree = ast.parse(SOURCE.format(sign=sign))
        found.append(change(list(places(tree))[number][1]))
    return found


@pytest.mark.parametrize(("sign", "other"), [("<", "<="), ("==", "!="), ("in", "not in")])
def test_what_is_changed_stands_in_the_body_of_a_function(sign: str, other: str) -> None:
    assert sorted(changed(sign)) == sorted(
        [
            f"if count {sign} seen:  =>  if not count {sign} seen:",
            f"count {sign} seen  =>  count {other} seen",
            "0  =>  1",
            "note(seen)  =>  None",
        ]
    )


def test_equal_seeds_draw_equal_mutants_and_others_draw_others() -> None:
    under = ["domain/clocks"]
    assert drawn(7, 5, under) == drawn(7, 5, under) != drawn(8, 5, under)


def test_a_mutant_is_put_in_place_while_its_module_is_imported() -> None:
    (mutant,) = drawn(8, 1, ["domain/clocks"])
    name = mutant.file.removesuffix(".py").replace("/", ".")
    finder = MutantFinder(mutant.file, mutant.number)
    assert finder.find_spec("domain.clocks.elsewhere", None) is None
    spec = finder.find_spec(name, None)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(module_from_spec(spec))
    tree, line, function, _ = mutated(mutant.file, mutant.number)
    assert (line, function) == (mutant.line, mutant.function)
    assert ast.unparse(tree) != ast.unparse(mutated(mutant.file, mutant.number + 1)[0])


def test_the_tests_of_a_game_come_first() -> None:
    assert concerned_tests("domain/games/torere/rules.py")[0] == [
        "tests/games/torere/test_torere.py"
    ]
    assert "tests/domain/test_disputes.py" in concerned_tests("domain/match/disputes.py")[0]


def test_mutants_of_an_earlier_run_are_found_where_they_are_now() -> None:
    earlier = drawn(3, 4, ["domain/clocks"])
    by = "tests/elsewhere.py::test_equal_seeds_draw_equal_mutants_and_others_draw_others[1]"
    listed = [{**one._asdict(), "file": "domain/clocks/moved.py", "by": by} for one in earlier]
    again = found_again(listed, ["domain/clocks"])
    assert {(one.function, one.change) for one in again} == {
        (one.function, one.change) for one in earlier
    }
    # the test that killed them has moved, too
    name = by.partition("::")[2].removesuffix("[1]")
    assert {one.killer for one in again} == {f"tests/test_mutants.py::{name}"}
    unkilled = found_again([{**one, "by": ""} for one in listed], ["domain/clocks"])
    assert {one.killer for one in unkilled} == {""}
    gone = [{**listed[0], "change": "nothing of the kind"}]
    assert found_again(gone, ["domain/clocks"]) == []


def test_the_tests_that_import_a_module_come_first() -> None:
    first, *others = concerned_tests("services/app/follows.py")
    assert "tests/services/test_follows.py" in first
    assert others == [["tests/app"], ["tests/words"], ["tests/services"], ["tests/backup"]]
