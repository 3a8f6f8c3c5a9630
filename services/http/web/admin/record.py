"""The record: what operators, moderators and arbiters have done, the newest first."""

from litestar import Response

from services.app.acts import PAGE, acts_of
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.params import AccountDependency, ActId, ContextDependency, VisitorDependency
from services.words.acts import act_lines

pages = Pages()


@pages.get("/admin/record")
def show_record(
    context: ContextDependency,
    visitor: VisitorDependency,
    account: AccountDependency,
    before: ActId = "",
) -> Response[str]:
    """Show a page of the record, before the act of an id."""
    acts = acts_of(context.app, account, before)
    return render_section(
        "record.html",
        context,
        visitor,
        "record",
        lines=act_lines(context.app, acts, visitor.wording),
        before=before,
        older=acts[-1].id if len(acts) == PAGE else "",
    )
