"""The first page of the administration: its sections, and what an operator may do in each."""

from litestar import Response

from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.params import AccountDependency, ContextDependency, VisitorDependency

pages = Pages()


@pages.get("/admin")
def show_admin(
    context: ContextDependency, visitor: VisitorDependency, account: AccountDependency
) -> Response[str]:
    """Show the sections that the visitor may open."""
    del account  # a dependency, because the page needs one
    return render_section("admin_home.html", context, visitor, "")
