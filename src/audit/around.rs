//! Around requests that change something: what is about to be done is written once it is known who asks, what
//! was done once it is. A caller who goes away keeps neither from being done.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{Method, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use parking_lot::Mutex;
use tracing::Instrument as _;

use super::{Entry, Intent};
use crate::{
    http::{Code, Error, context::Context},
    state::App,
};

/// What a request did, on the way out with its answer.
#[derive(Debug, Clone)]
pub struct Deed {
    /// By whom.
    pub who: String,
    /// In a sentence's words, without secrets.
    pub what: String,
}

/// Travels with a request that may change something, for what it intends.
#[derive(Debug, Clone, Default)]
struct Desk(Arc<Mutex<Option<Intent>>>);

/// Writes that this request is about to do something, asked for by whoever it was found to be. Does nothing
/// for one that only reads.
pub(crate) async fn intend(parts: &Parts, app: &App, who: &str) -> Result<(), Error> {
    let Some(desk) = parts.extensions.get::<Desk>() else {
        return Ok(());
    };
    let context = Context::of(parts)?;
    // Of a form only its address: its fields may be secrets.
    let what = asked(&parts.method, parts.uri.path());
    let from = context.client.to_string();
    let entry = Entry::done(app.clock.now(), who.into(), &what, from);
    let begun = app.audit.begin(entry).await;
    let intent = begun.map_err(|error| {
        tracing::error!(%error, "What is to be changed could not be written into the audit log");
        Error::new(match error {
            actors::Error::Overloaded => Code::Overloaded,
            _ => Code::Unavailable,
        })
    })?;
    *desk.0.lock() = Some(intent);
    Ok(())
}

fn asked(method: &Method, path: &str) -> String {
    format!("{method} {path}")
}

fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Around the dashboard: what was done is what an answer says was.
pub(crate) async fn deeds(State(app): State<App>, request: Request, next: Next) -> Response {
    around(app, request, next, |response| {
        response.extensions_mut().remove::<Deed>()
    })
    .await
}

/// Around the administration: what was done is what was asked, where it went well.
pub(crate) async fn writes(State(app): State<App>, request: Request, next: Next) -> Response {
    let what = asked(request.method(), request.uri().path());
    let who = ADMINISTRATOR.to_owned();
    around(app, request, next, move |response| {
        let did = response.status().is_success();
        did.then_some(Deed { who, what })
    })
    .await
}

/// Whoever has the token.
pub(crate) const ADMINISTRATOR: &str = "administrator's token";

async fn around(
    app: App,
    mut request: Request,
    next: Next,
    deed: impl FnOnce(&mut Response) -> Option<Deed> + Send + 'static,
) -> Response {
    let context = request.extensions().get::<Context>().cloned();
    let Some(context) = context.filter(|_| !reads(request.method())) else {
        return next.run(request).await;
    };
    let desk = Desk::default();
    request.extensions_mut().insert(desk.clone());
    let log = Arc::clone(&app);
    let at_work = desk.clone();
    let work = async move {
        let mut response = next.run(request).await;
        let deed = deed(&mut response);
        let intent = at_work.0.lock().take();
        let noted = match (intent, deed) {
            (Some(intent), deed) => {
                let what = deed.as_ref().map(|deed| deed.what.as_str());
                log.audit.end(intent, what).await
            }
            // Of somebody who was nobody before.
            (None, Some(Deed { who, what })) => {
                let from = context.client.to_string();
                let entry = Entry::done(log.clock.now(), who, &what, from);
                log.audit.add(entry).await
            }
            (None, None) => Ok(()),
        };
        if let Err(error) = noted {
            tracing::error!(%error, "What was changed could not be written into the audit log");
        }
        response
    };
    match tokio::spawn(work.in_current_span()).await {
        Ok(response) => response,
        Err(error) => {
            tracing::error!(%error, "A change ended in a defect");
            let intent = desk.0.lock().take();
            if let Some(intent) = intent {
                app.audit.interrupted(intent).await;
            }
            Error::new(Code::InternalError).into_response()
        }
    }
}
