//! A text that is one of a few. Serde's own enums would take objects, too, and call a number
//! malformed JSON.

use domain::{
    catalog::{MailKind, MailLocale},
    history::Reason,
    limit::{LimitUnit, LimitWindow},
    rate_card::UsageFormat,
    session::Permission,
    wallet::{OrderStatus, feature::FeatureAction, shortfall::OnShortfall},
};
use persistence::{
    OrderState,
    usage::{Group, Interval},
};

use super::text::Text;

/// Declares how the values of a type are written.
#[macro_export]
macro_rules! choice {
    ($type:ty, $name:literal: $($text:literal => $value:expr),+ $(,)?) => {
        impl $crate::field::FromText for $type {
            const NAME: &'static str = $name;
            const WANTED: &'static str = concat!("one of:" $(, " ", $text)+);

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some($value),)+
                    _ => None,
                }
            }

            fn bounds(
                string: $crate::field::ObjectBuilder,
            ) -> $crate::field::ObjectBuilder {
                string.enum_values(Some([$($text),+]))
            }
        }
    };
}

/// What to do with a feature, as callers send it.
pub type FeatureActionText = Text<FeatureAction>;

choice!(FeatureAction, "FeatureAction":
    "grant" => FeatureAction::Grant,
    "revoke" => FeatureAction::Revoke,
);

/// An interval of usage as callers send it.
pub type IntervalText = Text<Interval>;
/// What usage is grouped by, as callers send it.
pub type GroupByText = Text<Group>;

choice!(Interval, "Interval":
    "hour" => Interval::Hour,
    "day" => Interval::Day,
    "month" => Interval::Month,
);
choice!(Group, "GroupBy":
    "feature" => Group::Feature,
    "rateCard" => Group::RateCard,
    "attribute:model" => Group::Model,
    "member" => Group::Member,
);

/// In which time a limit counts, as callers send it.
pub type WindowText = Text<LimitWindow>;
/// What a limit counts, as callers send it.
pub type LimitUnitText = Text<LimitUnit>;

choice!(LimitWindow, "LimitWindow":
    "hour" => LimitWindow::Hour,
    "day" => LimitWindow::Day,
    "week" => LimitWindow::Week,
    "month" => LimitWindow::Month,
    "year" => LimitWindow::Year,
    "lifetime" => LimitWindow::Lifetime,
);
choice!(LimitUnit, "LimitUnit":
    "credits" => LimitUnit::Credits,
    "operations" => LimitUnit::Operations,
);

/// Which provider's usage object it is, as callers send it.
pub type UsageFormatText = Text<UsageFormat>;

choice!(UsageFormat, "UsageFormat":
    "openai.chat" => UsageFormat::OpenaiChat,
    "openai.responses" => UsageFormat::OpenaiResponses,
    "anthropic" => UsageFormat::Anthropic,
    "gemini" => UsageFormat::Gemini,
    "ai-sdk" => UsageFormat::AiSdk,
);

/// What a list of wallets is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletSort {
    /// By their last use, the last one first.
    LastUsed,
    /// By their balance of a product, the largest first.
    Balance,
}

/// The form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// A page as JSON.
    Json,
    /// All of it as CSV.
    Csv,
}

/// A [`WalletSort`] as callers send it.
pub type WalletSortText = Text<WalletSort>;
/// A [`ListFormat`] as callers send it.
pub type ListFormatText = Text<ListFormat>;

choice!(WalletSort, "WalletSort":
    "lastUsed" => WalletSort::LastUsed,
    "balance" => WalletSort::Balance,
);
choice!(ListFormat, "ListFormat":
    "json" => ListFormat::Json,
    "csv" => ListFormat::Csv,
);
/// Which projects a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archived {
    /// Those that are not archived.
    No,
    /// Those that are.
    Yes,
    /// All of them, archived or not.
    All,
}

/// An [`Archived`] as callers send it.
pub type ArchivedText = Text<Archived>;

choice!(Archived, "Archived":
    "false" => Archived::No,
    "true" => Archived::Yes,
    "all" => Archived::All,
);
choice!(bool, "Switch":
    "true" => true,
    "false" => false,
);

/// A boolean in a query.
pub type SwitchText = Text<bool>;

/// What a mail is about, as callers send it.
pub type MailKindText = Text<MailKind>;
/// The language of a mail, as callers send it.
pub type MailLocaleText = Text<MailLocale>;

choice!(MailKind, "MailKind":
    "lowBalance" => MailKind::LowBalance,
    "topUpFailed" => MailKind::TopUpFailed,
    "actionRequired" => MailKind::ActionRequired,
    "limitReached" => MailKind::LimitReached,
    "receipt" => MailKind::Receipt,
);
choice!(MailLocale, "MailLocale":
    "en" => MailLocale::En,
    "de" => MailLocale::De,
    "fr" => MailLocale::Fr,
);

/// What to do with such a cost, as callers send it.
pub type OnShortfallText = Text<OnShortfall>;

choice!(OnShortfall, "OnShortfall":
    "refuse" => OnShortfall::Refuse,
    "drain" => OnShortfall::Drain,
    "owe" => OnShortfall::Owe,
);

/// An order's state as callers send it.
pub type OrderStateText = Text<OrderState>;

choice!(OrderState, "OrderState":
    "pending" => OrderState::Is(OrderStatus::Pending),
    "processing" => OrderState::Processing,
    "disputed" => OrderState::Disputed,
    "paid" => OrderState::Is(OrderStatus::Paid),
    "failed" => OrderState::Is(OrderStatus::Failed),
    "refunded" => OrderState::Is(OrderStatus::Refunded),
    "expired" => OrderState::Is(OrderStatus::Expired),
);

/// A permission as callers send it.
pub type PermissionText = Text<Permission>;

choice!(Permission, "SessionPermission":
    "read" => Permission::Read,
    "checkout" => Permission::Checkout,
    "portal" => Permission::Portal,
    "subscriptions" => Permission::Subscriptions,
);

/// A reason of ledger entries as callers send it.
pub type ReasonText = Text<Reason>;

choice!(Reason, "Reason":
    "purchase" => Reason::Purchase,
    "deduction" => Reason::Deduction,
    "free_grant" => Reason::FreeGrant,
    "manual" => Reason::Manual,
    "refund" => Reason::Refund,
    "expiry" => Reason::Expiry,
    "reversal" => Reason::Reversal,
    "forgiveness" => Reason::Forgiveness,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText as _;

    #[test]
    fn a_status_is_read_as_an_order_shows_it() {
        assert_eq!(OrderState::from_text("Paid"), None);
        for text in ["pending", "paid", "failed", "refunded", "expired"] {
            let Some(OrderState::Is(status)) = OrderState::from_text(text) else {
                panic!("{text}");
            };
            assert_eq!(serde_json::to_value(status).unwrap(), text);
        }
    }

    #[test]
    fn a_permission_is_read_as_it_is_shown() {
        for one in Permission::ALL {
            assert_eq!(Permission::from_text(one.as_str()), Some(one));
        }
        assert_eq!(Permission::from_text("deduct"), None);
    }

    #[test]
    fn reasons_are_read_as_the_ledger_writes_them() {
        assert_eq!(Reason::from_text("FreeGrant"), None);
        for text in [
            "purchase",
            "deduction",
            "free_grant",
            "manual",
            "refund",
            "expiry",
            "reversal",
            "forgiveness",
        ] {
            let reason = Reason::from_text(text).expect(text);
            assert_eq!(serde_json::to_value(reason).unwrap(), text);
        }
    }
}
