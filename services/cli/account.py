"""`matchpost account`: the operator makes accounts, replaces lost passwords, and lists all accounts."""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from domain.errors import Code, Refusal
from infra.languages.wording import Wording, wording
from infra.people.accounts import Profile
from infra.settings.settings import Settings
from services.app.accounts import all_profiles
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK
from services.app.passwords import make_account, replace_lost_password
from services.app.preferences import read_language
from services.cli.signup_link import site_of
from services.words.slips import account_slip

_HEADER: Final = "userid"
"""The first cell of a CSV file that names its columns."""

_COLUMNS: Final = ("userid", "created", "state", "addresses", "language")


def run(
    *,
    action: str,
    names: Sequence[str],
    file: Path | None,
    slips: bool,
    language: str,
    as_csv: bool,
    settings: Settings,
) -> int:
    """Make or list accounts or replace passwords, and return the exit code: that of the last refusal."""
    with App(settings) as parts:
        if action == "list":
            parts.ready()
            _list(all_profiles(parts), as_csv=as_csv)
            return EXIT_OK
        try:
            words = wording(read_language(language))
            asked = [*names, *(_userids_in(file) if file else ())]
        except (Refusal, OSError) as error:
            return _refused(error)
        change = make_account if action == "create" else replace_lost_password
        return _each(parts, change, asked, words if slips else None)


def _each(
    parts: App, change: Callable[[App, str], str], names: Iterable[str], words: Wording | None
) -> int:
    """Change each account by itself, and print its password; as slips in these words if there are some."""
    code = EXIT_OK
    for name in names:
        try:
            password = change(parts, name)
        except Refusal as reason:
            code = _refused(reason)
            continue
        if words:
            print(account_slip(name.lower(), password, site_of(parts.settings), words))
        else:
            print(f"{name.lower()} {password}")
    return code


def _refused(error: Refusal | OSError) -> int:
    """Print why something can't be done, and return the exit code."""
    if isinstance(error, OSError):
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return CODE_INFO[Code.BAD_OPTION].exit
    print(f"{error.code}: {error.sentence}", file=sys.stderr)
    return CODE_INFO[error.code].exit


def _userids_in(file: Path) -> list[str]:
    """Return the cells of a CSV file's first column that are not empty, without its header."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        found = [row[0].strip() for row in csv.reader(lines) if row]
    return [name for at, name in enumerate(found) if name and (at or name.lower() != _HEADER)]


def _list(profiles: Iterator[Profile], *, as_csv: bool) -> None:
    """Print a line for each account."""
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(map(_row, profiles))
        return
    for profile in profiles:
        print("  ".join(filter(None, _row(profile))))


def _row(profile: Profile) -> tuple[str, str, str, str, str]:
    """Return the cells of an account, in the order of `_COLUMNS`."""
    states = (("suspended", profile.suspended), ("arbiter", profile.arbiter))
    return (
        profile.name,
        f"{datetime.fromtimestamp(profile.created / 1000, UTC):%Y-%m-%d}",
        " ".join(name for name, holds in states if holds) or ("robot" if profile.robot else ""),
        " ".join(one.address for one in profile.addresses),
        profile.language,
    )
