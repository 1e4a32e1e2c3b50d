//! Wallet sessions: what the bearer of a token may do, with which wallet, until when. A session is not stored: its
//! bytes are sealed into the token, and the wallet's epoch, a counter, decides which ones are valid.

use std::fmt;

use crate::{
    code::RecoveryCode,
    id::{ProjectId, WalletKey},
    text::ExternalUserId,
    time::Timestamp,
};

/// One permission of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// To read the wallet, its ledger and its orders, the products, and the session itself.
    Read,
    /// To start checkouts that fill the wallet.
    Checkout,
    /// To open the provider's portal.
    Portal,
    /// To cancel and resume the wallet's subscriptions.
    Subscriptions,
}

impl Permission {
    /// All permissions, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::Read,
        Self::Checkout,
        Self::Portal,
        Self::Subscriptions,
    ];

    /// The permission's name in requests and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Checkout => "checkout",
            Self::Portal => "portal",
            Self::Subscriptions => "subscriptions",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Permissions(u8);

impl Permissions {
    /// All permissions together.
    pub const ALL: Self = Self(15);

    /// Whether this one is among them.
    pub const fn include(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// The permissions, in the order in which they are shown.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        let all = Permission::ALL.into_iter();
        all.filter(move |permission| self.include(*permission))
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(all: I) -> Self {
        Self(all.into_iter().fold(0, |set, one| set | one.bit()))
    }
}

/// Whose wallet a session opens, as it was named when the session was created.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum SessionOwner {
    /// The project's own user.
    User(ExternalUserId),
    /// The holder of the recovery code.
    Code(RecoveryCode),
}

impl fmt::Debug for SessionOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User(_) => "User(..)",
            Self::Code(_) => "Code(..)",
        })
    }
}

/// The content of a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WalletSession {
    /// The wallet's project.
    pub project: ProjectId,
    /// The only wallet that it opens.
    pub wallet: WalletKey,
    /// The wallet's epoch when the session was created; the session ends when the wallet's epoch changes.
    pub epoch: u32,
    /// What it may do.
    pub can: Permissions,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Whose wallet it is.
    pub owner: SessionOwner,
}

const VERSION: u8 = 1;

impl WalletSession {
    /// The session as bytes, to be sealed.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, name) = match &self.owner {
            SessionOwner::User(user) => (0, user.as_str()),
            SessionOwner::Code(code) => (1, code.reveal()),
        };
        let mut bytes = vec![VERSION, kind, self.can.0];
        bytes.extend(self.project.0.to_be_bytes());
        bytes.extend(self.wallet.0);
        bytes.extend(self.epoch.to_be_bytes());
        bytes.extend(self.expires_at.0.to_be_bytes());
        bytes.extend(name.as_bytes());
        bytes
    }

    /// Decodes a session; `None` for another encoding.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (&[version, kind, can], rest) = bytes.split_first_chunk()?;
        let (project, rest) = rest.split_first_chunk()?;
        let (wallet, rest) = rest.split_first_chunk()?;
        let (epoch, rest) = rest.split_first_chunk()?;
        let (expires_at, name) = rest.split_first_chunk()?;
        let name = std::str::from_utf8(name).ok()?;
        let owner = match (version, kind) {
            (VERSION, 0) => SessionOwner::User(ExternalUserId::new(name).ok()?),
            (VERSION, 1) => SessionOwner::Code(RecoveryCode::parse(name)?),
            _ => return None,
        };
        Some(Self {
            project: ProjectId(u128::from_be_bytes(*project)),
            wallet: WalletKey(*wallet),
            epoch: u32::from_be_bytes(*epoch),
            can: Permissions(can & Permissions::ALL.0),
            expires_at: Timestamp(i64::from_be_bytes(*expires_at)),
            owner,
        })
    }

    /// The user whose wallet it is, if it is a user's.
    pub const fn user(&self) -> Option<&ExternalUserId> {
        match &self.owner {
            SessionOwner::User(user) => Some(user),
            SessionOwner::Code(_) => None,
        }
    }

    /// The code of the wallet, if a code opens it.
    pub const fn code(&self) -> Option<&RecoveryCode> {
        match &self.owner {
            SessionOwner::Code(code) => Some(code),
            SessionOwner::User(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(owner: SessionOwner) -> WalletSession {
        WalletSession {
            project: ProjectId(7),
            wallet: WalletKey([3; 16]),
            epoch: 9,
            can: [Permission::Read, Permission::Portal].into_iter().collect(),
            expires_at: Timestamp(1_795_000_000_000),
            owner,
        }
    }

    #[test]
    fn a_session_is_read_back_as_it_was() {
        let user = ExternalUserId::new("é😀/..").unwrap();
        let code = RecoveryCode::parse("OLIVE-1234-5678-9ABC").unwrap();
        for owner in [SessionOwner::User(user), SessionOwner::Code(code)] {
            let session = session(owner);
            let bytes = session.encode();
            assert_eq!(WalletSession::decode(&bytes), Some(session));
            for short in 0..47 {
                assert_eq!(WalletSession::decode(&bytes[..short]), None, "{short}");
            }
        }
    }

    #[test]
    fn bytes_of_another_form_are_no_session() {
        let user = ExternalUserId::new("ann").unwrap();
        let bytes = session(SessionOwner::User(user)).encode();
        for (place, value) in [(0, 2), (1, 1), (1, 2), (47, 0), (47, 0xff)] {
            let mut other = bytes.clone();
            other[place] = value;
            assert_eq!(WalletSession::decode(&other), None, "{place}");
        }
    }

    #[test]
    fn a_session_may_do_what_it_was_made_for() {
        let some: Permissions = [Permission::Portal, Permission::Read].into_iter().collect();
        assert!(some.include(Permission::Read) && some.include(Permission::Portal));
        assert!(!some.include(Permission::Checkout) && !some.include(Permission::Subscriptions));
        let shown: Vec<_> = some.iter().map(Permission::as_str).collect();
        assert_eq!(shown, ["read", "portal"]);
        assert_eq!(
            Permissions::ALL.iter().collect::<Permissions>(),
            Permissions::ALL
        );
    }

    #[test]
    fn a_session_does_not_print_whose_it_is() {
        let code = RecoveryCode::parse("OLIVE-1234-5678-9ABC").unwrap();
        let shown = format!("{:?}", session(SessionOwner::Code(code)));
        assert!(!shown.contains("OLIVE"), "{shown}");
    }
}
