//! A form that was sent: it names an action, which is done once its confirmation page was answered.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use axum::{
    extract::{FromRef, FromRequest, Request},
    response::{IntoResponse, Response},
};
use catalog::ProjectCatalog;
use edge::{audit::begin_entry, body::FormBody, permission::Needs};
use maud::{Markup, html};
use operator::{Action, Confirmation, Fact, Performed};

use super::{
    cookies,
    fields::{CONFIRMED, Fields, KEY},
    form, layout,
    page_request::{PageRequest, PageResult, PageScope, TOKEN, foreign},
    verbatim::verbatim,
};
use crate::state::App;

/// A form that somebody who may do what needs the permission `P` sent from a page of this server.
pub(super) struct FormPost<P, S = Arc<ProjectCatalog>> {
    request: PageRequest<S>,
    pub(super) fields: Fields,
    needs: PhantomData<P>,
}

impl<P, S> Deref for FormPost<P, S> {
    type Target = PageRequest<S>;

    fn deref(&self) -> &PageRequest<S> {
        &self.request
    }
}

impl<P, S> DerefMut for FormPost<P, S> {
    fn deref_mut(&mut self) -> &mut PageRequest<S> {
        &mut self.request
    }
}

impl<P, S: PageScope> FormPost<P, S> {
    /// Does it once it was confirmed, and leads back with this message.
    pub(super) async fn run<A: Action<S>>(
        &self,
        action: A,
        back: &str,
        message: &str,
    ) -> PageResult {
        let page = |_, replayed| layout::done(back, if replayed { "again" } else { message });
        self.answer(action, back, page).await
    }

    /// Does it once it was confirmed, and answers with a page of the result, which may be that of an earlier form.
    pub(super) async fn answer<A: Action<S>>(
        &self,
        action: A,
        back: &str,
        page: impl FnOnce(A::Answer, bool) -> Response,
    ) -> PageResult {
        let operator = self.operator();
        if !self.fields.is_on(CONFIRMED)
            && let Some(question) = operator.confirmation(&action).await?
        {
            return Ok(self.confirm(back, &question));
        }
        Ok(match operator.run(action).await? {
            Performed::Done(answer) => page(answer, false),
            Performed::Before(answer) => page(answer, true),
            Performed::Pending => {
                let list = self.project.catalog().map(layout::approvals);
                layout::done(&list.unwrap_or_default(), "asked")
            }
        })
    }

    /// The confirmation page: its title is a question, its button sends all fields again.
    fn confirm(&self, back: &str, Confirmation { title, facts }: &Confirmation) -> Response {
        let body = html! {
            h1 { (title) }
            section.card {
                dl { @for (name, fact) in facts { div { dt { (name) } dd { (shown(fact)) } } } }
                form.row method="post" action=(self.path()) {
                    (form::token(self))
                    @for (name, value) in self.fields.without(TOKEN) {
                        input type="hidden" name=(name) value=(value);
                    }
                    input type="hidden" name=(CONFIRMED) value="on";
                    button.primary type="submit" { (title.trim_end_matches('?')) }
                    a.button href=(back) { "Back" }
                }
            }
        };
        self.show("Please confirm", &body)
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

impl<T: Sync, P: Needs, S: PageScope> FromRequest<T> for FormPost<P, S>
where
    App: FromRef<T>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &T) -> Result<Self, Response> {
        let app = App::from_ref(state);
        let (mut parts, body) = request.into_parts();
        if !cookies::is_own(&parts.headers, &app.site) {
            return Err(foreign());
        }
        let request = PageRequest::of::<P>(&mut parts, &app).await?;
        let body = FormBody::read(&parts.headers, body, &app.edge.bodies).await;
        let fields = Fields::read(body.map_err(IntoResponse::into_response)?.bytes());
        if !request.signed.sent(fields.text(TOKEN)) {
            return Err(foreign());
        }
        let who = request.authority.name();
        let written = begin_entry(&parts, &app.edge, &who, fields.some(KEY)).await;
        written.map_err(IntoResponse::into_response)?;
        Ok(Self {
            request,
            fields,
            needs: PhantomData,
        })
    }
}
