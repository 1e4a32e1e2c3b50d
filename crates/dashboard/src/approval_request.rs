//! Where requests for approval are, and what forms say of them.

use catalog::ProjectCatalog;
use maud::{Markup, html};
use operator::guards_changes;

use super::{layout::base, page_request::PageRequest};

pub(super) fn path(project: &ProjectCatalog) -> String {
    format!("{}/approvals", base(project))
}

/// The hint of a form for a change that may require approval.
pub(super) fn notice(request: &PageRequest, project: &ProjectCatalog, what: &str) -> Markup {
    html! { @if guards_changes(&request.authority, project) {
        p.hint { (what) " require approval by a second person. The request expires after seven days." }
    } }
}
