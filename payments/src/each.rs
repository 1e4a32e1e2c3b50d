//! Asking about many things, some at once.

use std::{fmt, future::Future};

use futures_util::{StreamExt as _, stream};

use super::Error;

/// Asks about each of them. What cannot be told is passed over: it is told of or asked about again.
///
/// # Errors
///
/// The first one that is about the whole account: everything else would fail alike.
pub(crate) async fn each<Thing, Asking>(
    things: impl IntoIterator<Item = Thing>,
    at_once: usize,
    ask: impl Fn(Thing) -> Asking,
) -> Result<(), Error>
where
    Thing: Clone + fmt::Debug,
    Asking: Future<Output = Result<(), Error>>,
{
    let asked = stream::iter(things).map(|thing| {
        let asking = ask(thing.clone());
        async move { (thing, asking.await) }
    });
    let mut asked = asked.buffer_unordered(at_once);
    while let Some((thing, asked)) = asked.next().await {
        match asked {
            Ok(()) => {}
            Err(error) if error.is_about_the_account() => return Err(error),
            Err(error) => tracing::warn!(%error, ?thing, "The payment provider cannot tell of it"),
        }
    }
    Ok(())
}
