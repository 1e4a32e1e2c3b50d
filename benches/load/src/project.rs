//! What a load needs before its first deduction: a project, a credit product, funded wallets.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    body::{deduct_json, item_json},
    child::Server,
    error::{Error, Result},
    load::{Load, Template, Wallets},
};

/// The path of projects in the admin API.
pub(crate) const PROJECTS: &str = "/api/admin/v1/projects";
/// Credits that every wallet starts with: more than any load deducts.
const FUNDS: u64 = 1_000_000_000;
/// Items in a batch.
pub(crate) const BATCH: usize = 1_000;

const DEDUCTED: &str = "\"deducted\":true";

/// The project of a load, with its product and secret key.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) product: String,
}

impl Project {
    /// Creates it by the admin API.
    pub(crate) fn create(server: &Server) -> Result<Self> {
        let admin = server.admin();
        let project = admin.post(
            PROJECTS,
            &json!({"name": "Bench", "mode": "external_users"}),
        )?;
        let id = text(&project, "id")?;
        let product = admin.post(
            &format!("{PROJECTS}/{id}/products"),
            &json!({"name": "Credits", "type": "credits", "creditUnit": "credits"}),
        )?;
        Ok(Self {
            id,
            secret: text(&project, "secretKey")?,
            product: text(&product, "id")?,
        })
    }

    /// A request that deducts one credit.
    pub(crate) fn deduct(&self) -> Template {
        let body = deduct_json(&self.product, "{w}", "{k}");
        Template::single(
            "/api/v1/wallets/external/deduct",
            &self.secret,
            body,
            DEDUCTED,
        )
    }

    /// A request that deducts one credit in each of its thousand items.
    pub(crate) fn batch(&self) -> Template {
        let item = item_json(&self.product, "{w}", "{k}");
        Template::batch(
            "/api/v1/deductions/batch",
            &self.secret,
            item,
            BATCH,
            DEDUCTED,
        )
    }

    /// A request that grants credits, and creates the wallet if needed.
    pub(crate) fn credit(&self) -> Template {
        let body = format!(
            r#"{{"externalUserId":"{{w}}","productId":"{}","amount":{FUNDS},"idempotencyKey":"{{k}}"}}"#,
            self.product
        );
        Template::single("/api/v1/credit", &self.secret, body, "\"credited\":true")
    }

    /// A request that sets a credit aside for a second.
    pub(crate) fn hold(&self) -> Template {
        let body = format!(
            r#"{{"externalUserId":"{{w}}","productId":"{}","amount":1,"idempotencyKey":"{{k}}","expiresInSeconds":1}}"#,
            self.product
        );
        Template::single(
            "/api/v1/wallets/external/holds",
            &self.secret,
            body,
            "\"holdId\":",
        )
    }

    /// Creates and funds the first `wallets` wallets.
    pub(crate) fn fund(&self, server: &Server, threads: usize, wallets: u64) -> Result<()> {
        every(
            server,
            threads,
            &self.credit(),
            Wallets::InOrder { wallets, times: 1 },
        )
        .map(drop)
    }
}

/// Sends a template as often as `wallets` says, over 64 connections; returns requests per second.
pub(crate) fn every(
    server: &Server,
    threads: usize,
    template: &Template,
    wallets: Wallets,
) -> Result<f64> {
    let load = Load {
        server: server.address(),
        connections: 64,
        threads,
        template,
        wallets,
        rate: None,
        patient: false,
        warm_up: Duration::ZERO,
        length: Duration::MAX,
    };
    Ok(load.run()?.rate())
}

/// A text field of a response.
pub(crate) fn text(body: &Value, field: &str) -> Result<String> {
    body.get(field)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| Error(format!("no `{field}` in {body}")))
}
