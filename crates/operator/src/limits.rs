//! Replaces a wallet's own limits, and says limits in words.

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    id::WalletKey,
    limit::{Limit, LimitSource, LimitState, LimitUnit, LimitWindow},
    money::grouped,
    wallet::limits::SetLimits,
};
use edge::audit::AuditEvent;
use serde_json::json;
use wire::Error;

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator,
    changes::changes,
    confirmation::{owner, wallet_fact},
};

needs!(Support: SetWalletLimits);

/// Replaces a wallet's own limits.
#[derive(Debug)]
pub struct SetWalletLimits {
    /// Whose wallet it is.
    pub wallet: WalletKey,
    /// All of them.
    pub limits: Vec<Limit>,
}

impl SetWalletLimits {
    /// The wallet's own limits as they are.
    async fn before(&self, by: &Operator<'_>) -> Result<Vec<Limit>, Error> {
        let (scope, address) = (&by.project.scope, Address::Stored(self.wallet));
        let states = by.read(by.app.handle.limits(scope, &address, None).await)?;
        Ok(own_limits(states))
    }
}

/// The limits that are a wallet's own.
pub fn own_limits(states: Vec<LimitState>) -> Vec<Limit> {
    let states = states.into_iter();
    let own = states.filter(|state| state.source == LimitSource::Wallet);
    own.map(|state| state.limit).collect()
}

impl Action for SetWalletLimits {
    type Answer = Vec<LimitState>;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let before = self.before(by).await?;
        if before == self.limits {
            return Ok(None);
        }
        let view = by.wallet(self.wallet).await?;
        let all = |limits: &[Limit]| match words(by, limits) {
            all if all.is_empty() => "None".into(),
            all => Fact::Verbatim(all.join("; ")),
        };
        let facts = vec![
            wallet_fact(&view),
            ("Now", all(&before)),
            ("Then", all(&self.limits)),
            (
                "What happens",
                "A limit that stays keeps its count. Use that a limit has no room for is refused."
                    .into(),
            ),
        ];
        Confirmation::ask(format!("Replace the limits of {}?", owner(&view)), facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<Vec<LimitState>> {
        let before = json!({ "limits": words(by, &self.before(by).await?) });
        let after = json!({ "limits": words(by, &self.limits) });
        let id = by.wallet(self.wallet).await?.id;
        let (scope, address) = (&by.project.scope, &Address::Stored(self.wallet));
        let set = by
            .app
            .handle
            .set_limits(scope, address, SetLimits(self.limits));
        let states = by.read(set.await)?;
        let event = AuditEvent::changed(&format!("wallet {id}"), changes(&before, &after));
        Ok((states, event))
    }
}

fn words(by: &Operator<'_>, limits: &[Limit]) -> Vec<String> {
    let all = limits.iter();
    all.map(|limit| format!("{} {}", limit.scope, limit_words(&by.project, limit)))
        .collect()
}

/// What a limit allows, such as “500 credits per month”.
#[must_use]
pub fn limit_words(project: &ProjectCatalog, limit: &Limit) -> String {
    let product = limit.product.and_then(|id| project.product(&id));
    let unit = match limit.unit {
        LimitUnit::Credits => product.and_then(|it| it.credit_unit.as_deref()),
        LimitUnit::Operations => Some("operations"),
    };
    let unit = unit.unwrap_or("credits");
    let mut words = format!("{} {unit} ", grouped(limit.amount));
    match limit.window {
        LimitWindow::Lifetime => words.push_str("in all"),
        window => words.extend(["per ", window.name()]),
    }
    if let Some(product) = product {
        words.extend([" of ", &product.name]);
    }
    if let Some(zone) = &limit.time_zone {
        words.extend([", ", zone.as_str()]);
    }
    let alerts: Vec<_> = limit.alerts_at.iter().map(ToString::to_string).collect();
    if !alerts.is_empty() {
        words.extend([", alerts at ", &alerts.join(", "), " %"]);
    }
    words
}
