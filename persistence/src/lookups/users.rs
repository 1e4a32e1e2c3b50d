//! Wallets by how their user's identifier begins, without regard to case.

use domain::{
    id::{ProjectId, WalletKey},
    wallet::{Change, Event, Owner},
};

use super::spec::{Key, LookUpSpec, Put, joined, nothing_moves};

/// Key: the half of the project that is random, the first bytes of the identifier in lower case, wallet. No value.
pub(super) const USERS: LookUpSpec = LookUpSpec {
    name: "users",
    key: PROJECT_BYTES + PREFIX_BYTES + 16,
    value: 0,
    changes,
    moves: nothing_moves,
};

const PROJECT_BYTES: usize = 8;
/// Bytes of an identifier in its key. Whether the rest of a longer one matches, its wallet knows.
pub(crate) const PREFIX_BYTES: usize = 24;

fn changes(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    if let Change::Created(created) = &event.change
        && let Owner::External(user) = &created.owner
    {
        let prefix = user_prefix(created.project, user.as_str());
        let mut key = vec![0; PROJECT_BYTES.saturating_add(PREFIX_BYTES)];
        for (to, from) in key.iter_mut().zip(&prefix) {
            *to = *from;
        }
        key.extend_from_slice(&wallet.0);
        put(key.into(), Some(Box::default()));
    }
}

/// How the keys of all users begin whose identifiers begin with a text, as far as the keys tell.
pub(crate) fn user_prefix(project: ProjectId, text: &str) -> Vec<u8> {
    let [.., a, b, c, d, e, f, g, h] = project.0.to_be_bytes();
    let mut prefix = vec![a, b, c, d, e, f, g, h];
    prefix.extend(case_folded(text).bytes().take(PREFIX_BYTES));
    prefix
}

/// A text without regard to case: how a text begins does not depend on what follows, as it does with
/// [`str::to_lowercase`].
pub fn case_folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

pub(crate) fn first_user(prefix: &[u8]) -> Key {
    let zeros = [0; PROJECT_BYTES + PREFIX_BYTES + 16];
    let rest = zeros.get(prefix.len()..).unwrap_or_default();
    joined(&[prefix, rest])
}
