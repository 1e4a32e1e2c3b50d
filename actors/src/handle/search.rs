//! An operator's search for wallets, orders and ledger entries. Each possible reading of the text is tried as a
//! look-up.

use domain::{
    Rejection,
    code::RecoveryCode,
    id::{HoldId, OrderId, PublicSubscriptionId, WalletId, WalletKey},
    text::{CheckoutId, CustomerId, Email, ExternalUserId, InvoiceId, PaymentId, SubscriptionId},
};
use persistence::{Books, OrderFilter, ProviderId, WalletName, case_folded};

use super::{Address, Handle, Scope, orders::looked_up};
use crate::{
    answer::{Error, ListedWallet, SearchResult},
    wallet::{FindByKey, PeekWallet},
};

/// The most users with a common prefix that are read to find matches.
const MAX_CANDIDATES: usize = 200;

/// Matches, in the order in which they are shown.
#[derive(Default)]
struct Places {
    addresses: Vec<Address>,
    orders: Vec<OrderId>,
}

impl Handle {
    /// The matches of a text in a project, each once and at most `limit` of a kind: a user id or its beginning, in any
    /// case; a recovery code, in any spelling, also a replaced one; `wref_…`, `wal_…`, an order, a hold; the provider's
    /// checkout, payment, invoice, subscription or customer; the email address of an order. Within a wallet: ledger
    /// entries by idempotency key.
    /// # Errors
    /// [`Rejection::WalletNotFound`] when there is no such wallet to search in; [`Error::Unavailable`] when the books
    /// cannot be read; else see [`Error`].
    pub async fn search(
        &self,
        scope: &Scope,
        within: Option<WalletKey>,
        text: &str,
        limit: usize,
    ) -> Result<SearchResult, Error> {
        let mut results = SearchResult::default();
        if let Some(wallet) = within {
            let key = FindByKey(text.trim().into());
            results.entries = self.ask_at(scope, &Address::Stored(wallet), key).await?;
            return Ok(results);
        }
        let Places { addresses, orders } = self.places(scope, text, limit)?;
        results.orders = self.orders_at(scope, orders).await?;
        results.orders.truncate(limit);
        for address in addresses {
            if results.wallets.len() >= limit {
                return Ok(results);
            }
            let wallet = self.peek(scope, &address).await;
            results.add(if_found(wallet)?);
        }
        self.add_users(scope, text, limit, &mut results).await?;
        Ok(results)
    }

    /// A wallet as its owner would see it now; nothing is logged.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn peek(&self, scope: &Scope, address: &Address) -> Result<ListedWallet, Error> {
        self.ask_at(scope, address, PeekWallet).await
    }

    /// The wallet that an operator names by its stored key or by its identifier.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; [`Error::Unavailable`] when the books cannot be read.
    pub fn named_wallet(&self, text: &str) -> Result<WalletKey, Error> {
        if let Ok(key) = text.parse::<WalletKey>() {
            return Ok(key);
        }
        match text.parse::<WalletId>() {
            Ok(id) => self.key_of(id),
            Err(_) => Err(Rejection::WalletNotFound.into()),
        }
    }

    /// Users' wallets by a prefix of the user's identifier, ignoring case.
    async fn add_users(
        &self,
        scope: &Scope,
        text: &str,
        limit: usize,
        results: &mut SearchResult,
    ) -> Result<(), Error> {
        let prefix = case_folded(text.trim());
        if ExternalUserId::new(text.trim()).is_err() {
            return Ok(());
        }
        let candidates = self.books().wallets_of(
            scope.project,
            WalletName::User(&prefix),
            MAX_CANDIDATES.max(limit),
        );
        for wallet in looked_up(candidates)? {
            if results.wallets.len() >= limit {
                break;
            }
            let wallet = self.peek(scope, &Address::Stored(wallet)).await;
            let wallet = if_found(wallet)?.filter(|wallet| {
                let user = wallet.view.external_user.as_ref();
                user.is_some_and(|user| case_folded(user.as_str()).starts_with(&prefix))
            });
            results.add(wallet);
        }
        Ok(())
    }

    /// Everything that a text may name; a user id may look like anything.
    fn places(&self, scope: &Scope, text: &str, limit: usize) -> Result<Places, Error> {
        let mut places = Places::default();
        let exact = ExternalUserId::new(text).ok().into_iter();
        places.addresses.extend(exact.map(Address::External));
        let text = text.trim();
        let trimmed = ExternalUserId::new(text).ok().into_iter();
        places.addresses.extend(trimmed.map(Address::External));
        let books = self.books();
        let code = RecoveryCode::parse(text);
        let read = || {
            if let Some(code) = &code {
                let hash = self.inner.keyring.code_hash(scope.project, code);
                places.add_wallet(books.former_code(&hash)?);
            }
            if let Ok(id) = text.parse::<WalletId>() {
                places.add_wallet(books.wallet(id)?);
            }
            for order in named_by_provider(books, scope, text, limit)? {
                places.add_order(order);
            }
            if let Ok(email) = Email::new(text) {
                let filter = OrderFilter {
                    email: Some(email.clone()),
                    ..OrderFilter::default()
                };
                for row in books.filtered_orders(scope.project, &filter, None, limit)? {
                    places.add_order(row.position.order);
                }
                let paid = books.wallets_of(scope.project, WalletName::Buyer(&email), limit)?;
                paid.into_iter().for_each(|it| places.add_wallet(Some(it)));
            }
            Ok(())
        };
        looked_up({ read }())?;
        places.add_wallet(text.parse::<WalletKey>().ok());
        places.add_wallet(text.parse::<HoldId>().ok().map(|hold| hold.wallet));
        if let Ok(order) = text.parse::<OrderId>() {
            places.add_order(order);
        }
        places.addresses.extend(code.map(Address::Code));
        Ok(places)
    }
}

impl Places {
    fn add_wallet(&mut self, wallet: Option<WalletKey>) {
        self.addresses.extend(wallet.map(Address::Stored));
    }

    fn add_order(&mut self, order: OrderId) {
        self.orders.push(order);
        self.add_wallet(Some(order.wallet));
    }
}

impl SearchResult {
    fn add(&mut self, wallet: Option<ListedWallet>) {
        let is_new = |wallet: &ListedWallet| {
            let mut others = self.wallets.iter();
            others.all(|other| other.view.key != wallet.view.key)
        };
        let wallet = wallet.filter(is_new);
        self.wallets.extend(wallet);
    }
}

fn named_by_provider(
    books: &dyn Books,
    scope: &Scope,
    text: &str,
    limit: usize,
) -> Result<Vec<OrderId>, persistence::Error> {
    let checkout = CheckoutId::new(text).ok();
    let payment = PaymentId::new(text).ok();
    let invoice = InvoiceId::new(text).ok();
    let subscription = SubscriptionId::new(text).ok();
    let customer = CustomerId::new(text).ok();
    let public_id = text.parse::<PublicSubscriptionId>();
    if let Ok(public_id) = public_id {
        let public_id = ProviderId::PublicSubscription(public_id);
        let orders = books.orders_by_provider_id(scope.project, public_id, limit)?;
        if !orders.is_empty() {
            return Ok(orders);
        }
    }
    let name = match text.split_once('_').map(|(prefix, _)| prefix) {
        Some("cs") => checkout.as_ref().map(ProviderId::Checkout),
        Some("pi") => payment.as_ref().map(ProviderId::Payment),
        Some("in") => invoice.as_ref().map(ProviderId::Invoice),
        Some("sub") => subscription.as_ref().map(ProviderId::Subscription),
        Some("cus") => customer.as_ref().map(ProviderId::Customer),
        _ => None,
    };
    name.map_or(Ok(Vec::new()), |name| {
        books.orders_by_provider_id(scope.project, name, limit)
    })
}

pub(super) fn if_found<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(Error::Rejected(Rejection::WalletNotFound | Rejection::OrderNotFound)) => Ok(None),
        Err(error) => Err(error),
    }
}
