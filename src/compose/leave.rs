//! Takes a log out of its database into the data directory of one process, which goes on by itself.

use std::time::{Duration, Instant};

use operations::data_dir::secrets::ProvidedSecrets;
use persistence::{
    Error as StoreError,
    postgres::{Followed, Follower, forget_cluster},
};

use super::{Error, cluster::member, store::store_options};
use crate::config::{Config, DatabaseUrl};

/// How long it may take until nobody else leads any more.
const LEADS_WITHIN: Duration = Duration::from_secs(15);

/// Joins, leads, closes the log in the database for good, and makes the data directory one that is served by itself. An
/// attempt that was cut off is finished by the next.
///
/// # Errors
///
/// [`Error::Store`] where another process leads, the log was taken elsewhere, or the database does not answer;
/// otherwise as for [`super::ClusterProcess::join`].
pub async fn leave(
    config: Config,
    url: DatabaseUrl,
    provided: ProvidedSecrets,
) -> Result<(), Error> {
    let left = tokio::task::spawn_blocking(move || leave_now(&config, &url, provided));
    left.await.map_err(std::io::Error::other)?
}

fn leave_now(config: &Config, url: &DatabaseUrl, provided: ProvidedSecrets) -> Result<(), Error> {
    let refused = |why: &str| Error::Store(StoreError::Unusable(why.into()));
    operations::data_dir::open(&config.data_dir).map_err(|error| Error::Data {
        path: config.data_dir.clone(),
        error,
    })?;
    // Nobody is reached here: the address is empty.
    let (member, _) = member(config, url, "".into(), provided, |_| {})?;
    let follower = Follower::join(store_options(config), member)?;
    if let Some(cell) = follower.joins() {
        return Err(refused(&format!(
            "this process is to become cell {cell} and still follows the log that the cell comes from: it never leads \
             that, and cannot take it along"
        )));
    }
    let began = Instant::now();
    match follower.follow(&|| began.elapsed() > LEADS_WITHIN)? {
        Followed::Leads { journal, .. } => Ok(journal.leave()?),
        Followed::Taken { is_own: true } => Ok(forget_cluster(&config.data_dir)?),
        Followed::Taken { is_own: false } => Err(refused(
            "the log has been taken out of the database by another data directory: it goes on there",
        )),
        Followed::Stopped => Err(refused(
            "another process still leads, or the database does not answer: stop all processes of the cluster first",
        )),
    }
}
