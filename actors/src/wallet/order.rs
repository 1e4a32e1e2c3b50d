//! Reads orders of a wallet. The caller names the order and not its wallet, so a missing wallet means a missing order.

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

/// For a list nothing is logged, and a wallet that is asleep is not woken.
pub(crate) struct FindOrders<const LISTS: bool>(pub(crate) Vec<OrderId>);

impl<const LISTS: bool> Command for FindOrders<LISTS> {
    /// Those of the orders that there are, without the wallet's code, and the encrypted code.
    type Answer = (Vec<OrderAnswer>, Option<Box<[u8]>>);
    const ABSENT: Rejection = Rejection::OrderNotFound;
    const READ_ONLY: bool = LISTS;

    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error> {
        let (wallet, due) = turn.caught_up()?;
        let (wallet_id, external_user, sealed) = match &wallet.owner {
            Owner::External(user) => (Some(wallet.id), Some(user), None),
            Owner::Code { sealed, .. } => (Some(wallet.id), None, Some(sealed.clone())),
            // It has no owner until the order is paid.
            Owner::Order => (None, None, None),
        };
        let mut answers = Vec::with_capacity(self.0.len());
        for id in self.0 {
            let serial = id.serial;
            let is_archived = |record: &&Record| {
                let archived = record.order();
                archived.is_some_and(|archived| archived.serial == serial)
            };
            let record = match (wallet.order(serial), due.iter().find(is_archived)) {
                (Some(_), _) => None,
                (None, Some(record)) => Some(record.clone()),
                (None, None) => turn.prior(RecordKey::Order(serial))?,
            };
            let archived = record.as_ref().and_then(Record::order);
            let archived = archived.map(|archived| &archived.order);
            let Some(order) = wallet.order(serial).or(archived) else {
                continue;
            };
            answers.push(OrderAnswer {
                id,
                wallet: wallet_id,
                external_user: external_user.cloned(),
                code: None,
                is_original_code: wallet.has_code_of_order(order)
                    && (order.names_code || order_key(wallet.project, serial) == wallet.key),
                balance: wallet.available(order.terms.fills),
                order: order.clone(),
            });
        }
        Ok((answers, sealed))
    }
}
