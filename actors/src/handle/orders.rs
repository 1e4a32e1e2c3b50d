//! Orders: placed, paid and otherwise reported, read and listed. An order's identifier names the
//! wallet that it fills.

use domain::{
    Quantity, Rejection, Timestamp,
    id::{OrderId, OrderSerial, WalletKey},
    terms::Terms,
    text::{CheckoutId, CustomerId, ExternalUserId, InvoiceId, PaymentId, SubscriptionId},
    wallet::{
        Created, OrderStatus, Owner,
        pay::{Billing, MintedCode, Pay, Payment},
        place_order::PlaceOrder,
        purchase::Purchase,
    },
};
use futures_util::{StreamExt as _, stream};
use persistence::{Books, Called, OrderPlace};

use super::{Address, Handle, Scope, born, serial::serial};
use crate::{
    answer::{Error, OrderAnswer, OrderPage},
    keyring::{external_key, order_key},
    wallet::{Caller, Checkout, FindOrder, Leave, Left, OrderParts, PortalCustomer, Report},
};

/// Orders looked at for one page of those that stand in a certain way: each may have to wake its wallet.
const MAX_LOOKED_AT: usize = 200;

/// An order about to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What it will be called.
    pub order: OrderId,
    /// What the provider calls the buyer, if it knows them.
    pub customer: Option<CustomerId>,
}

/// A completed payment of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    /// The order itself, as the provider carried it along, should it never have been placed.
    pub placed: Option<PlaceOrder>,
    /// The payment.
    pub payment: Payment,
    /// The subscription that it starts.
    pub billing: Option<Billing>,
}

impl Handle {
    /// Draws the identifier of an order of so many that fills this wallet, or one of its own, if such an
    /// order is welcome. Nothing is logged.
    pub async fn draft_order(
        &self,
        scope: &Scope,
        address: Option<&Address>,
        terms: &Terms,
        quantity: Quantity,
    ) -> Result<Draft, Error> {
        let serial = OrderSerial(serial());
        let Some(address) = address else {
            let wallet = order_key(scope.project, serial);
            let order = OrderId { serial, wallet };
            return Ok(Draft {
                order,
                customer: None,
            });
        };
        let (wallet, caller) = self.locate(scope, address)?;
        let checkout = Checkout(terms.clone(), quantity);
        let customer = match (self.ask(scope, (wallet, caller), checkout).await, address) {
            // It is made with the order.
            (Err(Error::Rejected(Rejection::WalletNotFound)), Address::External(_)) => None,
            (answer, _) => answer?,
        };
        let order = OrderId { serial, wallet };
        Ok(Draft { order, customer })
    }

    /// Places an order that was drafted for this address. A user's wallet is made if there is none; a
    /// code must still be the one in force.
    pub async fn place_order(
        &self,
        scope: &Scope,
        order: OrderId,
        address: Option<&Address>,
        command: PlaceOrder,
    ) -> Result<(), Error> {
        let (user, caller) = match address {
            Some(Address::External(user)) => (Some(user.clone()), Caller::Order(scope.project)),
            Some(Address::Code(code)) => {
                let hash = self.inner.keyring.code_hash(scope.project, code);
                (None, Caller::Code(hash))
            }
            None => (None, Caller::Order(scope.project)),
        };
        let report = Report {
            key: order.wallet,
            purchase: Purchase::Place(command),
            created: self.created_with(scope, order, user),
        };
        match self.ask(scope, (order.wallet, caller), report).await {
            Err(Error::Rejected(Rejection::OrderNotFound)) => Err(Rejection::WalletNotFound.into()),
            placed => placed.map(drop),
        }
    }

    /// Fulfils an order, once however often it is said to be paid. Whether this very call did.
    pub async fn pay(
        &self,
        scope: &Scope,
        order: OrderId,
        user: Option<ExternalUserId>,
        paid: Paid,
    ) -> Result<bool, Error> {
        let Paid {
            placed,
            payment,
            billing,
        } = paid;
        let created = placed
            .as_ref()
            .and_then(|_| self.created_with(scope, order, user));
        let (_, code) = self.new_code(scope);
        let pay = Pay {
            order: order.serial,
            placed,
            payment,
            billing,
            code: MintedCode {
                hash: code.hash,
                sealed: code.sealed,
            },
        };
        let paid = Purchase::Pay(Box::new(pay));
        self.tell(scope, order.wallet, created, paid).await
    }

    /// Tells a wallet that exists about its purchases. Whether anything changed.
    pub async fn report(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        report: Purchase,
    ) -> Result<bool, Error> {
        self.tell(scope, wallet, None, report).await
    }

    /// The order that a subscription's paid invoice makes: the same for the same invoice.
    #[must_use]
    pub fn renewal_order(
        &self,
        scope: &Scope,
        invoice: &InvoiceId,
        created: Timestamp,
    ) -> OrderSerial {
        let keyring = &self.inner.keyring;
        keyring.renewal_order(scope.project, invoice.as_str(), created)
    }

    /// The order that a payment becomes where a person says whose it is: the same for the same payment and
    /// address. It fills a wallet of its own without an address.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`] for a code that opens none; [`Error::Overloaded`],
    /// [`Error::Unavailable`].
    pub async fn order_for(
        &self,
        scope: &Scope,
        payment: &PaymentId,
        paid_at: Timestamp,
        address: Option<&Address>,
    ) -> Result<OrderId, Error> {
        let keyring = &self.inner.keyring;
        let serial = keyring.renewal_order(scope.project, payment.as_str(), paid_at);
        let wallet = match address {
            None => order_key(scope.project, serial),
            Some(Address::External(user)) => external_key(scope.project, user),
            Some(code @ Address::Code(_)) => {
                self.read(scope, code).await?;
                self.locate(scope, code)?.0
            }
        };
        Ok(OrderId { serial, wallet })
    }

    /// An order as it stands.
    pub async fn order(&self, scope: &Scope, order: OrderId) -> Result<OrderAnswer, Error> {
        let place = (order.wallet, Caller::Order(scope.project));
        let parts = self.ask(scope, place, FindOrder(order.serial)).await?;
        Ok(self.order_answer(order, parts))
    }

    /// The order of a provider's checkout session.
    pub async fn order_of_checkout(
        &self,
        scope: &Scope,
        checkout: &CheckoutId,
    ) -> Result<OrderAnswer, Error> {
        let order = self.checkout_order(scope, checkout)?;
        self.order(scope, order.ok_or(Rejection::OrderNotFound)?)
            .await
    }

    /// Which order is that of a provider's checkout session.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: the books cannot be read.
    pub fn checkout_order(
        &self,
        scope: &Scope,
        checkout: &CheckoutId,
    ) -> Result<Option<OrderId>, Error> {
        self.called(scope, Called::Checkout(checkout))
    }

    /// The order that a provider's payment paid. That it is there, its wallet has logged; how it stands,
    /// only its wallet says.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: the books cannot be read.
    pub fn order_of_payment(
        &self,
        scope: &Scope,
        payment: &PaymentId,
    ) -> Result<Option<OrderId>, Error> {
        self.called(scope, Called::Payment(payment))
    }

    /// The order of a provider's bill.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: the books cannot be read.
    pub fn order_of_invoice(
        &self,
        scope: &Scope,
        invoice: &InvoiceId,
    ) -> Result<Option<OrderId>, Error> {
        self.called(scope, Called::Invoice(invoice))
    }

    /// The order that began a provider's subscription, and with it the wallet that has it. Where no
    /// checkout of ours did, or it was not heard of yet, the last order that the subscription paid.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: the books cannot be read.
    pub fn order_of_subscription(
        &self,
        scope: &Scope,
        subscription: &SubscriptionId,
    ) -> Result<Option<OrderId>, Error> {
        self.called(scope, Called::Subscription(subscription))
    }

    /// The last order of each wallet that a provider's customer paid for, of at most `limit` wallets.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: the books cannot be read.
    pub fn orders_of_customer(
        &self,
        scope: &Scope,
        customer: &CustomerId,
        limit: usize,
    ) -> Result<Vec<OrderId>, Error> {
        let name = Called::Customer(customer);
        let found = self.books().all_called(scope.project, name, limit);
        found.map_err(|error| unreadable(&error))
    }

    fn called(&self, scope: &Scope, name: Called<'_>) -> Result<Option<OrderId>, Error> {
        let found = self.books().called(scope.project, name);
        found.map_err(|error| unreadable(&error))
    }

    /// The same, only those that stand so. Among many others few are found at once: then the page is
    /// short, and goes on.
    pub async fn orders_that(
        &self,
        scope: &Scope,
        status: OrderStatus,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<OrderPage, Error> {
        let mut found = OrderPage {
            orders: Vec::new(),
            next: before,
        };
        let mut looked_at = 0_usize;
        loop {
            let wanted = limit.saturating_sub(found.orders.len());
            let page = self.orders(scope, found.next, wanted).await?;
            looked_at = looked_at.saturating_add(wanted);
            let fits = |order: &OrderAnswer| order.order.status() == status;
            found.orders.extend(page.orders.into_iter().filter(fits));
            found.next = page.next;
            let enough = found.orders.len() >= limit || looked_at >= MAX_LOOKED_AT;
            if enough || found.next.is_none() {
                return Ok(found);
            }
        }
    }

    /// A project's orders before a place, newest first.
    pub async fn orders(
        &self,
        scope: &Scope,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<OrderPage, Error> {
        let places = self.books();
        let places = places.orders(scope.project, before, limit.saturating_add(1));
        let mut places = places.map_err(|error| unreadable(&error))?;
        let more = places.len() > limit;
        places.truncate(limit);
        let next = places.last().filter(|_| more).map(OrderPlace::place);
        let mut orders = Vec::with_capacity(places.len());
        for place in places {
            match self.order(scope, place.order).await {
                Ok(order) => orders.push(order),
                // It was not logged after all.
                Err(Error::Rejected(Rejection::OrderNotFound)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(OrderPage { orders, next })
    }

    /// Where a project's orders before a place are, newest first.
    pub fn placed(
        &self,
        scope: &Scope,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error> {
        let placed = self.books().orders(scope.project, before, limit);
        placed.map_err(|error| unreadable(&error))
    }

    /// Ends what a wallet has open with a provider that its project has no more.
    pub async fn leave(&self, scope: &Scope, wallet: WalletKey) -> Result<Left, Error> {
        let place = (wallet, Caller::Order(scope.project));
        self.ask(scope, place, Leave).await
    }

    pub(super) fn books(&self) -> &dyn Books {
        &*self.inner.registry.store.books
    }

    /// Expires the project's pending orders whose time came by `until`; how many. A wallet that is
    /// touched does so by itself: this is for those that nobody touches.
    pub async fn expire_due(&self, scope: &Scope, until: Timestamp) -> Result<usize, Error> {
        const AT_ONCE: usize = 256;
        /// Each waits for a sync, which all of them share.
        const TOUCHED_AT_ONCE: usize = 64;
        let until = until.min(self.now_in(scope));
        let (mut expired, mut after) = (0_usize, None);
        loop {
            let due = self.books().due(scope.project, after, until, AT_ONCE);
            let due = due.map_err(|error| unreadable(&error))?;
            let orders: Vec<OrderId> = due.iter().map(|place| place.order).collect();
            let touched = orders.into_iter().map(|order| self.order(scope, order));
            let mut touched = stream::iter(touched).buffer_unordered(TOUCHED_AT_ONCE);
            while let Some(touched) = touched.next().await {
                match touched {
                    Ok(_) | Err(Error::Rejected(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            after = due.last().map(OrderPlace::place);
            expired = expired.saturating_add(due.len());
            if due.len() < AT_ONCE {
                return Ok(expired);
            }
        }
    }

    /// The project's pending orders that are due within a span, soonest first.
    pub fn pending(
        &self,
        scope: &Scope,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error> {
        let due = self.books().due(scope.project, after, until, limit);
        due.map_err(|error| unreadable(&error))
    }

    /// Whose portal a wallet's owner may open.
    pub async fn customer(&self, scope: &Scope, address: &Address) -> Result<CustomerId, Error> {
        self.ask_at(scope, address, PortalCustomer).await
    }

    async fn tell(
        &self,
        scope: &Scope,
        key: WalletKey,
        created: Option<Created>,
        purchase: Purchase,
    ) -> Result<bool, Error> {
        let place = (key, Caller::Order(scope.project));
        let report = Report {
            key,
            purchase,
            created,
        };
        self.ask(scope, place, report).await
    }

    /// What makes an order's wallet, where its identifier alone says that it may be made: a user's,
    /// or one of its own. A code's wallet is there already.
    fn created_with(
        &self,
        scope: &Scope,
        order: OrderId,
        user: Option<ExternalUserId>,
    ) -> Option<Created> {
        let owner = match user {
            Some(user) if external_key(scope.project, &user) == order.wallet => {
                Owner::External(user)
            }
            None if order_key(scope.project, order.serial) == order.wallet => Owner::Order,
            Some(_) | None => return None,
        };
        Some(born(scope, owner))
    }

    fn order_answer(&self, id: OrderId, parts: OrderParts) -> OrderAnswer {
        let OrderParts {
            order,
            wallet,
            owner,
            code_of_the_order,
            balance,
        } = parts;
        let (wallet, external_user, code) = match owner {
            Owner::External(user) => (Some(wallet), Some(user), None),
            Owner::Code { sealed, .. } => (Some(wallet), None, self.inner.keyring.unseal(&sealed)),
            // Its payment makes it somebody's.
            Owner::Order => (None, None, None),
        };
        OrderAnswer {
            id,
            order,
            wallet,
            external_user,
            code,
            code_of_the_order,
            balance,
        }
    }
}

pub(super) fn unreadable(error: &persistence::Error) -> Error {
    tracing::error!(%error, "The list of orders cannot be read");
    Error::Unavailable
}
