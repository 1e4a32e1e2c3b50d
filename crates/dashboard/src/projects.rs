//! `/dashboard`: lists projects and creates them.

use catalog::{MintedKey, NewProject};
use domain::{
    catalog::{Account, Project},
    id::ProjectId,
};
use operator::CreateProject;
use serde::{Deserialize, Serialize};

use super::{DashboardState, elsewhere, prelude::*};

/// How a project's wallets are addressed: the form's values and their texts.
pub(super) const MODES: [(&str, &str); 2] = [
    ("credit_codes", "Recovery codes and your own user ids"),
    ("external_users", "Your own user ids only"),
];

pub(super) fn provider(project: &ProjectCatalog) -> &'static str {
    match project.provider().map(|provider| &provider.account) {
        Some(Account::Stripe(_)) => "Stripe",
        Some(Account::Sandbox) => "Sandbox",
        Some(Account::None) | None => "None",
    }
}

/// A project as a list of all cells' shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProjectLine {
    /// The identifier of the project.
    pub id: ProjectId,
    /// The name of the project.
    pub name: String,
    /// How many products it has.
    pub products: usize,
    /// Its payment provider.
    pub provider: String,
    /// Whether it is archived.
    pub archived: bool,
}

/// The projects of this process' cell, in the order in which they were made.
#[must_use]
pub fn project_lines(app: &DashboardState) -> Vec<ProjectLine> {
    let catalog = app.catalog.current();
    let lines = catalog.projects().map(|project| ProjectLine {
        id: project.project.id,
        name: project.project.name.clone(),
        products: project.products().count(),
        provider: provider(project).into(),
        archived: project.project.archived,
    });
    lines.collect()
}

pub(super) async fn list(request: PageRequest<NoProject>) -> Response {
    let fields = Fields::default();
    let form = Form::new(&fields, None);
    page(&request, form).await
}

pub(super) async fn create(request: FormPost<CreateProject, NoProject>) -> PageResult {
    let new = NewProject {
        name: request.fields.text("name").to_owned(),
        mode: request.fields.choice("mode").unwrap_or_default(),
    };
    let page = |(project, publishable, secret): (Project, MintedKey, MintedKey), _| {
        let keys = [
            ("Publishable key", publishable.plain),
            ("Secret key", secret.plain),
        ];
        request.keep(&request.app, project.id, keys);
        layout::done(
            &format!("/dashboard/projects/{}/keys", project.id),
            "created",
        )
    };
    match request.answer(CreateProject(new), "/dashboard", page).await {
        Ok(created) => Ok(created),
        Err(error) => Ok(self::page(&request, Form::new(&request.fields, Some(&error))).await),
    }
}

/// The projects of all cells, and the cells that do not answer.
pub(super) async fn all_lines(request: &PageRequest<NoProject>) -> (Vec<ProjectLine>, Vec<i16>) {
    let (app, client) = (&request.app, request.client());
    let mut projects = project_lines(app);
    let mut silent = Vec::new();
    for (cell, lines) in elsewhere::asked::<Vec<ProjectLine>>(app, client, "lines").await {
        match lines {
            Some(lines) => projects.extend(lines),
            None => silent.push(cell),
        }
    }
    projects.sort_by_key(|line| line.id);
    projects.dedup_by_key(|line| line.id);
    (projects, silent)
}

async fn page(request: &PageRequest<NoProject>, form: Form<'_>) -> Response {
    let (mut projects, silent) = all_lines(request).await;
    projects.retain(|line| request.authority.projects.includes(line.id));
    let all = projects.len();
    let archived = request.query().text("archived") == "true";
    projects.retain(|line| line.archived == archived);
    let others = projects.len() < all;
    let body = html! {
        h1 { "Projects" }
        @for cell in silent { p.alert role="alert" { "Cell " (cell) " does not answer: its projects are missing here." } }
        @if projects.is_empty() && others { p.empty { "No project is " (if archived { "archived" } else { "active" }) "." } }
        @else if projects.is_empty() { p.empty { "There is no project yet. Create one to get its keys." } } @else {
            (table("Projects", &["Name", "Products", "Payments", "Identifier"], &html! { @for line in projects { tr {
                td { a href={ "/dashboard/projects/" (line.id) } { (line.name) } }
                td { (line.products) }
                td { (line.provider) }
                td { code { (line.id) } }
            } } }))
        }
        @if archived { p { a href="/dashboard" { "Projects that are not archived" } } }
        @else if others { p { a href="/dashboard?archived=true" { "Archived projects" } } }
        @if request.may(Privilege::Own) { section.card {
            h2 { "New project" }
            (form.alert(&["name"]))
            form method="post" action={ "/dashboard" @if let Some(cell) = request.query().some("cell") { "?cell=" (cell) } } {
                (form::token(request))
                (form.text(&FieldLabel("name", "Name", "Buyers see it: at the checkout, and in mails with recovery codes.")))
                (form.choice(&FieldLabel("mode", "Wallets are addressed by", ""), &MODES))
                button.primary type="submit" { "Create project" }
            }
        } }
    };
    form.response(request.show("Projects", &body))
}
