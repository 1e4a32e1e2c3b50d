//! The page before an action that cannot be undone: it says what changes, and sends the form again.

use std::sync::Arc;

use axum::response::Response;
use catalog::ProjectCatalog;
use maud::{Markup, html};
use operator::{Action, Fact, Performed};
use wire::Error;

use super::{
    approval_request,
    fields::{CONFIRMED, Fields},
    form,
    layout::{self, At, Tab},
    page_request::{PageRequest, TOKEN},
    verbatim::verbatim,
};
use crate::state::App;

/// A form that asks for an action.
pub(super) struct ActionForm<'a> {
    app: &'a App,
    request: &'a PageRequest,
    project: &'a Arc<ProjectCatalog>,
    fields: &'a Fields,
    tab: Tab,
}

impl<'a> ActionForm<'a> {
    pub(super) const fn new(
        app: &'a App,
        request: &'a PageRequest,
        project: &'a Arc<ProjectCatalog>,
        fields: &'a Fields,
        tab: Tab,
    ) -> Self {
        Self {
            app,
            request,
            project,
            fields,
            tab,
        }
    }

    /// Does it once it was confirmed, and leads back with this message.
    pub(super) async fn run<A: Action>(
        &self,
        action: A,
        back: &str,
        message: &str,
    ) -> Result<Response, Error> {
        let page = |_, replayed| layout::done(back, if replayed { "again" } else { message });
        self.answer(action, back, page).await
    }

    /// Does it once it was confirmed, and answers with a page of the result, which may be that of an earlier form.
    pub(super) async fn answer<A: Action>(
        &self,
        action: A,
        back: &str,
        page: impl FnOnce(A::Answer, bool) -> Response,
    ) -> Result<Response, Error> {
        let operator = self.request.operator(self.app, self.project);
        if !self.fields.is_on(CONFIRMED)
            && let Some(question) = operator.confirmation(&action).await?
        {
            let facts = html! { dl {
                @for (name, fact) in &question.facts { div { dt { (name) } dd { (shown(fact)) } } }
            } };
            let (paths, at) = (
                (self.request.path(), back),
                At::Project(self.project, self.tab),
            );
            return Ok(confirm(
                self.request,
                at,
                self.fields,
                paths,
                &question.title,
                &facts,
            ));
        }
        Ok(match operator.run(action).await? {
            Performed::Done(answer) => page(answer, false),
            Performed::Before(answer) => page(answer, true),
            Performed::Pending => layout::done(&approval_request::path(self.project), "asked"),
        })
    }
}

fn shown(fact: &Fact) -> Markup {
    match fact {
        Fact::Text(text) => html! { (text) },
        Fact::Verbatim(text) => verbatim(text),
        Fact::Id(id) => html! { code { (id) } },
        Fact::Instant(at) => layout::when(*at),
    }
}

/// The confirmation page of a form: its title is a question, its button sends all fields again.
pub(super) fn confirm(
    request: &PageRequest,
    at: At<'_>,
    fields: &Fields,
    (action, back): (&str, &str),
    title: &str,
    facts: &Markup,
) -> Response {
    let body = html! {
        h1 { (title) }
        section.card {
            (facts)
            form.row method="post" action=(action) {
                (form::token(request))
                @for (name, value) in fields.without(TOKEN) {
                    input type="hidden" name=(name) value=(value);
                }
                input type="hidden" name=(CONFIRMED) value="on";
                button.primary type="submit" { (title.trim_end_matches('?')) }
                a.button href=(back) { "Back" }
            }
        }
    };
    layout::page(request, at, "Please confirm", &body)
}
