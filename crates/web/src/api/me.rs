//! `GET /me`: a key's project and kind.

use api_types::{Identity, OwnSession};
use axum::response::Response;
use domain::catalog::KeyKind;
use edge::caller::{AnyKey, MayIdentify};
use wire::{
    Error, respond,
    view::{instant, word},
};

pub(super) async fn me(key: AnyKey<MayIdentify>) -> Result<Response, Error> {
    let project = &key.project;
    let session = key.session();
    let can = key.caller().key().can.as_deref();
    respond::json(&Identity {
        project_id: project.id.to_string(),
        project: project.name.clone(),
        mode: word(project.mode),
        key_kind: match (session, can, key.kind()) {
            (Some(_), ..) => "session",
            (None, None, KeyKind::Publishable) => "publishable",
            (None, None, _) => "secret",
            (None, Some(_), _) => "restricted",
        }
        .to_owned(),
        can: can.map(|can| can.iter().map(|it| it.as_str().to_owned()).collect()),
        key_id: session
            .is_none()
            .then(|| key.caller().key().key.to_string()),
        session: session.map(|session| OwnSession {
            external_user_id: session.user().map(|user| user.as_str().to_owned()),
            can: session
                .can
                .iter()
                .map(|it| it.as_str().to_owned())
                .collect(),
            expires_at: instant(session.expires_at),
        }),
    })
}
