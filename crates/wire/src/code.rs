//! Every code that a refusal may carry: status, message, meaning, advice, and whether to retry. Within v1 none is renamed
//! or removed. `docs/errors.md` and the description's refusals are made from this table.

macro_rules! codes {
    ($($group:literal { $($(#[doc = $doc:literal])+ $name:ident = $status:ident $text:literal $message:literal
        do $advice:literal retry $retry:literal;)* })*) => {
        /// What went wrong, as a program reads it. Stable within v1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($($(#[doc = $doc])+ $name,)*)*
        }

        impl ErrorCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)*)*];

            /// The code as a response's body has it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($(Self::$name => $text,)*)* }
            }

            /// The HTTP status of a refusal with this code.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $($(Self::$name => StatusCode::$status,)*)* }
            }

            /// Where this server explains it, relative to its address.
            #[must_use]
            pub const fn docs(self) -> &'static str {
                match self { $($(Self::$name => concat!("/docs/errors#", $text),)*)* }
            }

            /// The sentence for a person, where a refusal has no better one.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $($(Self::$name => $message,)*)* }
            }

            /// The codes as the documentation explains them, in Markdown.
            #[must_use]
            pub fn explained() -> String {
                let mut text = String::new();
                $(
                    text.push_str(concat!("## ", $group, "\n\n"));
                    $(text.push_str(&super::entry(Self::$name, concat!($($doc),+), $advice, $retry));)*
                )*
                text
            }
        }
    };
}

mod table;

pub use table::ErrorCode;

/// A code's entry in the documentation, wrapped.
fn entry(code: ErrorCode, meaning: &str, advice: &str, retry: &str) -> String {
    let advice = match advice {
        "" => String::new(),
        advice => format!(" **Do:** {advice}."),
    };
    let status = code.status().as_u16();
    let entry = format!(
        "HTTP {status}. {}{advice} **Retry:** {retry}.",
        meaning.trim()
    );
    let (mut text, mut column) = (format!("### {}\n\n", code.as_str()), 0_usize);
    for word in entry.split_whitespace() {
        let width = word.chars().count();
        if column > 0 {
            let fits = column.saturating_add(width) < LINE;
            text.push(if fits { ' ' } else { '\n' });
            column = if fits { column.saturating_add(1) } else { 0 };
        }
        text.push_str(word);
        column = column.saturating_add(width);
    }
    text.push_str("\n\n");
    text
}

/// The width of the documentation's lines.
const LINE: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_statuses_are_the_documented_ones() {
        let table: Vec<(u16, &str)> = ErrorCode::ALL
            .iter()
            .map(|code| (code.status().as_u16(), code.as_str()))
            .collect();
        let documented = [
            (400, "invalid_request"),
            (400, "conflicting_wallet"),
            (400, "product_required"),
            (400, "invalid_discount_code"),
            (400, "invalid_signature"),
            (401, "missing_api_key"),
            (401, "invalid_api_key"),
            (401, "session_expired"),
            (402, "insufficient_credits"),
            (403, "secret_key_required"),
            (403, "session_forbidden"),
            (403, "wallet_frozen"),
            (403, "redirect_not_allowed"),
            (403, "anonymous_wallets_disabled"),
            (403, "role_forbidden"),
            (412, "changed_meanwhile"),
            (404, "wallet_not_found"),
            (404, "product_not_found"),
            (404, "price_not_found"),
            (404, "hold_not_found"),
            (404, "order_not_found"),
            (404, "subscription_not_found"),
            (404, "event_not_found"),
            (404, "webhook_not_found"),
            (404, "delivery_not_found"),
            (404, "route_not_found"),
            (405, "method_not_allowed"),
            (413, "body_too_large"),
            (415, "unsupported_media_type"),
            (409, "idempotency_key_reused"),
            (409, "hold_closed"),
            (409, "already_subscribed"),
            (409, "already_owned"),
            (409, "already_refunded"),
            (409, "no_purchase"),
            (409, "provider_not_configured"),
            (409, "provider_in_use"),
            (409, "balance_limit"),
            (409, "too_many_holds"),
            (409, "too_many_lots"),
            (409, "too_many_pending_orders"),
            (409, "currency_mismatch"),
            (429, "rate_limited"),
            (429, "too_many_invalid_codes"),
            (429, "wallet_creation_limit"),
            (500, "internal_error"),
            (502, "provider_error"),
            (503, "overloaded"),
            (503, "unavailable"),
        ];
        for row in documented {
            assert!(table.contains(&row), "{row:?}");
        }
    }
}
