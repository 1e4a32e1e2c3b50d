//! Choices without fields. Each is stored as its place in its list: a list is only ever added to, in
//! the file of a new version.

use domain::{
    catalog, history, notice, time,
    wallet::{self, event},
};
use serde::{Deserialize, Serialize};

macro_rules! kind {
    ($name:ident, $domain:path: $($variant:ident),+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub(super) enum $name {
            $($variant),+
        }

        impl From<$domain> for $name {
            fn from(kind: $domain) -> Self {
                use $domain as Domain;
                match kind {
                    $(Domain::$variant => Self::$variant),+
                }
            }
        }

        impl From<$name> for $domain {
            fn from(kind: $name) -> Self {
                match kind {
                    $($name::$variant => Self::$variant),+
                }
            }
        }
    };
}

kind!(Period, time::Period: Once, Daily, Weekly, Monthly, Yearly);
kind!(Reason, history::Reason: Purchase, Deduction, FreeGrant, Manual, Refund, Expiry);
kind!(HoldStatus, history::HoldStatus: Open, Settled, Released, Expired);
kind!(OrderKind, wallet::OrderKind: Checkout, Renewal, Switch);
kind!(ProviderKind, wallet::ProviderKind: Sandbox, Stripe);
kind!(Stage, wallet::Stage: Pending, Failed, Expired, Paid);
kind!(SubscriptionStatus, wallet::SubscriptionStatus: Active, PastDue, Paused, Canceled);
kind!(News, event::SubscriptionNews: Started, Renewed, Updated, PastDue, Canceled);
kind!(OrderNews, notice::OrderNews: Paid, Failed, Expired, Refunded, Disputed, DisputeClosed);
kind!(InstructionStage, wallet::InstructionStage: Asked, Done, Refused);
kind!(Interval, catalog::Interval: OneTime, Month, Year);
kind!(Mode, catalog::Mode: CreditCodes, ExternalUsers);
kind!(KeyKind, catalog::KeyKind: Publishable, Secret);
kind!(ProductType, catalog::ProductType: Credits, Subscription, OneTime);
