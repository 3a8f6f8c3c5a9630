"""The record: what operators, moderators and arbiters have done, the newest first."""

from litestar import Response

from services.app.acts import PAGE, acts_of
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.params import ActId, OwnPage
from services.words.acts import act_lines

pages = Pages()


@pages.get("/admin/record")
def show_record(own_page: OwnPage, before: ActId = "") -> Response[str]:
    """Show a page of the record, before the act of an id."""
    acts = acts_of(own_page.app, own_page.account, before)
    return render_section(
        "record.html",
        own_page,
        "record",
        lines=act_lines(own_page.app, acts, own_page.visitor.wording),
        before=before,
        older=acts[-1].id if len(acts) == PAGE else "",
    )
