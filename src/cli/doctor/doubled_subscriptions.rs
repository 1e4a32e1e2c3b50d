//! Wallets that pay twice for one product.

use api_types::admin::Project;
use serde_json::Value;

use super::Finding;
use crate::cli::remote::ApiClient;

/// A warning for each wallet that pays for several subscriptions to one product.
pub(super) async fn of(remote: &ApiClient, project: &Project) -> Vec<Finding> {
    let path = format!("/projects/{}/duplicate-subscriptions", project.id);
    let Ok(found) = remote.get::<Value>(&path).await else {
        return Vec::new();
    };
    let wallets = found.get("wallets").and_then(Value::as_array);
    let warning = |wallet: &Value| {
        let id = wallet.get("walletId")?.as_str()?;
        let subscriptions = wallet.get("subscriptions")?.as_array()?.iter();
        let ids = subscriptions.filter_map(|it| it.get("id").and_then(Value::as_str));
        let ids: Vec<_> = ids.collect();
        let message = format!(
            "the wallet {id} of {} pays for {} subscriptions to one product: {}",
            project.name,
            ids.len(),
            ids.join(", ")
        );
        let advice = "Cancel those that were not meant, by subscriptionId, and refund their orders";
        Some(Finding::warning("subscriptions", message, advice))
    };
    wallets.into_iter().flatten().filter_map(warning).collect()
}
