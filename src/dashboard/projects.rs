//! `/dashboard`: the projects, and making one.

use axum::{
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use domain::catalog::{Account, Mode};
use maud::{Markup, html};

use super::{
    audit::deed,
    fields::Fields,
    form::{self, Form, Label},
    shell::{self, At, base},
    visit::{Posted, Visit},
};
use crate::{
    catalog::{NewProject, ProjectCatalog},
    deprecations,
    http::Error,
    state::App,
};

/// How a project's wallets are addressed, as a form sends it.
pub(super) const MODES: [(&str, &str); 2] = [
    ("credit_codes", "Recovery codes and your own user ids"),
    ("external_users", "Your own user ids only"),
];

pub(super) fn mode(fields: &Fields) -> Mode {
    match fields.text("mode") {
        "external_users" => Mode::ExternalUsers,
        _ => Mode::CreditCodes,
    }
}

pub(super) const fn mode_text(mode: Mode) -> &'static str {
    match mode {
        Mode::CreditCodes => "credit_codes",
        Mode::ExternalUsers => "external_users",
    }
}

/// Who takes a project's money, in a word.
pub(super) fn provider(project: &ProjectCatalog) -> &'static str {
    match project.provider().map(|provider| &provider.account) {
        Some(Account::Stripe(_)) => "Stripe",
        Some(Account::Sandbox) => "Sandbox",
        Some(Account::None) | None => "None",
    }
}

/// `GET /dashboard`
pub(super) async fn list(visit: Visit, State(app): State<App>) -> Response {
    let fields = Fields::default();
    let form = Form::new(&fields, None);
    shell::page(&visit, At::Projects, "Projects", &page(&visit, &app, form))
}

/// `POST /dashboard`
pub(super) async fn create(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let new = NewProject {
        name: fields.text("name").to_owned(),
        mode: mode(&fields),
    };
    match app.catalog.create_project(new).await {
        Ok((project, publishable, secret)) => {
            let keys = vec![
                ("Publishable key", publishable.plain),
                ("Secret key", secret.plain),
            ];
            app.dashboard.keep_keys(&visit.signed, keys);
            let path = format!("/dashboard/projects/{}/keys", project.id);
            let what = format!("Made project {} “{}”", project.id, project.name);
            let response = Redirect::to(&format!("{path}?done=made")).into_response();
            Ok(deed(response, &visit.signed, what))
        }
        Err(error) => {
            let error = error.into();
            let form = Form::new(&fields, Some(&error));
            let page = page(&visit, &app, form);
            Ok(refused(
                &error,
                shell::page(&visit, At::Projects, "Projects", &page),
            ))
        }
    }
}

/// A form's page again, with the status of what is wrong.
pub(super) fn refused(error: &Error, mut page: Response) -> Response {
    *page.status_mut() = error.code().status();
    page
}

fn page(visit: &Visit, app: &App, form: Form<'_>) -> Markup {
    let catalog = app.catalog.current();
    let projects: Vec<_> = catalog.projects().collect();
    html! {
        h1 { "Projects" }
        (deprecations::section(deprecations::ALL))
        @if projects.is_empty() { p.empty { "There is no project yet. Make one to get its keys." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Projects" { table {
                thead { tr { th { "Name" } th { "Products" } th { "Payments" } th { "Identifier" } } }
                tbody { @for project in projects { tr {
                    td { a href=(base(project)) { (project.project.name) } }
                    td { (project.products().count()) }
                    td { (provider(project)) }
                    td { code { (project.project.id) } }
                } } }
            } }
        }
        section.card {
            h2 { "New project" }
            (form.alert(&["name"]))
            form method="post" action="/dashboard" {
                (form::token(visit))
                (form.text(&Label("name", "Name", "What you call it; buyers do not see it.")))
                (form.choice(&Label("mode", "Wallets are addressed by", ""), &MODES))
                button.primary type="submit" { "Make project" }
            }
        }
    }
}
