"""Acts in words: what an operator, a moderator or an arbiter has done, as the record of acts shows it."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from domain.records import AccountId
from infra.languages.wording import N_, Wording
from infra.people.acts import TERMINAL, Act, RecordedAct
from services.app.context import App
from services.app.names import names_of

_SENTENCES: Final[Mapping[str, str]] = {
    Act.ACCOUNT_MADE: N_("%(by)s made the account %(account)s"),
    Act.PASSWORD_REPLACED: N_("%(by)s replaced the password of %(account)s"),
    Act.LOGGED_OUT: N_("%(by)s logged %(account)s out everywhere"),
    Act.SUSPENDED: N_("%(by)s suspended %(account)s"),
    Act.REINSTATED: N_("%(by)s reinstated %(account)s"),
    Act.ROLE_GIVEN: N_("%(by)s gave %(account)s a role: %(what)s"),
    Act.ROLE_TAKEN: N_("%(by)s took a role from %(account)s: %(what)s"),
    Act.ADMISSION_CHANGED: N_("%(by)s changed the admission: %(what)s"),
    Act.LINK_MADE: N_("%(by)s made the sign-up link %(what)s"),
    Act.LINK_REVOKED: N_("%(by)s revoked the sign-up link %(what)s"),
    Act.TEXT_ERASED: N_("%(by)s erased a text that %(account)s wrote in match %(what)s"),
    Act.RULED: N_("%(by)s ruled on match %(what)s"),
    Act.REPORT_DECIDED: N_("%(by)s decided on a report about %(account)s: %(what)s"),
    Act.TEXT_REMOVED: N_("%(by)s removed a text of %(account)s"),
    Act.SANCTIONED: N_("%(by)s imposed a sanction on %(account)s: %(what)s"),
    Act.SANCTION_LIFTED: N_("%(by)s lifted a sanction against %(account)s: %(what)s"),
    Act.APPEAL_TURNED_DOWN: N_("%(by)s turned down an appeal of %(account)s: %(what)s"),
    Act.CLUB_CLOSED: N_("%(by)s closed the club %(what)s"),
    Act.BROADCAST: N_("%(by)s wrote to everybody"),
    Act.FIRST_OPERATOR: N_("%(by)s became the first operator, by the link of the server’s start"),
    Act.BACKUP_ASKED: N_("%(by)s asked for a backup"),
    Act.DATA_EXPORTED: N_("%(by)s exported all data of %(account)s"),
    Act.SITE_CHANGED: N_("%(by)s changed the site: %(what)s"),
    Act.GAMES_SWITCHED: N_("%(by)s switched games off or on: %(what)s"),
}


class ActLine(msgspec.Struct, frozen=True):
    """An act as it is shown."""

    id: str
    at: int
    """Milliseconds since 1970."""
    said: str
    """The act in words, without a full stop."""
    why: str
    """The reason that was given; empty for none."""


def act_lines(app: App, acts: Sequence[RecordedAct], words: Wording) -> tuple[ActLine, ...]:
    """Return acts as they are shown, with the names that their accounts have today."""
    accounts = {one for act in acts for one in (act.by, act.account) if one}
    names = names_of(app, accounts, words)
    return tuple(ActLine(act.id, act.at, _said(act, names, words), act.why) for act in acts)


def _said(act: RecordedAct, names: Mapping[AccountId, str], words: Wording) -> str:
    by = words.gettext("The terminal") if act.by == TERMINAL else names[act.by]
    text = _SENTENCES.get(act.act, act.act)  # an act of a later version has only its code
    return words.gettext(text, by=by, account=names.get(act.account, ""), what=act.what)
