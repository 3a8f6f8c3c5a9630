"""The administration: accounts, roles, sign-up links, admission, record, health and backups, for operators' programs."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from litestar import Response
from litestar.params import JSONBody, PathParameter, QueryParameter
from msgspec.structs import asdict

from domain.errors import Code
from infra.languages.wording import IN_ENGLISH
from infra.people.accounts import AccountRole, Profile
from infra.people.acts import MOST_OF_REASON
from infra.people.admission import Admission, SignupLink
from infra.people.tokens import Scope
from services.app.accounts import PAGE, account_page, log_out_account, set_suspended
from services.app.acts import acts_of
from services.app.admission import (
    admission_now,
    change_admission,
    make_signup_link,
    revoke_signup_link,
    signup_links,
)
from services.app.backups import ask_for_backup, backup_state, kept_backups
from services.app.games_off import SwitchedGame, switch_games, switched_games
from services.app.passwords import check_recent_password, make_account, replace_lost_password
from services.app.queries import find_player
from services.app.roles import require_operator, set_role
from services.http.api.auth import Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import ApiRoutes, created, refuses
from services.http.api.routes.accounts import RECENT_PASSWORD, Password, Userid
from services.words.acts import act_lines

api = ApiRoutes("administration")

_Start: TypeAlias = Annotated[
    str, QueryParameter(max_length=24, description="the beginning of the userids")
]
_Page: TypeAlias = Annotated[int, QueryParameter(ge=1, le=10**7, description="the page, from 1")]
_Named: TypeAlias = Annotated[
    str, PathParameter(max_length=24, description="the userid of the account")
]
_Reason: TypeAlias = Annotated[str, msgspec.Meta(max_length=MOST_OF_REASON)]


class AdminAccount(msgspec.Struct, frozen=True):
    """An account as an operator sees it."""

    userid: str
    created: int
    """Time at which the account was created, in ms since 1970."""
    roles: tuple[AccountRole, ...]
    suspended: bool
    suspended_until: int | None
    """When the suspension ends by itself, in ms since 1970; null for never, and without one."""
    robot: bool
    addresses: tuple[str, ...]
    language: str
    """The language of its pages; empty if none was chosen."""


class ListedAccounts(msgspec.Struct, frozen=True):
    """A page of the accounts, by userid."""

    accounts: tuple[AdminAccount, ...]
    total: int
    """The number of all accounts."""


class NewAccount(RequestBody, frozen=True):
    """An account to make for somebody."""

    userid: Userid


class NewAccountPassword(msgspec.Struct, frozen=True):
    """An account with its new password, which is shown only once."""

    userid: str
    password: str


class WithReason(RequestBody, frozen=True):
    """An act with a reason, which the record keeps."""

    why: _Reason = ""


class Suspension(WithReason, frozen=True):
    """A suspension, with a reason for the record."""

    days: int = 0
    """How long it lasts; 0 for no end."""


class WithPassword(RequestBody, frozen=True):
    """An act that needs the operator's own password, too."""

    password: Password = ""
    """Required if your token is older than ten minutes."""


class RoleChange(RequestBody, frozen=True):
    """A role to give or to take."""

    role: AccountRole
    held: bool = True
    """False to take the role."""
    password: Password = ""
    """Required if your token is older than ten minutes."""


class NewLink(RequestBody, frozen=True):
    """A sign-up link to make."""

    uses: int = 1
    """How many accounts can be made with it."""
    days: int = 14
    """For how many days it is valid."""
    note: str = ""
    """The operators' own words on whom it is for."""


class ShownLink(msgspec.Struct, frozen=True):
    """A sign-up link."""

    id: str
    uses: int
    used: int
    created: int
    """In ms since 1970, as `expires`."""
    expires: int
    note: str
    text: str = ""
    """The text with which people sign up; only in the answer that makes the link."""


class AdmissionChange(RequestBody, frozen=True):
    """Rules of the admission to change; those that are left out or null stay."""

    signups: Literal["open", "link", "closed"] | None = None
    visible_to: Literal["everybody", "members"] | None = None
    trial: Literal["on", "off"] | None = None
    clubs: Literal["operators", "members"] | None = None


_GameKeys: TypeAlias = Annotated[
    tuple[Annotated[str, msgspec.Meta(max_length=24)], ...], msgspec.Meta(max_length=100)
]


class GameSwitches(RequestBody, frozen=True):
    """Keys of games to switch off and on."""

    off: _GameKeys = ()
    on: _GameKeys = ()


class ShownAct(msgspec.Struct, frozen=True):
    """An act in the record."""

    id: str
    at: int
    """In ms since 1970."""
    act: str
    said: str
    """The act as an English sentence, without a full stop."""
    why: str


class ShownFinding(msgspec.Struct, frozen=True):
    """A finding of `matchpost doctor`."""

    level: str
    """`ok`, `note`, `warn` or `bad`."""
    about: str
    what: str
    remedy: str


class DoctorReport(msgspec.Struct, frozen=True):
    """The findings of `matchpost doctor`."""

    level: str
    """The worst level of all findings."""
    findings: tuple[ShownFinding, ...]


class ListedBackup(msgspec.Struct, frozen=True):
    """A backup at its place."""

    id: str
    begun: int
    """In ms since 1970."""


class ShownBackups(msgspec.Struct, frozen=True):
    """The backups, and how the last ones went. Times are in ms since 1970, 0 for never."""

    scheduled: bool
    """Whether one is made each day."""
    busy: bool
    """Whether one is being made, or was asked for."""
    made: int
    """When the last one that was made had been begun."""
    tried: int
    """When the last one that was restored and verified had been begun."""
    late: bool
    """Whether that is more than two days ago."""
    size: int
    """Bytes of the last one."""
    found: str
    """The result of the last verification, an English sentence without a full stop."""
    fault: str
    """Why the last one was not made, or did not hold; empty if it holds."""
    backups: tuple[ListedBackup, ...]
    """All that are kept, the newest first."""


# accounts


@api.get("/api/admin/accounts", "All accounts", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR)
def list_accounts(own: Own, starts: _Start = "", page: _Page = 1) -> ListedAccounts:
    """Return a page of 50 accounts, or the first 50 whose userids begin with `starts`."""
    found = account_page(own.app, own.account, start=(page - 1) * PAGE, starts=starts)
    return ListedAccounts(tuple(map(_account_json, found)), own.app.accounts.count())


@api.post("/api/admin/accounts", "Make an account", Scope.ADMIN, located=True, status_code=201)
@refuses(Code.NOT_AN_OPERATOR, Code.BAD_NAME, Code.NAME_TAKEN, Code.BUSY)
def admin_make_account(data: JSONBody[NewAccount], own: Own) -> Response[NewAccountPassword]:
    """Make an account for somebody, whatever the admission says, with a password that is made up."""
    password = make_account(own.app, data.userid, by=own.account)
    made = NewAccountPassword(data.userid.lower(), password)
    return created(made, f"/api/players/{made.userid}")


@api.post("/api/admin/accounts/{userid:str}/suspend", "Suspend an account", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.NOT_WANTED, Code.BAD_OPTION, Code.BUSY)
def suspend_account(userid: _Named, data: JSONBody[Suspension], own: Own) -> AdminAccount:
    """Log an account out everywhere, and let nobody log in to it or challenge it; its matches go on."""
    by = own.account
    set_suspended(own.app, userid, suspended=True, days=data.days, by=by, why=data.why)
    return _account_json(find_player(own.app, userid)[1])


@api.post("/api/admin/accounts/{userid:str}/reinstate", "Reinstate an account", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.NOT_WANTED, Code.BUSY)
def reinstate_account(userid: _Named, data: JSONBody[WithReason], own: Own) -> AdminAccount:
    """Open a suspended account again."""
    set_suspended(own.app, userid, suspended=False, by=own.account, why=data.why)
    return _account_json(find_player(own.app, userid)[1])


@api.post("/api/admin/accounts/{userid:str}/logout", "Log an account out", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.BUSY)
def admin_log_out(userid: _Named, own: Own) -> None:
    """End all sessions and tokens of an account."""
    log_out_account(own.app, userid, by=own.account)


@api.post("/api/admin/accounts/{userid:str}/reset", "Replace a lost password", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.NOT_WANTED, *RECENT_PASSWORD)
def reset_account(userid: _Named, data: JSONBody[WithPassword], own: Own) -> NewAccountPassword:
    """Replace the password of an account by one that is made up, and end all its sessions and tokens."""
    _confirm(own, data.password)
    password = replace_lost_password(own.app, userid, by=own.account)
    return NewAccountPassword(userid.lower(), password)


@api.post("/api/admin/accounts/{userid:str}/role", "Give or take a role", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.NOT_WANTED, *RECENT_PASSWORD)
def change_role(userid: _Named, data: JSONBody[RoleChange], own: Own) -> AdminAccount:
    """Set whether an account has a role."""
    _confirm(own, data.password)
    set_role(own.app, own.account, userid, data.role, held=data.held)
    return _account_json(find_player(own.app, userid)[1])


def _confirm(own: Own, password: str) -> None:
    """Check that the caller is an operator, and gave the password recently, or with the request."""
    require_operator(own.app, own.account)
    check_recent_password(own.app, own.account, password, own.token.created)


def _account_json(profile: Profile) -> AdminAccount:
    return AdminAccount(
        profile.name,
        profile.created,
        profile.roles,
        profile.suspended,
        profile.suspended_until or None,
        profile.robot is not None,
        tuple(one.address for one in profile.addresses),
        profile.language,
    )


# who comes in


@api.get("/api/admin/signup-links", "All sign-up links", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR)
def list_signup_links(own: Own) -> list[ShownLink]:
    """Return all sign-up links without their texts, the oldest first."""
    return [_link_json(link, used) for link, used in signup_links(own.app, by=own.account)]


@api.post("/api/admin/signup-links", "Make a sign-up link", Scope.ADMIN, status_code=201)
@refuses(Code.NOT_AN_OPERATOR, Code.BAD_OPTION, Code.TOO_MANY)
def admin_make_link(data: JSONBody[NewLink], own: Own) -> ShownLink:
    """Make a sign-up link; the page for it is `/signup?link=` and its text."""
    made = make_signup_link(own.app, data.uses, data.days, data.note, by=own.account)
    return _link_json(made[0], 0, made[1])


@api.delete("/api/admin/signup-links/{link:str}", "Revoke a sign-up link", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.NOT_FOUND)
def admin_revoke_link(
    link: Annotated[str, PathParameter(max_length=24, description="the link's id")], own: Own
) -> None:
    """End a sign-up link at once."""
    revoke_signup_link(own.app, link, by=own.account)


def _link_json(link: SignupLink, used: int, text: str = "") -> ShownLink:
    return ShownLink(link.id, link.uses, used, link.created, link.expires, link.note, text)


@api.get("/api/admin/admission", "The admission", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR)
def show_admission(own: Own) -> Admission:
    """Return who may make an account, and what is shown to people without one."""
    require_operator(own.app, own.account)
    return admission_now(own.app)


@api.patch("/api/admin/admission", "Change the admission", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR)
def admin_change_admission(data: JSONBody[AdmissionChange], own: Own) -> Admission:
    """Change rules of the admission; the answer comes when they are in force everywhere."""
    changes = {name: value for name, value in asdict(data).items() if value is not None}
    change_admission(own.app, changes, by=own.account)
    return admission_now(own.app)


@api.get("/api/admin/games", "The games, and which are off", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR)
def list_switched_games(own: Own) -> tuple[SwitchedGame, ...]:
    """Return all games by key, those that are off and not installed any more among them."""
    return switched_games(own.app, by=own.account)


@api.patch("/api/admin/games", "Switch games off and on", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.UNKNOWN_GAME, Code.BAD_OPTION)
def admin_switch_games(data: JSONBody[GameSwitches], own: Own) -> tuple[SwitchedGame, ...]:
    """Switch games off and on; the answer comes when that is in force everywhere."""
    switch_games(own.app, data.off, data.on, by=own.account)
    return switched_games(own.app, by=own.account)


# what was done, and how it goes


@api.get("/api/admin/acts", "The record of acts", Scope.ADMIN)
@refuses(Code.NOT_A_MODERATOR)
def list_acts(
    own: Own,
    before: Annotated[
        str,
        QueryParameter(
            pattern="^([0-9]{1,16}-[0-9]{1,9})?$",
            description="the id of an act, for those before it",
        ),
    ] = "",
) -> list[ShownAct]:
    """Return the latest 50 acts of operators, moderators and arbiters, the newest first."""
    acts = acts_of(own.app, own.account, before)
    lines = act_lines(own.app, acts, IN_ENGLISH)
    return [
        ShownAct(act.id, act.at, act.act, line.said, line.why)
        for act, line in zip(acts, lines, strict=True)
    ]


@api.get("/api/admin/health", "What the doctor finds", Scope.ADMIN, weight=3)
@refuses(Code.NOT_AN_OPERATOR)
def show_report(own: Own) -> DoctorReport:
    """Return the findings of `matchpost doctor`, at most ten seconds old."""
    require_operator(own.app, own.account)
    findings = own.context.diagnosis.read().findings
    shown = [ShownFinding(one.level.word, one.about, one.what, one.remedy) for one in findings]
    return DoctorReport(max(one.level for one in findings).word, tuple(shown))


@api.get("/api/admin/backups", "The backups", Scope.ADMIN, weight=3)
@refuses(Code.NOT_AN_OPERATOR)
def list_backups(own: Own) -> ShownBackups:
    """Return the backups that are kept, and when the last one was made and tried."""
    return _backups_json(own)


@api.post("/api/admin/backups", "Make a backup now", Scope.ADMIN)
@refuses(Code.NOT_AN_OPERATOR, Code.NOT_WANTED)
def start_backup(own: Own) -> ShownBackups:
    """Have the server make a backup and try it; it takes minutes, and `busy` and `tried` say how it went.

    While one is being made, no other one is begun.
    """
    ask_for_backup(own.app, own.account)
    return _backups_json(own)


def _backups_json(own: Own) -> ShownBackups:
    state, kept = backup_state(own.app, own.account), kept_backups(own.app, own.account)
    notes = state.notes
    return ShownBackups(
        scheduled=state.is_scheduled,
        busy=state.is_busy,
        made=notes.made,
        tried=notes.tried,
        late=state.is_late(own.app.store.now()),
        size=notes.size,
        found=notes.found,
        fault=notes.fault,
        backups=tuple(ListedBackup(one.id, one.begun) for one in kept),
    )
