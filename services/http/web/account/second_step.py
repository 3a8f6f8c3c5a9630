"""The second half of a log-in: a code, a passkey, or the group's own provider."""

from typing import Annotated, Any

from litestar import Response
from litestar.params import QueryParameter

from domain.errors import Code, Refusal
from services.app import provided_accounts, second_factors
from services.app.error_codes import CODE_INFO
from services.http.context import ApiContext
from services.http.web.account.login import enter, login_page
from services.http.web.declared import Pages
from services.http.web.params import ContextDependency, FormDependency, VisitorDependency
from services.http.web.render import local_path, render
from services.http.web.session import AnyRequest, Visitor, browser_proof

pages = Pages()

StateText = Annotated[str, QueryParameter(name="state", max_length=100)]
CodeText = Annotated[str, QueryParameter(name="code", max_length=4_000)]


@pages.post("/login/code", for_guests=True)
def send_code(
    request: AnyRequest,
    open_form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Take a code of an app or a recovery code, and open a session."""
    step, wanted = open_form.get("step"), open_form.get("next")
    try:
        account = second_factors.finish_login(
            context.app, step, open_form.get("code"), browser_proof(visitor)
        )
    except Refusal as reason:
        if reason.code is Code.NOT_FOUND:
            return _again(context, visitor, wanted, reason)
        said, status = reason.in_language(visitor.wording), CODE_INFO[reason.code].status
        return _code_page(visitor, step, wanted, said, status)
    return enter(request, context, visitor, account, local_path(wanted))


def _code_page(
    visitor: Visitor, step: str, wanted: str, feedback: str = "", status: int = 200
) -> Response[str]:
    return render("code.html", visitor, status=status, step=step, wanted=wanted, feedback=feedback)


def _again(context: ApiContext, visitor: Visitor, wanted: str, reason: Refusal) -> Response[str]:
    """Return the log-in page, with why it begins again."""
    said, status = reason.in_language(visitor.wording), CODE_INFO[reason.code].status
    return login_page(context, visitor, wanted=wanted, feedback=said, status=status)


# passkeys


@pages.post("/login/passkey/ask", for_guests=True)
def ask_passkey(
    open_form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return what the browser is asked to sign, for the page's script."""
    del open_form  # it checks the token
    try:
        asked = second_factors.ask_passkey(context.app, visitor.site, browser_proof(visitor))
    except Refusal as reason:
        said = reason.in_language(visitor.wording)
        return Response({"said": said}, status_code=CODE_INFO[reason.code].status)
    return Response({"step": asked.step, "options": asked.options}, status_code=200)


@pages.post("/login/passkey", for_guests=True)
def log_in_by_passkey(
    request: AnyRequest,
    open_form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Check what a passkey has signed, and open a session."""
    wanted, browser = open_form.get("next"), browser_proof(visitor)
    step, answer = open_form.get("step"), open_form.raw("answer")
    try:
        account = second_factors.log_in_by_passkey(context.app, visitor.site, step, answer, browser)
    except Refusal as reason:
        return _again(context, visitor, wanted, reason)
    return enter(request, context, visitor, account, local_path(wanted))


# the provider


@pages.post("/login/provider", for_guests=True)
def go_to_provider(
    open_form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Send the browser to the provider, by a page, because a form leads to no other site."""
    wanted, browser = open_form.get("next"), browser_proof(visitor)
    try:
        address = provided_accounts.begin_sign_in(
            context.app, visitor.site, browser, wanted, open_form.get("link")
        )
    except Refusal as reason:
        return _again(context, visitor, wanted, reason)
    label = context.app.settings.oidc_label
    page = render("to_provider.html", visitor, address=address, label=label)
    page.headers["Cache-Control"] = "no-store"
    return page


@pages.get("/login/provider", for_guests=True)
def come_from_provider(
    request: AnyRequest,
    context: ContextDependency,
    visitor: VisitorDependency,
    answered: StateText = "",
    code: CodeText = "",
) -> Response[str]:
    """Take the provider's answer, and open a session, or ask for the userid of a new account."""
    app, browser = context.app, browser_proof(visitor)
    try:
        found = provided_accounts.end_sign_in(app, visitor.site, answered, code, browser)
    except Refusal as reason:
        return _again(context, visitor, "/", reason)
    if found.account is None:
        shown = {"name": found.name, "step": found.step, "wanted": found.wanted}
        return _new_account(visitor, link=found.link, feedback="", status=200, **shown)
    try:
        entry = second_factors.go_on(app, found.account, browser)
    except Refusal as reason:
        return _again(context, visitor, found.wanted, reason)
    if entry.step:
        return _code_page(visitor, entry.step, found.wanted)
    return _enter_here(request, context, visitor, found.account, found.wanted)


def _enter_here(
    request: AnyRequest, context: ApiContext, visitor: Visitor, account: bytes, wanted: str
) -> Response[str]:
    return enter(request, context, visitor, account, local_path(wanted or "/"))


def _new_account(visitor: Visitor, *, status: int, **shown: Any) -> Response[str]:
    return render("provided.html", visitor, status=status, **shown)


@pages.post("/signup/provider", for_guests=True)
def make_account(
    request: AnyRequest,
    open_form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Make the account of somebody whom the provider has confirmed, and open its first session."""
    step, name, wanted, link = map(open_form.get, ("step", "userid", "next", "link"))
    try:
        account = provided_accounts.make_provided_account(
            context.app, step, name, browser_proof(visitor), link=link
        )
    except Refusal as reason:
        if reason.code is Code.NOT_FOUND:
            return _again(context, visitor, wanted, reason)
        said, status = reason.in_language(visitor.wording), CODE_INFO[reason.code].status
        shown = {"name": name, "step": step, "wanted": wanted, "link": link, "feedback": said}
        return _new_account(visitor, status=status, **shown)
    return _enter_here(request, context, visitor, account, wanted)
