"""`matchpost account`: the operator makes accounts, replaces lost passwords, gives roles, and lists all accounts."""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from domain.errors import Code, Refusal
from infra.languages.wording import Wording, wording
from infra.people.accounts import AccountRole, Profile
from infra.settings.settings import Settings
from services.app.accounts import all_profiles
from services.app.acts import TERMINAL
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK
from services.app.passwords import make_account, replace_lost_password
from services.app.preferences import read_language
from services.app.roles import set_role
from services.cli.signup_link import site_of
from services.words.slips import account_slip

_HEADER: Final = "userid"
"""The first cell of a CSV file that names its columns."""

_COLUMNS: Final = ("userid", "created", "state", "addresses", "language")


def run(  # noqa: PLR0913 - one for each argument
    *,
    action: str,
    names: Sequence[str],
    file: Path | None,
    slips: bool,
    language: str,
    as_csv: bool,
    is_held: bool,
    settings: Settings,
) -> int:
    """Make, change or list accounts, and return the exit code: that of the last refusal."""
    with App(settings) as parts:
        if action == "list":
            parts.ready()
            _list(all_profiles(parts), as_csv=as_csv)
            return EXIT_OK
        if action == "role":
            return _set_roles(parts, names, is_held=is_held)
        try:
            words = wording(read_language(language))
            asked = [*names, *(_userids_in(file) if file else ())]
        except (Refusal, OSError) as error:
            return _refused(error)
        change = make_account if action == "create" else replace_lost_password
        return _each(parts, change, asked, words if slips else None)


def _set_roles(parts: App, names: Sequence[str], *, is_held: bool) -> int:
    """Set whether accounts have the role that comes first, and return the exit code."""
    role = AccountRole(names[0]) if names and names[0] in set(AccountRole) else None
    if role is None or not names[1:]:
        said = f"name a role ({', '.join(AccountRole)}), then the accounts"
        return _refused(Refusal(Code.USAGE, said))
    code = EXIT_OK
    for name in names[1:]:
        try:
            set_role(parts, TERMINAL, name, role, held=is_held)
        except Refusal as reason:
            code = _refused(reason)
            continue
        article = "a" if role is AccountRole.MODERATOR else "an"
        print(f"{name.lower()} is {'now' if is_held else 'no longer'} {article} {role}")
    return code


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
    states = ("suspended",) if profile.suspended else ()
    return (
        profile.name,
        f"{datetime.fromtimestamp(profile.created / 1000, UTC):%Y-%m-%d}",
        " ".join((*states, *profile.roles)) or ("robot" if profile.robot else ""),
        " ".join(one.address for one in profile.addresses),
        profile.language,
    )
