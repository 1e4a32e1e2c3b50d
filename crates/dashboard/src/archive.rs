//! Archives and unarchives a project, once that was confirmed.

use axum::{extract::State, response::Response};
use catalog::{ProjectCatalog, ProjectChange};
use edge::Manage;
use identity::Privilege;
use maud::{Markup, html};
use wire::Error;

use super::{
    confirm::confirm,
    fields::CONFIRMED,
    form,
    layout::{At, Tab, base},
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

fn facts(archived: bool) -> Markup {
    html! { dl {
        @if archived {
            div { dt { "What stops" } dd { "Checkouts, deductions, holds, grants and new wallets by its keys and sessions: they answer 403 project_archived. Lists of projects leave it out." } }
            div { dt { "What goes on" } dd { "Reads, refunds, open holds, webhooks to your servers, running subscriptions with their renewals, and all else that the provider reports. Cancel subscriptions that are to end." } }
        } @else {
            div { dt { "What begins again" } dd { "Its keys sell and spend as before." } }
        }
    } }
}

/// `POST …/settings/archive`: changes it, once that was confirmed.
pub(super) async fn change(
    State(app): State<App>,
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let id = project.project.id;
    let archived = fields.text("archived") == "true";
    let back = format!("{}/settings", base(&project));
    if project.project.archived == archived {
        return Ok(request.done_before(&back));
    }
    if !fields.is_on(CONFIRMED) {
        let verb = if archived { "Archive" } else { "Unarchive" };
        let paths = (&*format!("{back}/archive"), &*back);
        let at = At::Project(&project, Tab::Settings);
        let title = format!("{verb} this project?");
        return Ok(confirm(
            &request,
            at,
            &fields,
            paths,
            &title,
            &facts(archived),
        ));
    }
    let change = ProjectChange {
        archived: Some(archived),
        ..ProjectChange::default()
    };
    let _saving = app.edge.saving.lock().await;
    app.catalog.update_project(id, change, None).await?;
    let (message, did) = match archived {
        true => ("archived", "Archived"),
        false => ("unarchived", "Unarchived"),
    };
    Ok(request.done(&back, message, format!("{did} project {id}")))
}
