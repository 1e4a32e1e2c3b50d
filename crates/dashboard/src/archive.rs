//! The form that archives a project, or takes it out of the archive.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use identity::Privilege;
use maud::{Markup, html};
use operator::ArchiveProject;
use wire::Error;

use super::{
    confirm::ActionForm,
    form,
    layout::{Tab, base},
    page_request::{FormPost, PageRequest},
};
use crate::state::App;

/// The card with the button that archives the project, or takes it out of the archive.
pub(super) fn card(request: &PageRequest, project: &ProjectCatalog) -> Markup {
    html! { @if request.may(Privilege::Manage) {
        section.card #archive {
            h2 { "Archive" }
            form method="post" action={ (base(project)) "/settings/archive" } {
                (form::token(request))
                @if project.project.archived {
                    p { "The project sells again, and lists have it." }
                    button name="archived" value="false" type="submit" { "Unarchive…" }
                } @else {
                    p { "Nothing new is sold or spent, and lists leave it out. It can be unarchived." }
                    button.danger name="archived" value="true" type="submit" { "Archive…" }
                }
            }
        }
    } }
}

/// `POST …/settings/archive`: changes it, once that was confirmed.
pub(super) async fn change(
    State(app): State<App>,
    posted: FormPost<ArchiveProject>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let archived = fields.text("archived") == "true";
    let message = if archived { "archived" } else { "unarchived" };
    let back = format!("{}/settings", base(&project));
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Settings);
    form.run(ArchiveProject(archived), &back, message).await
}
