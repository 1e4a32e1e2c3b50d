//! What things cost by a rate card, and what work costs as a request says it.

use std::collections::BTreeMap;

use api_types::{Estimate, RateCard, RateCards};
use serde::Serialize;
use serde_json::Value;

use crate::{call::Call, client::Scrip, error::Error, wallets::Wallet};

/// What was used, to be priced by a rate card on the server.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metered {
    rate_card: String,
    attributes: BTreeMap<String, String>,
    quantities: Option<BTreeMap<String, u64>>,
    usage: Option<Value>,
    usage_format: Option<String>,
}

/// What work costs: credits, or what a rate card prices.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Cost {
    Credits { amount: u64 },
    Metered(Metered),
}

impl Metered {
    /// So much of each unit, without overlap.
    pub fn quantities(
        rate_card: impl Into<String>,
        quantities: impl IntoIterator<Item = (impl Into<String>, u64)>,
    ) -> Self {
        let quantities = quantities.into_iter();
        let quantities = quantities.map(|(unit, quantity)| (unit.into(), quantity));
        Self {
            quantities: Some(quantities.collect()),
            ..Self::empty(rate_card)
        }
    }

    /// The usage object of a model's provider, as it is; `format` is `openai.chat`, `openai.responses`, `anthropic`,
    /// `gemini` or `ai-sdk`.
    pub fn usage(
        rate_card: impl Into<String>,
        format: impl Into<String>,
        usage: impl Into<Value>,
    ) -> Self {
        Self {
            usage: Some(usage.into()),
            usage_format: Some(format.into()),
            ..Self::empty(rate_card)
        }
    }

    fn empty(rate_card: impl Into<String>) -> Self {
        Self {
            rate_card: rate_card.into(),
            attributes: BTreeMap::new(),
            quantities: None,
            usage: None,
            usage_format: None,
        }
    }

    /// Sets an attribute that the card's rates match, such as `model`.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }
}

impl Scrip {
    /// The rate cards in force.
    /// # Errors
    /// The errors of any call.
    pub async fn rate_cards(&self) -> Result<Vec<RateCard>, Error> {
        let found: RateCards = self.call(Call::get(["rate-cards"])).await?;
        Ok(found.rate_cards)
    }

    /// A rate card as it is in force.
    /// # Errors
    /// `rate_card_not_found`, and the errors of any call.
    pub async fn rate_card(&self, slug: &str) -> Result<RateCard, Error> {
        self.call(Call::get(["rate-cards", slug])).await
    }

    /// What a use would cost, and whether a wallet could pay it. Charges nothing.
    /// # Errors
    /// `rate_card_not_found`, `rate_not_found`, `wallet_not_found`, and the errors of any call.
    pub async fn estimate(
        &self,
        used: &Metered,
        wallet: Option<&Wallet>,
    ) -> Result<Estimate, Error> {
        let call = Call::post(["estimate"]).body(used)?;
        self.call(match wallet {
            Some(wallet) => call.of(wallet),
            None => call,
        })
        .await
    }
}
