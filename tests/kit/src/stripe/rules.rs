//! What Stripe takes, as far as it is asked for: every path, every field, what goes together. Whatever is
//! not written here is a fault of whoever asks. Kept by hand from Stripe's reference of the version below,
//! and not from the client that it judges.

mod together;

use std::collections::BTreeMap;

use together::{ending, expanded, few_products, invoice_payments, page, page_of_events, session};

/// The version that these rules are of.
pub const VERSION: &str = "2026-10-28.endive";

/// A request's pairs.
pub(super) type Form = BTreeMap<String, String>;

/// What a field says.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Anything but nothing.
    Text,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Flag,
    /// An `http` or `https` address.
    Address,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Nothing: the field is unset.
    Unset,
    /// A text that was written to be read back: at most 500 characters under a name of at most 40.
    Mark,
}

/// One kind of request.
struct Rule {
    method: &'static str,
    /// `{}` stands for an identifier.
    path: &'static str,
    /// `#` stands for an index, `*` for any name.
    fields: &'static [(&'static str, Kind)],
    /// Fields that it cannot be without.
    needs: &'static [&'static str],
    /// What else has to hold.
    also: fn(&Form) -> Result<(), String>,
}

/// Where there is nothing else.
const ANY: fn(&Form) -> Result<(), String> = |_| Ok(());

const fn read(path: &'static str) -> Rule {
    Rule {
        method: "GET",
        path,
        fields: &[],
        needs: &[],
        also: ANY,
    }
}

const fn list(path: &'static str, fields: &'static [(&'static str, Kind)]) -> Rule {
    Rule {
        fields,
        also: page,
        ..read(path)
    }
}

/// How lists of money that moved are asked for.
const MONEY: &[(&str, Kind)] = &[
    ("created[gte]", Kind::Number),
    ("created[gt]", Kind::Number),
    ("created[lte]", Kind::Number),
    ("created[lt]", Kind::Number),
    ("charge", Kind::Text),
    ("payment_intent", Kind::Text),
    ("starting_after", Kind::Text),
    ("limit", Kind::Number),
];

/// How lists of what is to be paid are asked for.
const BILLS: &[(&str, Kind)] = &[
    ("created[gte]", Kind::Number),
    ("created[lte]", Kind::Number),
    ("customer", Kind::Text),
    ("email", Kind::Text),
    ("payment_intent", Kind::Text),
    ("price", Kind::Text),
    ("status", Kind::Text),
    ("subscription", Kind::Text),
    ("starting_after", Kind::Text),
    ("limit", Kind::Number),
];

const UPDATE: &[(&str, Kind)] = &[
    ("features[invoice_history][enabled]", Kind::Flag),
    ("features[payment_method_update][enabled]", Kind::Flag),
    ("features[subscription_cancel][enabled]", Kind::Flag),
    (
        "features[subscription_cancel][mode]",
        Kind::Word(&["at_period_end", "immediately"]),
    ),
    ("features[subscription_update][enabled]", Kind::Flag),
    (
        "features[subscription_update][default_allowed_updates][#]",
        Kind::Word(&["price", "promotion_code", "quantity"]),
    ),
    (
        "features[subscription_update][proration_behavior]",
        Kind::Word(&["always_invoice", "create_prorations", "none"]),
    ),
    (
        "features[subscription_update][schedule_at_period_end][conditions][#][type]",
        Kind::Word(&["decreasing_item_amount", "shortening_interval"]),
    ),
    (
        "features[subscription_update][products][#][product]",
        Kind::Text,
    ),
    (
        "features[subscription_update][products][#][prices][#]",
        Kind::Text,
    ),
];

const RULES: &[Rule] = &[
    Rule {
        method: "POST",
        path: "/v1/checkout/sessions",
        fields: &[
            ("mode", Kind::Word(&["payment", "subscription"])),
            ("line_items[#][price_data][currency]", Kind::Text),
            ("line_items[#][price_data][unit_amount]", Kind::Number),
            ("line_items[#][price_data][product_data][name]", Kind::Text),
            ("line_items[#][price]", Kind::Text),
            ("line_items[#][quantity]", Kind::Number),
            ("customer", Kind::Text),
            ("customer_creation", Kind::Word(&["always", "if_required"])),
            ("customer_email", Kind::Text),
            ("allow_promotion_codes", Kind::Flag),
            ("discounts[0][promotion_code]", Kind::Text),
            ("discounts[0][coupon]", Kind::Text),
            ("success_url", Kind::Address),
            ("cancel_url", Kind::Address),
            ("expires_at", Kind::Number),
            ("locale", Kind::Text),
            ("client_reference_id", Kind::Text),
            ("metadata[*]", Kind::Mark),
            ("payment_intent_data[metadata][*]", Kind::Mark),
            ("subscription_data[metadata][*]", Kind::Mark),
            ("subscription_data[trial_period_days]", Kind::Number),
            ("automatic_tax[enabled]", Kind::Flag),
            ("tax_id_collection[enabled]", Kind::Flag),
            ("customer_update[address]", Kind::Word(&["auto", "never"])),
            ("customer_update[name]", Kind::Word(&["auto", "never"])),
            (
                "billing_address_collection",
                Kind::Word(&["auto", "required"]),
            ),
            ("invoice_creation[enabled]", Kind::Flag),
            (
                "consent_collection[terms_of_service]",
                Kind::Word(&["none", "required"]),
            ),
        ],
        needs: &["mode", "line_items[0][quantity]", "success_url"],
        also: session,
    },
    read("/v1/checkout/sessions/{}"),
    Rule {
        method: "POST",
        path: "/v1/checkout/sessions/{}/expire",
        ..read("")
    },
    Rule {
        fields: &[
            ("lookup_keys[#]", Kind::Text),
            ("active", Kind::Flag),
            ("limit", Kind::Number),
            ("expand[0]", Kind::Word(&["data.product"])),
        ],
        also: page,
        ..read("/v1/prices")
    },
    read("/v1/prices/{}"),
    Rule {
        method: "POST",
        fields: &[("metadata[*]", Kind::Mark)],
        ..read("/v1/prices/{}")
    },
    Rule {
        method: "POST",
        path: "/v1/prices",
        fields: &[
            ("currency", Kind::Text),
            ("unit_amount", Kind::Number),
            ("recurring[interval]", Kind::Word(&["month", "year"])),
            ("lookup_key", Kind::Text),
            ("transfer_lookup_key", Kind::Flag),
            ("metadata[*]", Kind::Mark),
            ("product_data[name]", Kind::Text),
            ("product_data[metadata][*]", Kind::Mark),
        ],
        needs: &["currency", "unit_amount", "product_data[name]"],
        also: ANY,
    },
    Rule {
        fields: &[
            ("code", Kind::Text),
            ("active", Kind::Flag),
            ("limit", Kind::Number),
        ],
        also: page,
        ..read("/v1/promotion_codes")
    },
    Rule {
        method: "POST",
        fields: UPDATE,
        needs: &["features[subscription_update][enabled]"],
        also: few_products,
        ..read("/v1/billing_portal/configurations")
    },
    Rule {
        method: "POST",
        fields: UPDATE,
        also: few_products,
        ..read("/v1/billing_portal/configurations/{}")
    },
    Rule {
        method: "POST",
        fields: &[
            ("customer", Kind::Text),
            ("configuration", Kind::Text),
            ("return_url", Kind::Address),
        ],
        needs: &["customer"],
        ..read("/v1/billing_portal/sessions")
    },
    Rule {
        fields: &[
            ("payment[type]", Kind::Word(&["payment_intent", "charge"])),
            ("payment[payment_intent]", Kind::Text),
            ("invoice", Kind::Text),
            ("status", Kind::Word(&["open", "paid", "canceled"])),
            ("limit", Kind::Number),
            ("starting_after", Kind::Text),
        ],
        also: invoice_payments,
        ..read("/v1/invoice_payments")
    },
    Rule {
        fields: &[
            ("created[gte]", Kind::Number),
            ("created[lte]", Kind::Number),
            ("types[#]", Kind::Text),
            ("starting_after", Kind::Text),
            ("limit", Kind::Number),
        ],
        also: page_of_events,
        ..read("/v1/events")
    },
    Rule {
        fields: &[("limit", Kind::Number)],
        also: page,
        ..read("/v1/webhook_endpoints")
    },
    Rule {
        method: "POST",
        fields: &[
            ("url", Kind::Address),
            ("api_version", Kind::Word(&[VERSION])),
            ("description", Kind::Text),
            ("enabled_events[#]", Kind::Text),
            ("metadata[*]", Kind::Mark),
        ],
        needs: &["url", "enabled_events[0]"],
        ..read("/v1/webhook_endpoints")
    },
    Rule {
        method: "POST",
        fields: &[
            ("url", Kind::Address),
            ("description", Kind::Text),
            ("disabled", Kind::Flag),
            ("enabled_events[#]", Kind::Text),
            ("metadata[*]", Kind::Mark),
        ],
        ..read("/v1/webhook_endpoints/{}")
    },
    Rule {
        method: "DELETE",
        ..read("/v1/webhook_endpoints/{}")
    },
    Rule {
        method: "POST",
        fields: &[
            ("payment_intent", Kind::Text),
            ("amount", Kind::Number),
            ("metadata[*]", Kind::Mark),
        ],
        needs: &["payment_intent"],
        ..read("/v1/refunds")
    },
    Rule {
        method: "POST",
        fields: &[
            ("cancel_at_period_end", Kind::Flag),
            ("cancel_at", Kind::Unset),
            ("pause_collection", Kind::Unset),
            ("metadata[*]", Kind::Mark),
        ],
        also: ending,
        ..read("/v1/subscriptions/{}")
    },
    Rule {
        method: "POST",
        ..read("/v1/subscriptions/{}/resume")
    },
    Rule {
        method: "POST",
        ..read("/v1/subscription_schedules/{}/release")
    },
    Rule {
        method: "DELETE",
        ..read("/v1/subscriptions/{}")
    },
    read("/v1/account"),
    list("/v1/charges", MONEY),
    read("/v1/charges/{}"),
    list("/v1/refunds", MONEY),
    read("/v1/refunds/{}"),
    list("/v1/disputes", MONEY),
    read("/v1/disputes/{}"),
    list("/v1/invoices", BILLS),
    read("/v1/invoices/{}"),
    list("/v1/invoices/{}/lines", BILLS),
    read("/v1/payment_intents/{}"),
    list("/v1/subscriptions", BILLS),
    read("/v1/subscriptions/{}"),
    list("/v1/checkout/sessions", BILLS),
    list("/v1/customers", BILLS),
    read("/v1/customers/{}"),
];

/// Every kind of request that is taken: its method and its path, where `{}` stands for an identifier.
pub fn requests() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES.iter().map(|rule| (rule.method, rule.path))
}

/// Whether Stripe takes this; else what is wrong with it.
pub(super) fn check(method: &str, path: &str, form: &Form) -> Result<(), String> {
    let rule = RULES
        .iter()
        .find(|rule| rule.method == method && is_path(rule.path, path))
        .ok_or("there is no such request")?;
    expanded(form)?;
    for (name, value) in form.iter().filter(|(name, _)| !is_field("expand[#]", name)) {
        let (pattern, kind) = rule
            .fields
            .iter()
            .find(|(pattern, _)| is_field(pattern, name))
            .ok_or_else(|| format!("{name} is unknown"))?;
        if !kind.takes(name, value) {
            return Err(format!("{name} is no {kind:?} of {pattern}: {value}"));
        }
    }
    let missing = rule.needs.iter().find(|name| !form.contains_key(**name));
    if let Some(missing) = missing {
        return Err(format!("{missing} is missing"));
    }
    (rule.also)(form)
}

impl Kind {
    fn takes(self, name: &str, value: &str) -> bool {
        match self {
            Self::Text => !value.is_empty(),
            Self::Number => value.parse::<u64>().is_ok(),
            Self::Unset => value.is_empty(),
            Self::Flag => ["true", "false"].contains(&value),
            Self::Address => value.starts_with("https://") || value.starts_with("http://"),
            Self::Word(words) => words.contains(&value),
            Self::Mark => {
                let name = names(name).last().unwrap_or_default();
                (1..=40).contains(&name.chars().count()) && value.chars().count() <= 500
            }
        }
    }
}

fn is_path(pattern: &str, path: &str) -> bool {
    let fits = |(pattern, segment): (&str, &str)| match pattern {
        "{}" => !segment.is_empty(),
        pattern => pattern == segment,
    };
    pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(fits)
}

fn is_field(pattern: &str, name: &str) -> bool {
    let fits = |(pattern, name): (&str, &str)| match pattern {
        "#" => name.parse::<u8>().is_ok(),
        "*" => !name.is_empty(),
        pattern => pattern == name,
    };
    names(pattern).count() == names(name).count() && names(pattern).zip(names(name)).all(fits)
}

/// `a[0][b]` as `a`, `0`, `b`.
pub(super) fn names(field: &str) -> impl Iterator<Item = &str> {
    field.split('[').map(|name| name.trim_end_matches(']'))
}
