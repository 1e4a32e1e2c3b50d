//! Examples of requests and answers, made from a description: its examples where it has some, else a value that fits
//! the name, the choices or the type.

use serde_json::Value;

use super::schema::{Document, fields, parts};

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Json,
    TypeScript,
    Python,
}

/// The body of every identifier in examples.
const BODY: &str = "01jd3v8q6pf6r9x3v1m2k4c5d7";

/// Values of strings by the end of their name: the first that fits.
const BY_NAME: &[(&str, &str)] = &[
    ("externalUserId", "user_42"),
    ("orderIdOrCheckoutId", "ord_"),
    ("walletRef", "wal_"),
    ("walletId", "wal_"),
    ("productId", "prod_"),
    ("creditsProductId", "prod_"),
    ("providerPriceId", "price_1Q2w3E4r5T6y7U8i"),
    ("priceId", "price_"),
    ("projectId", "proj_"),
    ("holdId", "hold_"),
    ("ledgerId", "led_"),
    ("orderId", "ord_"),
    ("webhookId", "wh_"),
    ("deliveryId", "dlv_"),
    ("eventId", "evt_"),
    ("keyId", "key_"),
    ("userId", "usr_"),
    ("sessionId", "ses_"),
    ("checkoutId", "cs_test_a1B2c3D4e5F6"),
    ("paymentId", "pi_3Q2w3E4r5T6y7U8i"),
    ("customerId", "cus_Q2w3E4r5T6y7U8"),
    ("invoiceId", "in_1Q2w3E4r5T6y7U8i"),
    ("subscriptionId", "sub_"),
    ("idempotencyKey", "image-7f3c"),
    ("code", "OLIVE-7K2M-9QXP-4TBD"),
    ("token", "pay_ws_…"),
    ("publishableKey", "pay_pk_…"),
    ("secretKey", "pay_sk_…"),
    ("secret", "whsec_…"),
    ("webhookSecret", "whsec_…"),
    ("apiBase", "https://pay.example/sandbox/proj_"),
    ("actor", "Ann (usr_01jd3v8q6pf6r9x3v1m2k4c5d7)"),
    ("address", "203.0.113.7"),
    ("browser", "Firefox on Linux"),
    ("mailedTo", "ann@example.com"),
    ("Email", "ann@example.com"),
    ("email", "ann@example.com"),
    ("currency", "EUR"),
    ("creditUnit", "image"),
    ("feature", "upscale"),
    ("label", "Starter"),
    ("expiresAt", "2027-01-31T23:59:59.000Z"),
    ("currentPeriodEnd", "2027-01-31T23:59:59.000Z"),
    ("At", "2026-11-28T09:30:00.000Z"),
    ("since", "2026-11-28T00:00:00.000Z"),
    ("from", "2026-11-01T00:00:00.000Z"),
    ("to", "2026-11-28T00:00:00.000Z"),
    ("at", "2026-11-28T09:30:00.000Z"),
    ("start", "2026-11-28T00:00:00.000Z"),
    ("timestamp", "2026-11-28T09:30:00.000Z"),
    ("returnUrl", "https://shop.example/account"),
    (
        "invitationUrl",
        "https://pay.example/dashboard/invitation#…",
    ),
    ("url", "https://shop.example/scrip"),
    ("name", "Images"),
    ("project", "Image shop"),
    ("note", "Asked for by support"),
    ("query", "ann@example.com"),
    ("slug", "chat"),
    ("type", "order.paid"),
    ("description", "Images by the piece"),
    ("price", "price_1Q2w3E4r5T6y7U8i"),
];

impl<'a> Document<'a> {
    /// An example of this schema, written for a language, its lines indented by `indent`.
    pub(super) fn example(self, schema: &'a Value, language: Language, indent: usize) -> String {
        self.value("", schema, language, indent)
    }

    /// The example of a value by its name.
    pub(super) fn named(self, name: &str, schema: &'a Value) -> Value {
        serde_json::from_str(&self.value(name, schema, Language::Json, 0)).unwrap_or_default()
    }

    /// The example of a parameter in a path or a query.
    pub(super) fn parameter(self, name: &str, schema: &'a Value) -> String {
        let written = self.value(name, schema, Language::Json, 0);
        written.trim_matches('"').to_owned()
    }

    fn value(self, name: &str, schema: &'a Value, language: Language, indent: usize) -> String {
        let by_name = || {
            let fitting = BY_NAME.iter().find(|(end, _)| name.ends_with(end));
            fitting.map(|(_, value)| *value)
        };
        let kind = kind(schema);
        if schema.get("example").is_none()
            && self.is_string(schema)
            && let Some(value) = by_name()
        {
            return quoted(&identifier(value));
        }
        if schema.get("$ref").is_some() {
            return self.value(name, self.resolve(schema), language, indent);
        }
        let given = schema
            .get("example")
            .or_else(|| schema.get("examples")?.get(0));
        if let Some(given) = given {
            return literal(given, language);
        }
        if let Some(prefix) = prefix(schema) {
            return quoted(&format!("{prefix}{BODY}"));
        }
        if let Some((parts, word)) = parts(schema) {
            return match (word, parts.first()) {
                (" and ", _) => self.object(schema, language, indent),
                (_, Some(first)) => self.value(name, first, language, indent),
                (_, None) => literal(&Value::Null, language),
            };
        }
        let choice = schema.get("enum").and_then(|all| all.get(0));
        match (choice, kind) {
            (Some(choice), _) => literal(choice, language),
            (None, "object") => self.object(schema, language, indent),
            (None, "array") => {
                let items = schema.get("items").unwrap_or(&Value::Null);
                let singular = name.strip_suffix('s').unwrap_or(name);
                format!("[{}]", self.value(singular, items, language, indent))
            }
            (None, "integer" | "number") => number(name, schema).to_string(),
            (None, "boolean") => literal(&Value::Bool(name != "processing"), language),
            _ => match first_choice(schema) {
                Some(choice) => quoted(choice),
                None if is_nullable(schema) => literal(&Value::Null, language),
                None => quoted("…"),
            },
        }
    }

    /// An object of what is required, or of its first two fields where nothing is.
    fn object(self, schema: &'a Value, language: Language, indent: usize) -> String {
        let members = self.shown_members(schema);
        if members.is_empty() {
            return "{}".to_owned();
        }
        let inner = indent.saturating_add(2);
        let lines = members.into_iter().map(|(name, field, _)| {
            let value = self.value(name, field, language, inner);
            match language {
                Language::TypeScript => format!("{:inner$}{name}: {value}", ""),
                Language::Json | Language::Python => format!("{:inner$}\"{name}\": {value}", ""),
            }
        });
        let lines: Vec<_> = lines.collect();
        format!("{{\n{}\n{:indent$}}}", lines.join(",\n"), "")
    }

    /// The fields of an object that an example has.
    pub(super) fn shown_members(self, schema: &'a Value) -> Vec<(&'a str, &'a Value, bool)> {
        let mut members = Vec::new();
        self.first_members(schema, &mut members);
        if members.iter().any(|(.., is_required)| *is_required) {
            // Only a session, or a caller with a code, may leave the user out.
            members.retain(|(name, _, is_required)| *is_required || *name == "externalUserId");
        } else {
            members.truncate(2);
        }
        members
    }

    /// The fields of an object and of all its parts; of alternatives, those of the first. The part that names the
    /// wallet is the last of a schema and comes first here.
    fn first_members(self, schema: &'a Value, into: &mut Vec<(&'a str, &'a Value, bool)>) {
        let schema = self.resolve(schema);
        match parts(schema) {
            Some((parts, " and ")) => parts
                .iter()
                .rev()
                .for_each(|part| self.first_members(part, into)),
            Some((parts, _)) => parts
                .iter()
                .take(1)
                .for_each(|part| self.first_members(part, into)),
            None => into.extend(fields(schema)),
        }
    }

    /// Whether a schema is, or leads to, a string.
    fn is_string(self, schema: &'a Value) -> bool {
        let schema = self.resolve(schema);
        let of_parts = || parts(schema).and_then(|(parts, _)| Some(self.is_string(parts.first()?)));
        schema.get("enum").is_none() && (kind(schema) == "string" || of_parts().unwrap_or_default())
    }
}

/// The type of a schema; of several, the first that is not null.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ => "",
    }
}

/// The prefix of an identifier whose description shows it: "`ord_…`".
fn prefix(schema: &Value) -> Option<String> {
    let description = schema.get("description")?.as_str()?;
    let (before, _) = description.split_once("_…`")?;
    let (_, word) = before.rsplit_once('`')?;
    Some(format!("{word}_"))
}

/// The first of the values that a description begins with: "`running`, `succeeded` or `failed`".
fn first_choice(schema: &Value) -> Option<&str> {
    let description = schema.get("description")?.as_str()?;
    Some(description.strip_prefix('`')?.split_once('`')?.0)
}

fn is_nullable(schema: &Value) -> bool {
    let kinds = schema.get("type").and_then(Value::as_array);
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
}

/// A prefix with the body of an identifier, or any other value as it is.
fn identifier(value: &str) -> String {
    match value.ends_with('_') {
        true => format!("{value}{BODY}"),
        false => value.to_owned(),
    }
}

fn number(name: &str, schema: &Value) -> i64 {
    let least = schema.get("minimum").and_then(Value::as_i64);
    match name {
        "balance" | "balanceAfter" => 97,
        "amountCents" | "paidCents" => 900,
        "refundedCents" => 0,
        "quantity" => 1,
        "delta" => -3,
        "amount" | "requested" | "deducted" | "charged" | "credits" | "creditsGranted" => 3,
        "expiresInSeconds" => 900,
        _ => least.unwrap_or(1),
    }
}

fn literal(value: &Value, language: Language) -> String {
    match (value, language) {
        (Value::Bool(true), Language::Python) => "True".to_owned(),
        (Value::Bool(false), Language::Python) => "False".to_owned(),
        (Value::Null, Language::Python) => "None".to_owned(),
        (value, _) => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
