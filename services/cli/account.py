"""`matchpost account`: the operator makes accounts, and does to them all that an operator can do.

`matchpost suspend`, `matchpost reinstate` and `matchpost arbiter` are the same for one account. The word `list` lists the
arbiters, so an account of that userid can't be made one there. A list in a CSV file has an account in each row: see `services.app.account_rows`.
"""

import csv
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from domain.errors import Code, Refusal
from infra.languages.wording import Wording, wording
from infra.people.accounts import AccountRole, Profile
from infra.sentences import day_of
from infra.settings.settings import Settings
from services.app.account_rows import AccountRow, read_rows
from services.app.accounts import all_profiles, log_out_account, set_suspended
from services.app.acts import TERMINAL
from services.app.admission import make_signup_link
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK
from services.app.own_data import export_account
from services.app.passwords import make_account, replace_lost_password
from services.app.preferences import read_language
from services.app.roles import set_role
from services.cli.signup_link import site_of
from services.words.own_archive import own_archive
from services.words.slips import account_slip, invitation_slip

_COLUMNS: Final = ("userid", "created", "state", "addresses", "language", "name")

_INVITED_DAYS: Final = 14
"""How long a sign-up link of `invite` lasts."""


class _Print(NamedTuple):
    """How accounts and links are printed."""

    slips: bool
    words: Wording
    """The language of slips of rows that name none."""
    site: str
    days: int
    """How long a suspension lasts; 0 for no end."""

    def words_of(self, row: AccountRow) -> Wording:
        """Return the language of a row's slip."""
        return wording(row.language.lower()) if row.language else self.words


def run(  # noqa: PLR0913 - one for each argument
    *,
    action: str,
    names: Sequence[str],
    file: Path | None = None,
    slips: bool = False,
    language: str = "en",
    as_csv: bool = False,
    is_held: bool = True,
    settings: Settings,
    days: int = 0,
) -> int:
    """Do what the action says to accounts, and return the exit code: that of the last refusal."""
    with App(settings) as parts:
        if action == "list":
            parts.ready()
            _list(all_profiles(parts), as_csv=as_csv)
            return EXIT_OK
        if action == "arbiter" and is_held and names == ["list"]:
            holders = parts.accounts.holders(AccountRole.ARBITER)
            for name in sorted(filter(None, parts.accounts.name_of(holders))):
                print(name)
            return EXIT_OK
        if action in ("role", "arbiter"):
            named = names if action == "role" else [AccountRole.ARBITER, *names]
            return _set_roles(parts, named, is_held=is_held)
        try:
            if action == "export":
                return _export(parts, names)
            shown = _Print(slips, wording(read_language(language)), site_of(settings), days)
            rows = [*map(AccountRow, names), *(_rows_in(file) if file else ())]
        except OSError as error:
            print(f"{error.filename}: {error.strerror}", file=sys.stderr)
            return CODE_INFO[Code.BAD_OPTION].exit
        return _each(partial(_CHANGES[action], parts, shown), rows)


def _create(app: App, shown: _Print, row: AccountRow) -> str:
    password = make_account(app, row.userid, row=row)
    if not shown.slips:
        return f"{row.userid.lower()} {password}"
    words = shown.words_of(row)
    return account_slip(row.userid.lower(), password, shown.site, words, row.name)


def _reset(app: App, shown: _Print, row: AccountRow) -> str:
    password = replace_lost_password(app, row.userid)
    if not shown.slips:
        return f"{row.userid.lower()} {password}"
    profile = app.accounts.record_of(app.accounts.id_of(row.userid))
    name, whose = (profile.name, profile.real_name) if profile else (row.userid, "")
    return account_slip(name, password, shown.site, shown.words_of(row), whose)


def _invite(app: App, shown: _Print, row: AccountRow) -> str:
    """Make a link with which one account is made, whose userid is its owner's choice."""
    whom = row.name or row.userid
    link, text = make_signup_link(app, 1, _INVITED_DAYS, whom)
    address = f"{shown.site}/signup?link={text}"
    if not shown.slips:
        return f"{whom}  {address}"
    words = shown.words_of(row)
    return invitation_slip(whom, address, words.stamp(link.expires), words)


def _log_out(app: App, shown: _Print, row: AccountRow) -> str:  # noqa: ARG001 - as the others
    log_out_account(app, row.userid)
    return f"{row.userid.lower()} is logged out everywhere, and all its tokens are revoked"


def _suspend(app: App, shown: _Print, row: AccountRow) -> str:
    set_suspended(app, row.userid, suspended=True, days=shown.days)
    length = f" for {shown.days} {'day' if shown.days == 1 else 'days'}" if shown.days else ""
    return (
        f"{row.userid.lower()} is suspended{length} and logged out everywhere; its matches go on, "
        "and its clocks run"
    )


def _reinstate(app: App, shown: _Print, row: AccountRow) -> str:  # noqa: ARG001 - as the others
    set_suspended(app, row.userid, suspended=False)
    return f"{row.userid.lower()} can log in again"


_CHANGES: Final[Mapping[str, Callable[[App, _Print, AccountRow], str]]] = {
    "create": _create,
    "reset": _reset,
    "invite": _invite,
    "logout": _log_out,
    "suspend": _suspend,
    "reinstate": _reinstate,
}
"""By action, the function that does it to one account and returns what to print."""


def _each(change: Callable[[AccountRow], str], rows: Sequence[AccountRow]) -> int:
    """Change each account by itself, so that one that is refused harms no other."""
    code = EXIT_OK
    for row in rows:
        try:
            print(change(row))
        except Refusal as reason:
            print(reason, file=sys.stderr)
            code = CODE_INFO[reason.code].exit
    return code


def _set_roles(parts: App, names: Sequence[str], *, is_held: bool) -> int:
    """Set whether accounts have the role that comes first, and return the exit code."""
    role = AccountRole(names[0]) if names and names[0] in set(AccountRole) else None
    if role is None or not names[1:]:
        raise Refusal(Code.USAGE, f"name a role ({', '.join(AccountRole)}), then the accounts")

    def change(row: AccountRow) -> str:
        set_role(parts, TERMINAL, row.userid, role, held=is_held)
        article = "a" if role is AccountRole.MODERATOR else "an"
        return f"{row.userid.lower()} is {'now' if is_held else 'no longer'} {article} {role}"

    return _each(change, [AccountRow(name) for name in names[1:]])


def _export(app: App, names: Sequence[str]) -> int:
    """Write all data of an account to a new file that only this user can read; `-` is standard output."""
    if len(names) != len(("userid", "file")):
        raise Refusal(Code.USAGE, "name the account, then the file; `-` is standard output")
    userid, path = names
    account = export_account(app, userid)
    parts = own_archive(app, account, wording(app.accounts.language_of(account)))
    if path == "-":
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
        return EXIT_OK
    with open(path, "xb", opener=partial(os.open, mode=0o600)) as file:
        file.writelines(parts)
    print(f"all data of {userid.lower()} are in {path}")
    return EXIT_OK


def _rows_in(file: Path) -> list[AccountRow]:
    """Return the rows of a CSV file."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return read_rows(lines)


def _list(profiles: Iterator[Profile], *, as_csv: bool) -> None:
    """Print a line for each account."""
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(map(_row, profiles))
        return
    for profile in profiles:
        print("  ".join(filter(None, _row(profile))))


def _row(profile: Profile) -> tuple[str, ...]:
    """Return the cells of an account, in the order of `_COLUMNS`."""
    until = f" until {day_of(profile.suspended_until)}" if profile.suspended_until else ""
    states = (f"suspended{until}",) if profile.suspended else ()
    return (
        profile.name,
        day_of(profile.created),
        " ".join((*states, *profile.roles))
        or ("robot" if profile.robot else "bot" if profile.owner else ""),
        " ".join(one.address for one in profile.addresses),
        profile.language,
        profile.real_name,
    )
