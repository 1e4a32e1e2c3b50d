//! What there is to hide, and who may see it: the table of `SECURITY.md`, as a function.

use crate::visitors::Holder;

/// What a secret is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SecretKind {
    /// A recovery code that opens its wallet.
    Code,
    /// One that an order's opener named, or whose wallet its payment made: the order's id leads to it.
    CodeOfOrder,
    /// One that was replaced.
    FormerCode,
    /// A publishable key: public, but of its project.
    PublishableKey,
    /// A key or token that is shown once, a password, a second factor, an idempotency key.
    ShownOnce,
    /// What the project's sandbox is asked and signs with.
    SandboxKey,
    /// What a receiver of webhooks answers, and the query of its address.
    OfReceiver,
    /// The address of a buyer.
    Address,
    /// The address of a buyer who was erased.
    ErasedAddress,
    /// The provider's id of a customer or payment.
    OfProvider,
    /// The name of an order, with which a publishable key reads it.
    Order,
    /// The name of a hold, with which a publishable key settles it.
    Hold,
    /// The name of a wallet in the administration.
    WalletRef,
}

/// Something that only some may see.
#[derive(Debug, Clone)]
pub(crate) struct Secret {
    /// What it is, for the message.
    pub(crate) what: String,
    pub(crate) kind: SecretKind,
    pub(crate) text: String,
    /// The shop that it belongs to; `None`: to no one.
    pub(crate) shop: Option<usize>,
    /// The name of the wallet that it belongs to.
    pub(crate) wallet: Option<String>,
    /// The address that it may be mailed to.
    pub(crate) buyer: Option<String>,
}

impl Secret {
    pub(crate) fn new(kind: SecretKind, what: &str, text: &str, shop: Option<usize>) -> Self {
        assert!(text.len() > 6, "{what} is found anywhere: {text:?}");
        Self {
            what: what.into(),
            kind,
            text: text.into(),
            shop,
            wallet: None,
            buyer: None,
        }
    }

    pub(crate) fn of_wallet(self, wallet: &str) -> Self {
        let wallet = Some(wallet.into());
        Self { wallet, ..self }
    }

    pub(crate) fn of_buyer(self, buyer: &str) -> Self {
        let buyer = Some(buyer.into());
        Self { buyer, ..self }
    }

    /// Whether a holder of a credential may see it in an answer of this route.
    pub(crate) fn is_for(&self, holder: &Holder, route: &str) -> bool {
        use SecretKind as Kind;
        let Some(shop) = self.shop else {
            return false;
        };
        let is_server = match holder {
            Holder::Secret(of) | Holder::Receiver(of) => *of == shop,
            // What a restricted key reads has no recovery codes, unless it may open wallets.
            Holder::Restricted(of, can) => {
                let is_code =
                    matches!(self.kind, Kind::Code | Kind::FormerCode | Kind::CodeOfOrder);
                let needed: &[&str] = match is_code {
                    true => &["sessions"],
                    false => &["read", "orders", "refund"],
                };
                *of == shop && needed.iter().any(|ability| can.contains(ability))
            }
            _ => false,
        };
        let sees_pages = holder.reads_pages_of(shop);
        let sees_secrets = holder.sees_secrets_of(shop);
        let is_publishable = *holder == Holder::Publishable(shop);
        let is_own = matches!(holder, Holder::Session(of, wallet)
            if *of == shop && self.wallet.as_ref() == Some(wallet));
        match self.kind {
            Kind::Code | Kind::FormerCode => is_server || sees_secrets,
            Kind::CodeOfOrder => is_server || sees_secrets || is_publishable,
            Kind::PublishableKey | Kind::WalletRef => sees_pages,
            Kind::ShownOnce => false,
            Kind::SandboxKey => holder.manages(shop),
            Kind::OfReceiver => sees_secrets,
            // A buyer's page at the provider is theirs who have its address.
            Kind::Address if route == "a page for buyers" => true,
            Kind::Address | Kind::OfProvider => is_server || sees_pages,
            // What was sent stays as it was sent.
            Kind::ErasedAddress => {
                let is_event = route.contains("/events")
                    || route.contains("/deliveries")
                    || route.contains("delivery");
                is_event && (is_server || sees_pages)
            }
            Kind::Order => is_server || sees_pages || is_publishable || is_own,
            Kind::Hold => is_server || sees_secrets,
        }
    }
}

/// Whether a text has a recovery code that is none of these.
pub(crate) fn codes(text: &str) -> Vec<&str> {
    let is_code = |word: &&str| {
        let mut parts = word.split('-');
        let begins = parts.next().is_some_and(|first| {
            (4..=6).contains(&first.len()) && first.bytes().all(|c| c.is_ascii_uppercase())
        });
        let is_group = |part: &str| {
            part.len() == 4
                && part
                    .bytes()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        };
        let groups: Vec<&str> = parts.collect();
        begins && groups.len() == 3 && groups.iter().all(|part| is_group(part))
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(is_code).collect()
}

/// Keys, tokens and signing secrets in a text, without publishable keys.
pub(crate) fn keys(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_-+/=".contains(c));
    let begins = |word: &&str| {
        let prefix = ["pay_sk_", "pay_ws_", "pay_rk_", "whsec_"];
        // Its first letters may be shown.
        prefix.iter().any(|prefix| word.starts_with(prefix)) && word.len() > 24
    };
    words.filter(begins).collect()
}
