//! Lists that the API returns in pages.

use crate::{call::Call, client::Scrip, error::Error};
use serde::{Deserialize, de::DeserializeOwned};
use std::{collections::VecDeque, fmt};

/// An asynchronous iterator over a list, which fetches pages as they are needed.
///
/// ```no_run
/// # async fn example(scrip: scrip_wallet::Scrip) -> Result<(), scrip_wallet::Error> {
/// let mut orders = scrip.orders();
/// while let Some(order) = orders.next().await? {
///     println!("{} {}", order.id, order.status);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Pages<T> {
    scrip: Scrip,
    call: Call,
    /// The cursor's name in the query.
    cursor: &'static str,
    here: VecDeque<T>,
    next: Next,
}

enum Next {
    First,
    From(String),
    Nothing,
}

/// A page of a list, with the cursor of the next one.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Page<T> {
    #[serde(alias = "entries", alias = "orders", alias = "events")]
    pub(crate) items: Vec<T>,
    #[serde(rename = "nextCursor")]
    pub(crate) next: Option<String>,
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("here", &self.here.len())
            .finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Pages<T> {
    pub(crate) fn new(scrip: &Scrip, call: Call, cursor: &'static str) -> Self {
        Self {
            scrip: scrip.clone(),
            call,
            cursor,
            here: VecDeque::new(),
            next: Next::First,
        }
    }

    /// The next item; `None` after the last. After an error it can be called again.
    /// # Errors
    /// The errors of any call, and of reading this list.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        while self.here.is_empty() {
            let call = match &self.next {
                Next::First => self.call.clone(),
                Next::From(place) => self.call.clone().query(self.cursor, Some(place)),
                Next::Nothing => return Ok(None),
            };
            let page: Page<T> = self.scrip.call(call).await?;
            self.next = page.next.map_or(Next::Nothing, Next::From);
            self.here = page.items.into();
        }
        Ok(self.here.pop_front())
    }

    /// All remaining items. A ledger can be long.
    /// # Errors
    /// The errors of [`Pages::next`].
    pub async fn all(mut self) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await? {
            all.push(item);
        }
        Ok(all)
    }
}
