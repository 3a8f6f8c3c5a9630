"""The report of `verify`: what is printed where, and the exit code."""

import pytest

from services.cli.verify import SHOWN, VerifyReport, not_checkable


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (VerifyReport(["it holds"]), 0),
        (VerifyReport(unchecked=["it is away"]), 0),
        (VerifyReport(unchecked=["it is away"], is_unknown=True), 2),
        (VerifyReport(faults=["it is forged"], is_unknown=True), 1),
        (not_checkable("a.json", "it is empty"), 2),
    ],
)
def test_a_fault_counts_more_than_something_that_is_not_known(
    report: VerifyReport, code: int
) -> None:
    assert report.exit_code == code


def test_what_holds_is_on_standard_output_and_all_else_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = VerifyReport(
        ["it holds"], ["the time"], ["it is forged"], ["it is away"], "all in all"
    )
    assert report.print() == 1
    out, err = capsys.readouterr()
    assert out == "it holds\nnot proven: the time\nall in all\n"
    assert err == "it is forged\nit is away\n"


def test_of_many_faults_the_first_are_printed_and_the_others_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    VerifyReport(faults=[f"fault {number}" for number in range(SHOWN + 3)]).print()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [*(f"fault {number}" for number in range(SHOWN)), "and 3 more like these"]
