"""The second half of a log-in: a code, a passkey, or the group's own provider."""

from functools import partial
from typing import Annotated, Any

from litestar import Response
from litestar.params import QueryParameter

from domain.errors import Code, Refusal
from services.app import provided_accounts, second_factors
from services.http.web.account.login import enter, for_script, login_page
from services.http.web.declared import Pages
from services.http.web.params import Asked, FormDependency
from services.http.web.render import render, secret_page
from services.http.web.session import AnyRequest, browser_proof

pages = Pages()

StateText = Annotated[str, QueryParameter(name="state", max_length=100)]
CodeText = Annotated[str, QueryParameter(name="code", max_length=4_000)]


@pages.post("/login/code", for_guests=True)
def send_code(request: AnyRequest, open_form: FormDependency) -> Response[str]:
    """Take a code of an app or a recovery code, and open a session."""
    step, wanted, visitor = open_form.get("step"), open_form.get("next"), open_form.visitor
    try:
        account = second_factors.finish_login(
            open_form.app, step, open_form.get("code"), browser_proof(visitor)
        )
    except Refusal as reason:
        if reason.code is Code.NOT_FOUND:
            return login_page(open_form, wanted=wanted, reason=reason)
        return render("code.html", visitor, step=step, wanted=wanted, reason=reason)
    return enter(request, open_form, account, wanted)


# passkeys


@pages.post("/login/passkey/ask", for_guests=True)
def ask_passkey(open_form: FormDependency) -> Response[Any]:
    """Return what the browser is asked to sign, for the page's script."""
    app, visitor = open_form.app, open_form.visitor
    asked = partial(second_factors.ask_passkey, app, visitor.site, browser_proof(visitor))
    return for_script(visitor, asked)


@pages.post("/login/passkey", for_guests=True)
def log_in_by_passkey(request: AnyRequest, open_form: FormDependency) -> Response[str]:
    """Check what a passkey has signed, and open a session."""
    app, visitor, wanted = open_form.app, open_form.visitor, open_form.get("next")
    step, answer, browser = open_form.get("step"), open_form.raw("answer"), browser_proof(visitor)
    try:
        account = second_factors.log_in_by_passkey(app, visitor.site, step, answer, browser)
    except Refusal as reason:
        return login_page(open_form, wanted=wanted, reason=reason)
    return enter(request, open_form, account, wanted)


# the provider


@pages.post("/login/provider", for_guests=True)
def go_to_provider(open_form: FormDependency) -> Response[str]:
    """Send the browser to the provider, by a page, because a form leads to no other site."""
    app, visitor, wanted = open_form.app, open_form.visitor, open_form.get("next")
    try:
        address = provided_accounts.begin_sign_in(
            app, visitor.site, browser_proof(visitor), wanted, open_form.get("link")
        )
    except Refusal as reason:
        return login_page(open_form, wanted=wanted, reason=reason)
    label = app.settings.oidc_label
    return secret_page("to_provider.html", visitor, address=address, label=label)


@pages.get("/login/provider", for_guests=True)
def come_from_provider(
    request: AnyRequest, asked: Asked, answered: StateText = "", code: CodeText = ""
) -> Response[str]:
    """Take the provider's answer, and open a session, or ask for the userid of a new account."""
    app, visitor, browser = asked.app, asked.visitor, browser_proof(asked.visitor)
    try:
        found = provided_accounts.end_sign_in(app, visitor.site, answered, code, browser)
    except Refusal as reason:
        return login_page(asked, wanted="/", reason=reason)
    if found.account is None:
        return render(
            "provided.html",
            visitor,
            name=found.name,
            step=found.step,
            wanted=found.wanted,
            link=found.link,
        )
    try:
        entry = second_factors.go_on(app, found.account, browser)
    except Refusal as reason:
        return login_page(asked, wanted=found.wanted, reason=reason)
    if entry.step:
        return render("code.html", visitor, step=entry.step, wanted=found.wanted)
    return enter(request, asked, found.account, found.wanted)


@pages.post("/signup/provider", for_guests=True)
def make_account(request: AnyRequest, open_form: FormDependency) -> Response[str]:
    """Make the account of somebody whom the provider has confirmed, and open its first session."""
    step, name, wanted, link = map(open_form.get, ("step", "userid", "next", "link"))
    visitor = open_form.visitor
    try:
        account = provided_accounts.make_provided_account(
            open_form.app, step, name, browser_proof(visitor), link=link
        )
    except Refusal as reason:
        if reason.code is Code.NOT_FOUND:
            return login_page(open_form, wanted=wanted, reason=reason)
        return render(
            "provided.html", visitor, name=name, step=step, wanted=wanted, link=link, reason=reason
        )
    return enter(request, open_form, account, wanted)
