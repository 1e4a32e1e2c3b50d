//! Operations on orders: placing, reporting payments and other changes, reading, listing. An order's id names its
//! wallet.

use domain::{
    Quantity, Rejection, Timestamp,
    id::{OrderId, OrderSerial, PublicSubscriptionId, WalletKey},
    terms::Terms,
    text::{CheckoutId, CustomerId, ExternalUserId, PaymentId},
    wallet::{Created, Owner, pay::Pay, place_order::PlaceOrder, purchase::Purchase},
};
use futures_util::{StreamExt as _, stream};
use persistence::{Books, OrderPosition, ProviderId};

use super::{Address, Handle, Scope, born, serial::serial};
use crate::{
    answer::{Error, OrderAnswer},
    keyring::{external_key, order_key},
    wallet::{Caller, CheckOrder, EndWithProvider, FindOrders, PortalCustomer, ReportPurchase},
};

impl Handle {
    /// Makes the id of an order for this wallet, or for a new one without an address, if the wallet would accept such
    /// an order; and returns the provider's customer if the owner is one. Nothing is logged.
    /// # Errors
    /// `WalletNotFound` for a code, and those of [`domain::wallet::Wallet::check_order`]; else see [`Error`].
    pub async fn draft_order(
        &self,
        scope: &Scope,
        address: Option<&Address>,
        terms: &Terms,
        quantity: Quantity,
    ) -> Result<(OrderId, Option<CustomerId>), Error> {
        let serial = OrderSerial(serial());
        let Some(address) = address else {
            let wallet = order_key(scope.project, serial);
            let order = OrderId { serial, wallet };
            return Ok((order, None));
        };
        let (wallet, caller) = self.target_of(scope, address)?;
        let checkout = CheckOrder(terms.clone(), quantity);
        let customer = match (self.ask(scope, (wallet, caller), checkout).await, address) {
            // The wallet is created with the order.
            (Err(Error::Rejected(Rejection::WalletNotFound)), Address::External(_)) => None,
            (answer, _) => answer?,
        };
        Ok((OrderId { serial, wallet }, customer))
    }

    /// Places an order that was drafted for this address. A missing user's wallet is created; a code must still be the
    /// current one.
    /// # Errors
    /// `WalletNotFound`, and those of [`domain::wallet::Wallet::check_order`]; else see [`Error`].
    pub async fn place_order(
        &self,
        scope: &Scope,
        order: OrderId,
        address: Option<&Address>,
        command: PlaceOrder,
    ) -> Result<(), Error> {
        let caller = match address {
            Some(Address::Code(code)) => {
                Caller::Code(self.inner.keyring.code_hash(scope.project, code))
            }
            Some(Address::Stored(_)) => Caller::Administrator(scope.project),
            Some(Address::Session(session)) => Caller::of_session(session),
            Some(Address::External(_)) | None => Caller::Order(scope.project),
        };
        let user = address.and_then(Address::user).cloned();
        let report = ReportPurchase {
            key: order.wallet,
            purchase: Purchase::Place(command),
        };
        let (place, created) = ((order.wallet, caller), creation(scope, order, user));
        match self.ask_or_create(scope, place, created, report).await {
            Err(Error::Rejected(Rejection::OrderNotFound)) => Err(Rejection::WalletNotFound.into()),
            placed => placed.map(drop),
        }
    }

    /// Fulfils an order of this wallet, once however often its payment is reported. Returns whether this call did.
    /// # Errors
    /// [`Rejection::OrderNotFound`] when the order is unknown and `pay` does not contain it; else see [`Error`].
    pub async fn pay(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        user: Option<ExternalUserId>,
        pay: Pay,
    ) -> Result<bool, Error> {
        let order = OrderId {
            serial: pay.order,
            wallet,
        };
        let created = pay
            .missing_order
            .as_ref()
            .and_then(|_| creation(scope, order, user));
        let pay = Purchase::Pay(Box::new(pay));
        self.report_to(scope, wallet, created, pay).await
    }

    /// Reports a change of a purchase to an existing wallet. Returns whether anything changed.
    /// # Errors
    /// [`Rejection::OrderNotFound`], [`Rejection::SubscriptionNotFound`]; else see [`Error`].
    pub async fn report(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        report: Purchase,
    ) -> Result<bool, Error> {
        self.report_to(scope, wallet, None, report).await
    }

    /// The serial of the order of a subscription's paid invoice, or of a part of it: stable for the same name.
    #[must_use]
    pub fn renewal_order(&self, scope: &Scope, paid: &str, created: Timestamp) -> OrderSerial {
        let keyring = &self.inner.keyring;
        keyring.renewal_order(scope.project, paid, created)
    }

    /// The id of the order for a payment that an operator assigns: stable for the same payment and address. Without an
    /// address the order gets a new wallet.
    /// # Errors
    /// [`Rejection::WalletNotFound`] for a code that opens none; [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn order_of_assignment(
        &self,
        scope: &Scope,
        payment: &PaymentId,
        paid_at: Timestamp,
        address: Option<&Address>,
    ) -> Result<OrderId, Error> {
        let keyring = &self.inner.keyring;
        let serial = keyring.renewal_order(scope.project, payment.as_str(), paid_at);
        let wallet = self.wallet_of_assignment(scope, serial, address).await?;
        Ok(OrderId { serial, wallet })
    }

    /// The wallet of an assigned order: the one at an address, or a new one.
    /// # Errors
    /// As [`Handle::order_of_assignment`].
    pub async fn wallet_of_assignment(
        &self,
        scope: &Scope,
        serial: OrderSerial,
        address: Option<&Address>,
    ) -> Result<WalletKey, Error> {
        Ok(match address {
            None => order_key(scope.project, serial),
            Some(Address::External(user)) => external_key(scope.project, user),
            Some(existing) => self.read(scope, existing).await?.key,
        })
    }

    /// An order's present state.
    /// # Errors
    /// [`Rejection::OrderNotFound`]; else see [`Error`].
    pub async fn order(&self, scope: &Scope, order: OrderId) -> Result<OrderAnswer, Error> {
        let orders = self.orders_of::<false>(scope, order.wallet, vec![order]);
        let found = orders.await?.pop();
        found.ok_or_else(|| Rejection::OrderNotFound.into())
    }

    /// Those of these orders of a wallet that there are, to list them or not.
    pub(super) async fn orders_of<const LISTS: bool>(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        orders: Vec<OrderId>,
    ) -> Result<Vec<OrderAnswer>, Error> {
        let found = self.ask_order(scope, wallet, FindOrders::<LISTS>(orders));
        let (mut answers, sealed) = found.await?;
        let code = sealed.and_then(|sealed| self.inner.keyring.unseal(&sealed));
        for answer in &mut answers {
            answer.code.clone_from(&code);
        }
        Ok(answers)
    }

    /// The order of a provider's checkout session.
    /// # Errors
    /// [`Rejection::OrderNotFound`]; else see [`Error`].
    pub async fn order_of_checkout(
        &self,
        scope: &Scope,
        checkout: &CheckoutId,
    ) -> Result<OrderAnswer, Error> {
        let order = self.order_of(scope, checkout)?;
        self.order(scope, order.ok_or(Rejection::OrderNotFound)?)
            .await
    }

    /// The id of the order of an object at the provider. Only its wallet knows the order's present state.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn order_of<'a>(
        &self,
        scope: &Scope,
        object: impl Into<ProviderId<'a>>,
    ) -> Result<Option<OrderId>, Error> {
        looked_up(
            self.books()
                .order_by_provider_id(scope.project, object.into()),
        )
    }

    /// The last order of each wallet that a provider's customer paid for, of at most `limit` wallets.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn orders_of_customer(
        &self,
        scope: &Scope,
        customer: &CustomerId,
        limit: usize,
    ) -> Result<Vec<OrderId>, Error> {
        let name = ProviderId::Customer(customer);
        looked_up(
            self.books()
                .orders_by_provider_id(scope.project, name, limit),
        )
    }

    /// Ends a wallet's pending orders and subscriptions of its project's former provider; returns how many.
    /// # Errors
    /// [`Rejection::OrderNotFound`] when there is no such wallet; else see [`Error`].
    pub async fn leave(&self, scope: &Scope, wallet: WalletKey) -> Result<usize, Error> {
        self.ask_order(scope, wallet, EndWithProvider).await
    }

    pub(super) fn books(&self) -> &dyn Books {
        &*self.inner.registry.store.books
    }

    /// Expires the project's pending orders that are due by `until`; returns how many. A wallet in use expires its
    /// orders by itself; this wakes unused ones.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn expire_due(&self, scope: &Scope, until: Timestamp) -> Result<usize, Error> {
        const PAGE_SIZE: usize = 256;
        /// Orders read concurrently: each waits for a sync, which all share.
        const CONCURRENCY: usize = 64;
        let until = until.min(self.now_in(scope));
        let (mut expired, mut after) = (0_usize, None);
        loop {
            let due = self.pending(scope, after, until, PAGE_SIZE)?;
            let orders: Vec<OrderId> = due.iter().map(|place| place.order).collect();
            let touched = orders.into_iter().map(|order| self.order(scope, order));
            let mut touched = stream::iter(touched).buffer_unordered(CONCURRENCY);
            while let Some(touched) = touched.next().await {
                match touched {
                    Ok(_) | Err(Error::Rejected(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            after = due.last().map(OrderPosition::place);
            expired += due.len();
            if due.len() < PAGE_SIZE {
                return Ok(expired);
            }
        }
    }

    /// The provider's customer whose portal a wallet's owner may open: that of this subscription, or of the current
    /// one.
    /// # Errors
    /// [`Rejection::WalletNotFound`], [`Rejection::SubscriptionNotFound`], [`Rejection::NoPurchase`]; else see [`Error`].
    pub async fn customer(
        &self,
        scope: &Scope,
        address: &Address,
        of: Option<PublicSubscriptionId>,
    ) -> Result<CustomerId, Error> {
        self.ask_at(scope, address, PortalCustomer(of)).await
    }

    /// The project's pending orders that expire by `until`, earliest first: at most `limit` after a position.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn pending(
        &self,
        scope: &Scope,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        looked_up(self.books().due(scope.project, after, until, limit))
    }

    async fn report_to(
        &self,
        scope: &Scope,
        key: WalletKey,
        created: Option<Box<Created>>,
        purchase: Purchase,
    ) -> Result<bool, Error> {
        let place = (key, Caller::Order(scope.project));
        let report = ReportPurchase { key, purchase };
        self.ask_or_create(scope, place, created, report).await
    }
}

/// The creation of an order's wallet, if the order's id proves that it may be created: for this user, or for the order
/// alone. A code's wallet exists already.
fn creation(scope: &Scope, order: OrderId, user: Option<ExternalUserId>) -> Option<Box<Created>> {
    let owner = match user {
        Some(user) if external_key(scope.project, &user) == order.wallet => Owner::External(user),
        None if order_key(scope.project, order.serial) == order.wallet => Owner::Order,
        Some(_) | None => return None,
    };
    Some(born(scope, owner))
}

pub(super) fn looked_up<T>(found: Result<T, persistence::Error>) -> Result<T, Error> {
    found.map_err(|error| {
        tracing::error!(%error, "A look-up in the books cannot be read");
        Error::Unavailable
    })
}
