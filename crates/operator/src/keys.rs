//! API keys. A key for servers, and one that works for longer, requires approval where grants or refunds do.

use std::collections::BTreeSet;

use catalog::{KeyChange, MintedKey, NewKey};
use domain::{
    Timestamp,
    catalog::{Ability, ApiKey, KeyKind},
    id::{KeyId, ProjectId},
};
use edge::audit::AuditEvent;
use identity::{CatalogChange, KeyTerms};
use serde_json::{Value, json};
use wire::{
    Error, ErrorCode,
    view::{Day, instant},
};

use crate::{
    Action, ChangeResult, Confirmation, ConfirmationResult, Execution, Fact, Operator,
    changes::changes,
};

needs!(Manage: CreateKey, RevokeKey, UpdateKey);

/// Creates a key.
#[derive(Debug)]
pub struct CreateKey(pub NewKey);

/// Changes a key. The caller holds the lock for saving.
#[derive(Debug)]
pub struct UpdateKey(pub KeyId, pub KeyChange);

/// Revokes a key.
#[derive(Debug)]
pub struct RevokeKey(pub KeyId);

/// What a request can change of a key.
#[must_use]
pub fn key_terms(key: &ApiKey) -> KeyTerms {
    KeyTerms {
        name: key.name.clone(),
        expires_at: key.expires_at,
    }
}

/// What the audit log says of a new key.
pub(crate) fn created(key: &ApiKey, project: ProjectId) -> String {
    let can = abilities(&key.can);
    let kind = key.kind.title();
    format!("Created {kind} {} of {project}{can}", key.title())
}

/// What a restricted key may do, in a sentence; nothing of the others.
fn abilities(can: &BTreeSet<Ability>) -> String {
    let names: Vec<_> = can.iter().map(|it| it.as_str()).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" that can {}", names.join(", ")),
    }
}

fn fields(key: &ApiKey) -> Value {
    json!({"name": key.name, "expiresAt": key.expires_at.map(instant)})
}

fn stored<'a>(by: &'a Operator<'_>, key: KeyId) -> Result<&'a ApiKey, Error> {
    let key = by.project.key(&key);
    key.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))
}

impl Action for CreateKey {
    type Answer = MintedKey;

    async fn guarded(&self, by: &Operator<'_>) -> ChangeResult {
        let new = self.0.clone();
        if new.kind == KeyKind::Publishable {
            return Ok(None);
        }
        by.app
            .catalog
            .draft()
            .create_key(by.id(), new.clone())
            .await?;
        let name = new.name.as_ref().map(|name| format!(" “{name}”"));
        let end = new
            .expires_at
            .map(|end| format!(" that expires at {}", instant(end)));
        let (name, end) = (name.unwrap_or_default(), end.unwrap_or_default());
        let (kind, can) = (new.kind.title(), abilities(&new.can));
        let what = format!("create a {kind}{name}{end}{can}");
        Ok(Some((CatalogChange::NewKey(new), what)))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<MintedKey> {
        let minted = by.catalog().create_key(by.id(), self.0).await?;
        let what = created(&minted.stored, by.id());
        Ok((minted, AuditEvent::Did(what)))
    }
}

impl Action for UpdateKey {
    type Answer = ApiKey;

    async fn guarded(&self, by: &Operator<'_>) -> ChangeResult {
        let (key, draft) = (stored(by, self.0)?, by.app.catalog.draft());
        let drafted = draft.update_key(by.id(), self.0, self.1.clone()).await?;
        // A secret key that works for longer is as good as a new one.
        let end = |key: &ApiKey| key.expires_at.unwrap_or(Timestamp::NEVER);
        if key.kind == KeyKind::Publishable || end(&drafted) <= end(key) {
            return Ok(None);
        }
        let changed = changes(&fields(key), &fields(&drafted)).unwrap_or_default();
        let what = format!("change {} {}: {changed}", key.kind.title(), key.title());
        let change = CatalogChange::Key {
            key: self.0,
            before: key_terms(key),
            after: key_terms(&drafted),
        };
        Ok(Some((change, what)))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<ApiKey> {
        let before = fields(stored(by, self.0)?);
        let after = by.catalog().update_key(by.id(), self.0, self.1).await?;
        let changed = changes(&before, &fields(&after));
        let event = AuditEvent::changed(&format!("key {}", after.title()), changed);
        Ok((after, event))
    }
}

impl Action for RevokeKey {
    type Answer = ();

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let key = stored(by, self.0)?;
        if key.revoked_at.is_some() {
            return Ok(None);
        }
        let name = key.name.clone().map(|name| ("Name", Fact::Verbatim(name)));
        let mut facts: Vec<(_, Fact)> = name.into_iter().collect();
        let last_used = by.project.key_last_used(&key.id);
        facts.extend([
            ("Key", Fact::Id(format!("{}…{}", key.first, key.last))),
            ("Created", key.created_at.into()),
            (
                "Last used",
                last_used.map_or("Never".into(), |day| format!("{} (UTC)", Day(day)).into()),
            ),
            (
                "What stops",
                "Requests with it are refused from now on. This cannot be undone.".into(),
            ),
        ]);
        Confirmation::ask("Revoke this key?", facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let is_before = stored(by, self.0)?.revoked_at.is_some();
        let key = by.app.catalog.revoke_key(by.id(), self.0).await?;
        let what = format!("Revoked key {} of {}", key.title(), by.id());
        Ok(((), AuditEvent::once(is_before, what)))
    }
}
