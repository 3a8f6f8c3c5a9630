"""Commands about clubs: list them, show one, join, leave, and write to all members."""

from typing import Final

from infra.languages.wording import N_
from infra.people.clubs import Club
from services.app import clubs as use_cases
from services.app.names import names_of
from services.language.answer import Answer
from services.language.form import OWN, signed
from services.language.handlers.messages import text_of
from services.language.invocation import Invocation
from services.words.clubs import pairing_rule, role_name, way_to_join


def clubs(call: Invocation) -> Answer:
    """List the clubs that the account may see."""
    own = {club.id: role for club, role in call.app.clubs.of(call.account())}
    lines = []
    for club in use_cases.clubs_for(call.app, call.account()):
        if club.id in own:
            lines.append(f"{club.path}  {club.name} ({role_name(own[club.id], call.words)})")
        elif not club.closed:
            lines.append(f"{club.path}  {club.name}")
    return Answer(page="\n".join(lines) or call.words.gettext("there are no clubs yet"))


def club(call: Invocation) -> Answer:
    """Show a club: its text, its members, and the announcements for them."""
    words, view = call.words, use_cases.view_of(call.app, call.account(), call.line.get("value"))
    accounts = [one.account for one in view.members] + [one.author for one in view.news]
    names = names_of(call.app, accounts, words)
    members = (f"{names[one.account]} ({role_name(one.role, words)})" for one in view.members)
    rule = pairing_rule(words) if view.club.pairs_members and not view.club.closed else ""
    parts = [view.club.name, view.club.text, rule, *members]
    parts += [f"{words.stamp(one.at)} {names[one.author]}: {one.text}" for one in view.news]
    is_closed = words.gettext("this club is closed") if view.club.closed else ""
    return Answer(
        is_closed or way_to_join(view.club.joining, words), "\n".join(filter(None, parts))
    )


def join(call: Invocation) -> Answer:
    """Join a club, by its path or by a link."""
    if call.line.has("link"):
        found = use_cases.join_by_link(call.app, call.account(), call.line.get("link"))
        return _joined(call, found, is_member=True)
    path = call.line.get("value")
    is_member = use_cases.join(call.app, call.account(), path)
    found = use_cases.club_at(call.app, call.account(), path)
    return _joined(call, found, is_member=is_member)


def _joined(call: Invocation, found: Club, *, is_member: bool) -> Answer:
    words = call.words
    said = (
        words.gettext("you are a member of %(club)s now", club=found.name)
        if is_member
        else words.gettext("an organiser of %(club)s will answer", club=found.name)
    )
    return Answer(said, pairing_rule(words) if found.pairs_members else "")


def leave(call: Invocation) -> Answer:
    """Leave a club, or take a request back."""
    use_cases.leave(call.app, call.account(), call.line.get("value"))
    return Answer(call.words.gettext("you are no member of the club"))


def announce(call: Invocation) -> Answer:
    """Write to all members of a club."""
    use_cases.announce(call.app, call.actor, call.line.get("value"), text_of(call))
    return Answer(call.words.gettext("every member will find it in `messages`"))


FORMS: Final = (
    signed("clubs", "clubs", OWN, N_("list the clubs of this server"), clubs),
    signed("club", "club", f"{OWN} CLUB", N_("show a club, its members and announcements"), club),
    signed("join", "join", f"{OWN} CLUB|--link=LINK", N_("join a club, or ask to"), join),
    signed("leave", "leave", f"{OWN} CLUB", N_("leave a club"), leave),
    signed(
        "announce",
        "announce",
        f"{OWN} CLUB TEXT",
        N_("write to all members of a club, as one of its organisers"),
        announce,
    ),
)
