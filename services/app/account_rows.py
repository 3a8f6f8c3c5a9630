"""Lists of accounts that an operator makes for others, as CSV: a userid in each row, and what else is known.

An account that somebody else looks after, such as a child's without mail, can have a real name: operators see it,
and other players never do.
"""

import csv
from collections.abc import Iterable
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from services.app.preferences import read_language
from services.app.sentences import SAY

COLUMNS: Final = ("userid", "name", "email", "language")

MOST_OF_NAME: Final = 80
"""Characters of a real name."""


class AccountRow(msgspec.Struct, frozen=True):
    """An account to make."""

    userid: str
    name: str = ""
    """The real name; empty for none."""
    email: str = ""
    """Mail addresses, separated by blanks."""
    language: str = ""
    """Of the account, and of its slip; empty for the one that is usual here."""


def read_rows(lines: Iterable[str]) -> list[AccountRow]:
    """Return the rows of a CSV file that have a userid.

    A first row that begins with `userid` names the columns, in any order; those with other names are for the operator
    alone. Without it the first column has the userids.
    """
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    named = bool(rows and rows[0] and rows[0][0].lower() == COLUMNS[0])
    columns = [cell.lower() for cell in rows[0]] if named else COLUMNS[:1]
    found = []
    for row in rows[1:] if named else rows:
        cells = {name: cell for name, cell in zip(columns, row, strict=False) if name in COLUMNS}
        if cells.get("userid"):
            found.append(AccountRow(**cells))
    return found


def check_row(row: AccountRow) -> None:
    """Refuse a row that no account can be made of, but for its userid and addresses.

    `bad-option` for an unknown language; `too-long` or `bad-request` for a real name.
    """
    if row.language:
        read_language(row.language)
    if len(row.name) > MOST_OF_NAME:
        raise Refusal(Code.TOO_LONG, SAY("real-name-long", most=MOST_OF_NAME))
    if not row.name.isprintable():
        raise Refusal(Code.BAD_REQUEST, SAY("real-name-form"))
