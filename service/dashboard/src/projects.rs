//! `/dashboard`: lists projects and creates them.

use axum::{extract::State, response::Response};
use catalog::{NewProject, ProjectCatalog};
use domain::catalog::Account;
use maud::html;

use super::{
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, At, base},
    page_request::{FormPost, PageRequest},
};
use crate::state::App;

/// How a project's wallets are addressed: the form's values and their texts.
pub(super) const MODES: [(&str, &str); 2] = [
    ("credit_codes", "Recovery codes and your own user ids"),
    ("external_users", "Your own user ids only"),
];

/// The name of a project's payment provider.
pub(super) fn provider(project: &ProjectCatalog) -> &'static str {
    match project.provider().map(|provider| &provider.account) {
        Some(Account::Stripe(_)) => "Stripe",
        Some(Account::Sandbox) => "Sandbox",
        Some(Account::None) | None => "None",
    }
}

/// `GET /dashboard`: the projects.
pub(super) async fn list(request: PageRequest, State(app): State<App>) -> Response {
    let fields = Fields::default();
    let form = Form::new(&fields, None);
    page(&request, &app, form)
}

/// `POST /dashboard`: creates a project with a first pair of keys.
pub(super) async fn create(State(app): State<App>, posted: FormPost) -> Response {
    let FormPost { request, fields } = posted;
    let new = NewProject {
        name: fields.text("name").to_owned(),
        mode: fields.choice("mode").unwrap_or_default(),
    };
    match app.catalog.create_project(new).await {
        Ok((project, publishable, secret)) => {
            let keys = vec![
                ("Publishable key", publishable.plain),
                ("Secret key", secret.plain),
            ];
            app.sessions.keep_keys(&request.signed, keys);
            let path = format!("/dashboard/projects/{}/keys", project.id);
            let what = format!("Created project {} “{}”", project.id, project.name);
            request.done(&path, "made", what)
        }
        Err(error) => page(&request, &app, Form::new(&fields, Some(&error.into()))),
    }
}

fn page(request: &PageRequest, app: &App, form: Form<'_>) -> Response {
    let catalog = app.catalog.current();
    let projects: Vec<_> = catalog.projects().collect();
    let body = html! {
        h1 { "Projects" }
        @if projects.is_empty() { p.empty { "There is no project yet. Create one to get its keys." } } @else {
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
                (form::token(request))
                (form.text(&FieldLabel("name", "Name", "For yourself; buyers do not see it.")))
                (form.choice(&FieldLabel("mode", "Wallets are addressed by", ""), &MODES))
                button.primary type="submit" { "Create project" }
            }
        }
    };
    form.response(layout::page(request, At::Projects, "Projects", &body))
}
