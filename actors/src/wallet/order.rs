//! Reads an order. The caller names the order and not its wallet, so a missing wallet means a missing order.

use domain::{
    Rejection,
    history::{Record, RecordKey},
    id::OrderId,
    wallet::Owner,
};

use super::{Command, Turn};
use crate::{
    answer::{Error, OrderAnswer},
    keyring::order_key,
};

pub(crate) struct FindOrder(pub(crate) OrderId);

impl Command for FindOrder {
    /// The order without its code, and the encrypted code.
    type Answer = (OrderAnswer, Option<Box<[u8]>>);
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error> {
        let wallet = turn.wallet()?;
        let serial = self.0.serial;
        let record = match wallet.order(serial) {
            Some(_) => None,
            None => turn.prior(RecordKey::Order(serial))?,
        };
        let archived = record.as_ref().and_then(Record::order);
        let archived = archived.map(|archived| &archived.order);
        let order = wallet.order(serial).or(archived);
        let order = order.ok_or(Rejection::OrderNotFound)?;
        let (id, external_user, sealed) = match &wallet.owner {
            Owner::External(user) => (Some(wallet.id), Some(user.clone()), None),
            Owner::Code { sealed, .. } => (Some(wallet.id), None, Some(sealed.clone())),
            // It has no owner until the order is paid.
            Owner::Order => (None, None, None),
        };
        let answer = OrderAnswer {
            id: self.0,
            wallet: id,
            external_user,
            code: None,
            is_original_code: wallet.has_code_of_order(order)
                && (order.names_code || order_key(wallet.project, serial) == wallet.key),
            balance: wallet.available(order.terms.fills),
            order: order.clone(),
        };
        Ok((answer, sealed))
    }
}
