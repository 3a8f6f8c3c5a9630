"""Accounts: sign up, log in, change and delete.

A function that takes a password checks the server's durability first, because even a right password
changes stored data. So nothing that an account does later needs to check it again.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from typing import Final

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.state import robot_level
from domain.records import AccountId
from infra.mail.account_changes import erase_mail
from infra.people.accounts import Account, Profile
from infra.people.accounts.usernames import Lookalikes
from infra.people.accounts.writing import refuse_suspended
from infra.people.admission import SignupLink
from infra.people.clubs import ClubRole
from infra.people.rate_limits import SecurityEvent, note_security
from infra.people.sessions import FreshSession, Session
from infra.projections.erasure import erase_projections
from infra.sentences import SAY as OF_ACCOUNTS
from infra.sentences import day_of
from services.app.acts import TERMINAL, Act, check_reason, record_act
from services.app.admission import admitted
from services.app.context import App
from services.app.roles import require_operator
from services.app.sanctions import end_after
from services.app.sentences import SAY
from services.app.tournaments import leave_all
from services.app.userids import claimed_userid

_AT_ONCE = 200
"""Userids that are read at once."""

PAGE: Final = 50
"""Accounts of a page."""


def sign_up(
    app: App,
    userid: str,
    password: str,
    addresses: Sequence[str] = (),
    *,
    link: str = "",
    by_operator: bool = False,
) -> AccountId:
    """Make an account, with a sign-up link if one is needed; the operator needs none.

    A link that has a club makes a member of it, too. `bad-name`, `bad-password`, `bad-address`, `name-taken` or
    `signups-closed`.
    """
    app.ready()
    admission = nullcontext() if by_operator else admitted(app, link)
    with admission as used, claimed_userid(app, userid):
        account = app.accounts.signup(userid, password, addresses, is_counted=not by_operator)
    begin_account(app, account, used)
    return account


def begin_account(app: App, account: AccountId, used: SignupLink | None) -> None:
    """Do what every new account needs; the sign-up link that made it may make it a member of a club."""
    club = app.clubs.get(used.club) if used and used.club else None
    if used and club and not club.closed:
        # crash window: an account that is no member; the club's next link, or an organiser, makes it one
        with suppress(Refusal):  # the club is full: the account is made all the same
            app.clubs.put_member(club, account, ClubRole(used.role or ClubRole.MEMBER))
    # crash window: an account without the mark sees broadcasts from before it was made
    app.messages.mark_born(account)


def authenticate(
    app: App, userid: str, password: str, code: str = "", *, proven: bool = False
) -> AccountId:
    """Return the account whose password this is; refuses as `Accounts.verify` does.

    An account that has a second factor needs a code, too, unless it is `proven` by a session or a token.
    """
    app.ready()
    try:
        return app.accounts.verify(userid, password, code, proven=proven)
    except Refusal as reason:
        if reason.code == Code.UNKNOWN_USER and app.admissions.recent().for_members_only:
            # nobody outside learns who is a member
            raise Refusal(
                Code.WRONG_PASSWORD, OF_ACCOUNTS("wrong-password", name=userid.lower())
            ) from None
        raise


def own_profile(app: App, account: AccountId) -> Profile:
    """Return the profile of an account that has just been proven."""
    found = app.accounts.record_of(account)
    if found is None:
        raise Refusal(Code.UNKNOWN_USER, SAY("deleted"))
    return found


def change_password(
    app: App,
    account: AccountId,
    old: str,
    new: str,
    *,
    session: str = "",
    tokens: bool = True,
    proven: bool = False,
) -> None:
    """Replace a password, and end access as `Accounts.end_access` does, but for the session of this id.

    Tokens and passkeys stay without `tokens`. Mail to the proven addresses says so. `proven` as in `authenticate`.
    """
    app.ready()
    name = own_profile(app, account).name
    app.accounts.change_password(name, old, new, session=session, tokens=tokens, proven=proven)


def add_addresses(app: App, account: AccountId, addresses: Sequence[str]) -> None:
    """Add mail addresses to those that an account has; `bad-address`."""
    app.accounts.add_addresses_of(account, addresses)


def replace_addresses(app: App, account: AccountId, addresses: Sequence[str]) -> None:
    """Replace all mail addresses of an account; `bad-address`. Mail to the old ones says so."""
    app.accounts.change_addresses_of(account, addresses)


def prove_address(app: App, account: AccountId, code: str) -> str:
    """Return the address that a code proves; `bad-address` for a code that proves nothing."""
    return app.standing.prove(account, code)


def sign_off(app: App, account: AccountId) -> None:
    """End all mail to an account."""
    app.accounts.change_of(account, lambda record: replace(record, signed_off=True))


def delete_account(app: App, userid: str, password: str, *, proven: bool = False) -> None:
    """Erase an account and all personal data, for good; its matches stay. `proven` as in `authenticate`.

    Repeated after a crash, it erases what is left. Nobody else can have the userid for a year.
    """
    app.ready()

    def erase(account: AccountId) -> None:
        erase_account(app, account)
        if app.accounts.record_of(account) is None:
            Lookalikes(app.people).rest(userid)

    app.accounts.delete(userid, password, erase, proven=proven)


def delete_bot_account(app: App, name: str) -> None:
    """Delete the account of a bot, whose owner has been proven; `unknown-user`."""

    def erase(account: AccountId) -> None:
        erase_account(app, account)
        if app.accounts.record_of(account) is None:
            Lookalikes(app.people).rest(name)

    app.accounts.delete(name, None, erase)


def erase_account(app: App, account: AccountId) -> None:
    """Erase everything stored about an account except its record, and its bots wholly; safe to repeat."""
    for name in app.accounts.bots_of(account):
        with suppress(Refusal):  # it is being deleted elsewhere
            delete_bot_account(app, name)
    leave_all(app, account)
    for part in (
        app.messages,
        app.grants,
        app.tokens,
        app.challenges,
        app.blocks,
        app.follows,
        app.starts,
        app.seen_texts,
        app.sessions,
        app.notes,
        app.push_subscriptions,
        app.hooks,
        app.calendar_links,
        app.statements,
        app.clubs,
        app.pairing_batches,
        app.moderation,
    ):
        part.forget(account)
    app.store.forget_refused(account)
    erase_mail(app.people, account)
    erase_projections(app.people, account)


# sessions


def open_session(
    app: App, account: AccountId, browser: str, former: Session | None = None
) -> FreshSession:
    """Open a session, and end the one that the browser had, so that its id is no longer valid."""
    close_session(app, former)
    opened = app.sessions.open(account, browser)
    end_if_suspended(app, account)
    return opened


def end_if_suspended(app: App, account: AccountId) -> None:
    """End what was just opened for an account that was suspended meanwhile, and refuse it."""
    profile = own_profile(app, account)
    if profile.suspended:
        log_out_everywhere(app, account)
    refuse_suspended(profile)


def close_session(app: App, session: Session | None) -> None:
    """End a session, if there is one."""
    if session is not None:
        app.sessions.end(session.account, session.id)


def end_session(app: App, account: AccountId, id_: str) -> None:
    """End one of an account's sessions; `not-found` for an id that it does not have."""
    if not app.sessions.end(account, id_):
        raise Refusal(Code.NOT_FOUND, SAY("no-session"))


def log_out_everywhere(app: App, account: AccountId) -> None:
    """End all access to an account: see `Accounts.end_access`."""
    app.accounts.end_access(account)


# the operator


def refuse_robot(account: AccountId, userid: str) -> None:
    """Refuse what an operator does to the account of a robot: `not-wanted`."""
    if robot_level(account):
        raise Refusal(Code.NOT_WANTED, f"{userid.lower()} is a robot; MATCHPOST_ROBOTS=0 stops all")


def all_profiles(app: App) -> Iterator[Profile]:
    """Yield the profiles of all accounts, by userid."""
    names = app.accounts.names_after("", _AT_ONCE)
    while names:
        yield from _profiles_of(app, names)
        names = app.accounts.names_after(names[-1], _AT_ONCE)


def _profiles_of(app: App, names: Sequence[str]) -> Iterator[Profile]:
    for name in names:
        with suppress(Refusal):  # it has just been deleted
            yield own_profile(app, app.accounts.id_of(name))


def account_page(app: App, by: AccountId, *, start: int = 0, starts: str = "") -> list[Profile]:
    """Return the profiles of a page of accounts, by userid, as an operator; `not-an-operator`.

    They are from index `start` on, or else the first whose userids begin with `starts`.
    """
    require_operator(app, by)
    listed = app.accounts
    names = listed.names_starting(starts, PAGE) if starts else listed.names(start, PAGE)
    return list(_profiles_of(app, names))


def log_out_account(app: App, userid: str, *, by: AccountId = TERMINAL) -> None:
    """End all sessions and tokens of an account, as an operator; `not-an-operator`, `unknown-user`."""
    require_operator(app, by)
    account = app.accounts.id_of(userid)
    log_out_everywhere(app, account)
    record_act(app, by, Act.LOGGED_OUT, account)


def set_suspended(
    app: App,
    userid: str,
    *,
    suspended: bool,
    days: int = 0,
    by: AccountId = TERMINAL,
    why: str = "",
) -> None:
    """Close an account, for so many days or for good, or open it again: nobody can log in to a closed one.

    Nor can anybody act for it or challenge it. Its own open challenges end. Its matches go on, and are lost on time.
    `not-an-operator`; `not-wanted` for a robot, and for the operator's own account; `too-long` for a reason, `bad-option`.
    """
    app.ready()
    require_operator(app, by)
    check_reason(why)
    account = app.accounts.id_of(userid)
    refuse_robot(account, userid)
    if suspended and account == by:
        # so one operator is left, who can reinstate the others
        raise Refusal(Code.NOT_WANTED, SAY("suspend-self"))
    until = end_after(app, days)
    if suspended:
        close_account(app, account, until)
    else:
        reopen_account(app, account)
    act = Act.SUSPENDED if suspended else Act.REINSTATED
    record_act(app, by, act, account, what=day_of(until) if until else "", why=why)


def close_account(app: App, account: AccountId, until: int = 0) -> None:
    """Suspend an account for somebody who may, until a time, in ms, or for good with 0.

    It is logged out everywhere, and its challenges end. Of two suspensions the longer holds. Its bots are suspended, too.
    """
    for bot in app.accounts.bots_of(account).values():
        close_account(app, bot, until)
    now = app.store.now()

    def closed(record: Account) -> Account:
        was, ends = record.as_of(now), until
        if was.suspended:
            ends = max(until, was.suspended_until) if until and was.suspended_until else 0
        return replace(record, suspended=True, suspended_until=ends)

    app.accounts.change_of(account, closed)
    # after the change, because what was opened before it ends here, and nothing is opened later
    log_out_everywhere(app, account)
    app.challenges.forget(account)
    note_security(SecurityEvent.ACCOUNT_SUSPENDED, account)


def reopen_account(app: App, account: AccountId, *, still_until: int | None = None) -> None:
    """Reinstate an account with its bots for somebody who may; with `still_until` it stays suspended until then, for good with 0."""
    for bot in app.accounts.bots_of(account).values():
        reopen_account(app, bot, still_until=still_until)
    if still_until is not None:
        app.accounts.change_of(account, lambda one: replace(one, suspended_until=still_until))
        return
    app.accounts.change_of(
        account, lambda record: replace(record, suspended=False, suspended_until=0)
    )
    note_security(SecurityEvent.ACCOUNT_REINSTATED, account)


# tokens


def revoke_token(app: App, account: AccountId, id_: str) -> None:
    """End a token, at once and everywhere; `not-found` for an id that the account does not have.

    With the token of an app ends the grant that would give it the next one.
    """
    grant = next((one.grant for one in app.tokens.list_of(account) if one.id == id_), "")
    ended = bool(grant) and app.grants.end(account, grant)
    if not app.tokens.revoke(account, id_) and not ended:
        raise Refusal(Code.NOT_FOUND, SAY("no-token"))
