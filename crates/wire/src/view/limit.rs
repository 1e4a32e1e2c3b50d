//! A limit as interfaces show it.

use api_types::{Limit, LimitState};
use domain::limit;

use super::{instant, word};

/// A limit by itself.
pub fn limit(limit: &limit::Limit) -> Limit {
    Limit {
        scope: limit.scope.to_string(),
        amount: limit.amount,
        window: limit.window.name().to_owned(),
        unit: word(limit.unit),
        time_zone: limit
            .time_zone
            .as_ref()
            .map_or("UTC", |zone| zone.as_str())
            .to_owned(),
        product_id: limit.product.map(|product| product.to_string()),
        alerts_at: limit.alerts_at.clone(),
    }
}

/// A limit with what its window counts.
pub fn limit_state(state: &limit::LimitState) -> LimitState {
    LimitState {
        limit: limit(&state.limit),
        source: word(state.source),
        used: state.used,
        held: state.held,
        remaining: state.remaining(),
        window_start: state.starts_at.map(instant),
        resets_at: state.resets_at.map(instant),
    }
}
