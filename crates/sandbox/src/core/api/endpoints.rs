//! Webhook endpoints and the account.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::core::{checkout::address, prelude::*};

/// As many as Stripe allows.
const MAX_ENDPOINTS: usize = 16;
const MAX_KINDS: usize = 200;

fn kinds(params: &Params) -> Result<Option<Vec<String>>> {
    const PATH: &str = "enabled_events";
    let kinds = params.list(PATH)?;
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._".contains(&byte);
    let is_type = |kind: &String| {
        kind == "*" || (kind.contains('.') && kind.len() <= 100 && kind.bytes().all(plain))
    };
    match kinds.iter().find(|kind| !is_type(kind)) {
        Some(wrong) => {
            let message = format!("Invalid enabled_events: {wrong} is not an event type");
            Err(Refusal::param(PATH, message))
        }
        None if kinds.len() > MAX_KINDS => Err(Refusal::param(PATH, "Too many types")),
        None => Ok(Some(kinds).filter(|kinds| !kinds.is_empty())),
    }
}

pub(super) fn create(db: &mut Database, params: &Params) -> Result<Value> {
    let endpoint = Endpoint {
        head: db.head("we_"),
        secret: db.ids.usual("whsec_"),
        url: need(address(params, "url")?, "url")?,
        kinds: need(kinds(params)?, "enabled_events")?,
        enabled: true,
        description: params.bounded("description", 5000)?,
        metadata: params.metadata("metadata")?,
        api_version: params.bounded("api_version", 40)?,
    };
    params.flag("connect")?;
    params.finish()?;
    let message =
        format!("You have reached the maximum of {MAX_ENDPOINTS} test webhook endpoints.");
    Refusal::invalid(message).when(db.all::<Endpoint>().count() >= MAX_ENDPOINTS)?;
    let endpoint = db.stored(endpoint);
    let mut view = endpoint.view(db);
    // The secret is shown only here.
    shape::set(&mut view, json!({ "secret": endpoint.secret }));
    Ok(view)
}

pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut endpoint: Endpoint = db.find(id)?;
    endpoint.url = address(params, "url")?.unwrap_or(endpoint.url);
    endpoint.kinds = kinds(params)?.unwrap_or(endpoint.kinds);
    params.change("description", 5000, &mut endpoint.description)?;
    if let Some(disabled) = params.flag("disabled")? {
        endpoint.enabled = !disabled;
    }
    params.change_metadata("metadata", &mut endpoint.metadata)?;
    params.finish()?;
    Ok(db.stored(endpoint).view(db))
}

/// The account of the key. Its id is derived from the sandbox's URL.
pub(super) fn account(db: &Database, params: &Params) -> Result<Value> {
    params.finish()?;
    let digest = HEXLOWER.encode(&Sha256::digest(db.base.as_bytes()));
    Ok(json!({
        "id": format!("acct_{}", digest.get(..16).unwrap_or_default()),
        "object": "account",
        "business_profile": { "name": "Sandbox", "url": null },
        "business_type": "company",
        "capabilities": { "card_payments": "active" },
        "charges_enabled": true,
        "country": "US",
        "default_currency": "usd",
        "details_submitted": true,
        "email": null,
        "payouts_enabled": true,
        "settings": {
            "dashboard": { "display_name": "Sandbox", "timezone": "Etc/UTC" },
        },
        "type": "standard",
    }))
}
