from pathlib import Path

import pytest

from domain.errors import Code
from services.app.error_codes import CODE_INFO, EXIT_REFUSED, EXIT_UNKNOWN

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def rows() -> list[list[str]]:
    """The cells of the page's table, less its head."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_code_has_its_place_in_the_table_in_order():
    assert list(CODE_INFO) == list(Code)


def test_the_page_shows_the_table():
    assert rows() == [
        [f"`{code}`", str(problem.exit), str(problem.status), problem.meaning]
        for code, problem in CODE_INFO.items()
    ]


@pytest.mark.parametrize("code", Code)
def test_a_problem_is_one_of_a_refusal_or_of_delivery(code):
    problem = CODE_INFO[code]
    assert problem.exit in (EXIT_REFUSED, EXIT_UNKNOWN)
    assert problem.status == 202 or 400 <= problem.status < 600
    assert problem.meaning[0].islower()
    assert not problem.meaning.endswith(".")
