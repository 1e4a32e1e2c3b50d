//! What a load needs before its first deduction: a project, a credit product, funded wallets.

use serde_json::json;

use super::{
    Bench, Setup,
    client::text,
    error::Result,
    load::{Load, Template, Wallets},
    server::Server,
};

pub(crate) const PROJECTS: &str = "/api/admin/v1/projects";
/// Credits that every wallet starts with: more than any load deducts.
pub(crate) const FUNDS: u64 = 1_000_000_000;
pub(crate) const BATCH: u64 = 1_000;
/// Connections over which data is created.
const CONNECTIONS: usize = 64;

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
        let project = json!({"name": "Bench", "mode": "external_users"});
        let project = admin.post(PROJECTS, &project)?;
        let id = text(&project, "id")?;
        let product = json!({"name": "Credits", "type": "credits", "creditUnit": "credits"});
        let product = admin.post(&format!("{PROJECTS}/{id}/products"), &product)?;
        Ok(Self {
            id,
            secret: text(&project, "secretKey")?,
            product: text(&product, "id")?,
        })
    }

    /// A request that deducts one credit.
    pub(crate) fn deduct(&self) -> Template {
        let item = deduct_json(
            &self.product,
            "{w}",
            "{k}",
            r#","meta":{"feature":"image"}"#,
        );
        let expected = "\"deducted\":true";
        self.template("/api/v1/wallets/external/deduct", item, expected)
    }

    /// A request that deducts one credit in each of its thousand items.
    pub(crate) fn batch(&self) -> Template {
        let item = deduct_json(&self.product, "{w}", "{k}", "");
        Template {
            batch: Some(BATCH as usize),
            ..self.template("/api/v1/deductions/batch", item, "\"deducted\":true")
        }
    }

    /// A request that grants credits, and creates the wallet if needed.
    pub(crate) fn credit(&self) -> Template {
        let body = format!(
            r#"{{"externalUserId":"{{w}}","productId":"{}","amount":{FUNDS},"idempotencyKey":"{{k}}"}}"#,
            self.product
        );
        self.template("/api/v1/credit", body, "\"credited\":true")
    }

    /// A request that sets a credit aside for a second.
    pub(crate) fn hold(&self) -> Template {
        let body = deduct_json(&self.product, "{w}", "{k}", r#","expiresInSeconds":1"#);
        self.template("/api/v1/wallets/external/holds", body, "\"holdId\":")
    }

    fn template(&self, path: &'static str, item: String, expected: &'static str) -> Template {
        Template {
            path,
            bearer: self.secret.clone(),
            item,
            batch: None,
            expected,
        }
    }
}

/// The body of one deduction, as the load sends it.
pub(crate) fn deduct_json(product: &str, user: &str, key: &str, rest: &str) -> String {
    format!(
        r#"{{"externalUserId":"{user}","productId":"{product}","amount":1,"idempotencyKey":"{key}"{rest}}}"#
    )
}

impl Bench {
    /// Sends a template as often as `wallets` says; returns requests per second.
    pub(crate) fn send_all(
        &self,
        server: &Server,
        template: Template,
        wallets: Wallets,
    ) -> Result<f64> {
        let load = Load {
            warm_up: std::time::Duration::ZERO,
            length: None,
            ..self.load(server, template, CONNECTIONS, wallets)
        };
        Ok(load.run()?.rate())
    }

    /// Creates and funds the first `wallets` wallets; returns wallets per second.
    pub(crate) fn fund(&self, setup: &Setup, wallets: u64) -> Result<f64> {
        eprintln!("funding {wallets} wallets");
        let order = Wallets::InOrder { wallets, times: 1 };
        self.send_all(&setup.server, setup.project.credit(), order)
    }

    /// Makes this many deductions in batches, each from a random wallet; returns deductions per second.
    pub(crate) fn send_batches(&self, setup: &Setup, items: u64, wallets: u64) -> Result<f64> {
        let items = items.next_multiple_of(BATCH);
        let count = Wallets::Count { items, wallets };
        let requests = self.send_all(&setup.server, setup.project.batch(), count)?;
        Ok(requests * BATCH as f64)
    }

    /// Makes `times` deductions from each wallet in turn; returns deductions per second.
    pub(crate) fn deduct_in_order(&self, setup: &Setup, wallets: u64, times: u64) -> Result<f64> {
        let order = Wallets::InOrder { wallets, times };
        let requests = self.send_all(&setup.server, setup.project.batch(), order)?;
        Ok(requests * BATCH as f64)
    }
}
