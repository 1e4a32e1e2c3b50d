//! Events as a project's own servers read them: from the feed, or as a webhook.

use actors::{EventRecord, Handle};
use api_types::event::{
    BalanceData, CreditedData, DebtData, Dispute, DisputeData, Event, EventData, FeaturesData,
    LimitData, OrderData, SubscriptionData, TopUpActionData, TopUpData, TopUpFailedData,
    TopUpSuspendedData, WalletData,
};
use domain::{
    id::{OrderId, ProductId},
    project_event::{EventData as Happened, OrderEvent, OrderSnapshot, ProjectEvent},
    text::{Feature, FreezeReason},
    top_up::Suspension,
    wallet::{self, event::SubscriptionEvent},
};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{instant, limit_state, order::full_order, wallet::subscription, word};
use crate::field::EventType;

/// An event as the log has it, with recovery codes or without.
pub fn event(record: &EventRecord, handle: &Handle, with_codes: bool) -> Event {
    let project_event = &record.project_event;
    Event {
        id: record.id.to_string(),
        kind: EventType::of(&project_event.data).as_str().to_owned(),
        timestamp: instant(project_event.at),
        recorded_at: Some(instant(project_event.recorded)),
        data: data(project_event, (handle, with_codes)),
    }
}

fn dispute(dispute: wallet::Dispute) -> Dispute {
    Dispute {
        amount_cents: dispute.amount_cents,
        currency: dispute.currency.to_string(),
        reason: dispute.reason.as_str().to_owned(),
        respond_by: dispute.respond_by.map(instant),
        inquiry: dispute.inquiry,
        won: dispute.won,
    }
}

fn of_order(
    what: OrderEvent,
    facts: &OrderSnapshot,
    project_event: &ProjectEvent,
    (handle, with_codes): (&Handle, bool),
) -> EventData {
    let order = full_order(&handle.order_of_event(project_event, facts), with_codes);
    let disputed = facts.order.reversal.dispute;
    let data = match (what, disputed) {
        (OrderEvent::Disputed | OrderEvent::DisputeClosed, Some(disputed)) => {
            let data = Box::new(DisputeData {
                order,
                dispute: dispute(disputed),
                won: disputed.won,
            });
            return match what {
                OrderEvent::Disputed => EventData::OrderDisputed(data),
                _ => EventData::OrderDisputeClosed(data),
            };
        }
        _ => Box::new(OrderData { order }),
    };
    match what {
        OrderEvent::Paid => EventData::OrderPaid(data),
        OrderEvent::Failed => EventData::OrderFailed(data),
        OrderEvent::Expired => EventData::OrderExpired(data),
        OrderEvent::Refunded => EventData::OrderRefunded(data),
        OrderEvent::Disputed | OrderEvent::DisputeClosed => EventData::Other(json!(data)),
    }
}

fn data(project_event: &ProjectEvent, by: (&Handle, bool)) -> EventData {
    let wallet_id = || project_event.wallet.to_string();
    let user = project_event.user.as_ref();
    let external_user_id = || user.map(|user| user.as_str().to_owned());
    let texts = |all: &[Feature]| -> Vec<String> {
        let all = all.iter().map(|feature| feature.as_str().to_owned());
        all.collect()
    };
    let wallet = |reason: Option<&FreezeReason>| WalletData {
        wallet_id: wallet_id(),
        external_user_id: external_user_id(),
        frozen_reason: reason.map(|it| it.as_str().to_owned()),
    };
    let order_id = |serial| {
        let wallet = project_event.key;
        OrderId { serial, wallet }.to_string()
    };
    let left = |product: ProductId, balance| BalanceData {
        wallet_id: wallet_id(),
        external_user_id: external_user_id(),
        product_id: product.to_string(),
        balance,
    };
    let debt = |product: ProductId, balance, owed| DebtData {
        wallet_id: wallet_id(),
        external_user_id: external_user_id(),
        product_id: product.to_string(),
        balance,
        owed,
    };
    match &project_event.data {
        Happened::Order(what, facts) => of_order(*what, facts, project_event, by),
        Happened::Subscription(what, facts) => {
            let data = Box::new(SubscriptionData {
                wallet_id: wallet_id(),
                external_user_id: external_user_id(),
                subscription: subscription(facts),
            });
            match what {
                SubscriptionEvent::Started => EventData::SubscriptionStarted(data),
                SubscriptionEvent::Renewed => EventData::SubscriptionRenewed(data),
                SubscriptionEvent::Updated => EventData::SubscriptionUpdated(data),
                SubscriptionEvent::PastDue => EventData::SubscriptionPastDue(data),
                SubscriptionEvent::Canceled => EventData::SubscriptionCanceled(data),
            }
        }
        Happened::WalletCreated => EventData::WalletCreated(wallet(None)),
        Happened::Frozen { reason } => EventData::WalletFrozen(wallet(reason.as_ref())),
        Happened::Unfrozen => EventData::WalletThawed(wallet(None)),
        Happened::Credited {
            product,
            delta,
            reason,
            order,
            balance,
        } => EventData::WalletCredited(CreditedData {
            wallet_id: wallet_id(),
            external_user_id: external_user_id(),
            product_id: product.to_string(),
            balance: *balance,
            delta: *delta,
            reason: word(*reason),
            order_id: order.map(order_id),
        }),
        Happened::BalanceLow { product, balance } => {
            EventData::WalletBalanceLow(left(*product, *balance))
        }
        Happened::Depleted { product } => EventData::WalletDepleted(left(*product, 0)),
        Happened::Owing {
            product,
            balance,
            owed,
        } => EventData::WalletOwing(debt(*product, *balance, *owed)),
        Happened::Repaid { product, balance } => {
            EventData::WalletRepaid(debt(*product, *balance, 0))
        }
        Happened::Limit(alert) => {
            let data = Box::new(LimitData {
                wallet_id: wallet_id(),
                external_user_id: external_user_id(),
                limit: limit_state(&alert.state),
                percent: alert.percent,
                member: alert.member.as_ref().map(|it| it.as_str().to_owned()),
            });
            match alert.percent {
                Some(_) => EventData::LimitAlert(data),
                None => EventData::LimitReached(data),
            }
        }
        Happened::TopUpSucceeded(facts) => EventData::TopUpSucceeded(TopUpData {
            wallet_id: wallet_id(),
            external_user_id: external_user_id(),
            order_id: order_id(facts.serial),
            amount_cents: facts.order.amount_cents,
            currency: facts.order.terms.currency.to_string(),
            product_id: facts.order.terms.fills.to_string(),
            credits: facts.order.granted_credits,
            balance: facts.balance,
        }),
        Happened::TopUpFailed {
            order,
            decline,
            next_attempt_at,
        } => EventData::TopUpFailed(TopUpFailedData {
            wallet_id: wallet_id(),
            external_user_id: external_user_id(),
            order_id: order_id(*order),
            reason: decline.code.to_string(),
            retryable: next_attempt_at.is_some(),
            next_attempt_at: next_attempt_at.map(instant),
        }),
        Happened::TopUpSuspended(Suspension::ActionRequired(page)) => {
            EventData::TopUpActionRequired(TopUpActionData {
                wallet_id: wallet_id(),
                external_user_id: external_user_id(),
                order_id: order_id(page.order),
                url: page.url.as_str().to_owned(),
            })
        }
        Happened::TopUpSuspended(reason) => EventData::TopUpSuspended(TopUpSuspendedData {
            wallet_id: wallet_id(),
            external_user_id: external_user_id(),
            reason: reason.name().to_owned(),
        }),
        Happened::Features {
            features,
            added,
            removed,
        } => EventData::FeaturesChanged(FeaturesData {
            wallet_id: wallet_id(),
            external_user_id: external_user_id(),
            features: features.as_deref().map(texts),
            added: texts(added),
            removed: texts(removed),
        }),
    }
}

/// Events, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    events: Vec<Event>,
    /// Pass as `after` for what comes next: the last event's identifier, or `after` as it was given.
    next_cursor: Option<String>,
}

impl Events {
    /// A page of events, and the event after which the next page begins.
    #[must_use]
    pub const fn new(events: Vec<Event>, next_cursor: Option<String>) -> Self {
        Self {
            events,
            next_cursor,
        }
    }
}
