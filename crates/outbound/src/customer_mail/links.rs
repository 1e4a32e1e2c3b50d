//! The links by which customers unsubscribe. They need no sign-in: each holds, encrypted under the server's key, the address
//! (its hash) and the kind of mails that it is about.

use actors::Cipher;
use data_encoding::BASE64URL_NOPAD;
use domain::{
    catalog::{MailKind, MailLocale},
    id::{ProjectId, WalletKey},
};

use super::suppressions::AddressHash;

/// Which mails a link is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailSubscription {
    pub project: ProjectId,
    /// The wallet that the mail was about.
    pub wallet: WalletKey,
    pub address: AddressHash,
    pub kind: MailKind,
    /// The language of the mail.
    pub locale: MailLocale,
}

/// Makes links, and reads them again.
pub(super) struct Links {
    pub(super) cipher: Cipher,
    /// The address of this service, without a slash at its end.
    pub(super) base: String,
}

impl Links {
    pub(super) fn to(&self, of: &MailSubscription) -> String {
        let plain = (of.project, of.wallet, of.address, of.kind, of.locale);
        // Numbers and names always are JSON.
        let plain = serde_json::to_vec(&plain).unwrap_or_default();
        let token = BASE64URL_NOPAD.encode(&self.cipher.seal(&plain));
        format!("{}/mails/{}/unsubscribe/{token}", self.base, of.project)
    }

    /// What a link is about; `None`: this service did not make it for this project.
    pub(super) fn read(&self, project: ProjectId, token: &str) -> Option<MailSubscription> {
        let sealed = BASE64URL_NOPAD.decode(token.as_bytes()).ok()?;
        let plain = self.cipher.open(&sealed)?;
        let (of, wallet, address, kind, locale): (ProjectId, _, _, _, _) =
            serde_json::from_slice(&plain).ok()?;
        (of == project).then_some(MailSubscription {
            project,
            wallet,
            address,
            kind,
            locale,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_by_the_service_that_made_it_alone() {
        let links = |key| Links {
            cipher: Cipher::new(&[key; 32], "scrip/mails/1"),
            base: "https://pay.example".into(),
        };
        let of = MailSubscription {
            project: ProjectId(7),
            wallet: WalletKey([3; 16]),
            address: [200; 16],
            kind: MailKind::LimitReached,
            locale: MailLocale::Fr,
        };
        let link = links(1).to(&of);
        let (path, token) = link.rsplit_once('/').unwrap();
        let project = of.project;
        assert_eq!(
            path,
            format!("https://pay.example/mails/{project}/unsubscribe")
        );
        assert_eq!(links(1).read(project, token), Some(of));
        assert_ne!(
            links(1).to(&of),
            link,
            "nobody tells two links of a wallet from others"
        );
        assert_eq!(links(2).read(project, token), None);
        assert_eq!(links(1).read(ProjectId(8), token), None);
        for at in 0..token.len() {
            let mut forged = token.to_owned().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).unwrap();
            assert_eq!(links(1).read(project, &forged), None);
        }
        for token in ["", "AAAA", "é", "..", &"A".repeat(5000)] {
            assert_eq!(links(1).read(project, token), None);
        }
    }
}
