//! The links by which people set a password for the dashboard, and the mail that carries one.

use domain::text::Email;
use identity::Invited;

use crate::mail::{Mail, MailHeaders, Mailer};

/// The path of the page where an invitation is accepted.
pub const INVITATION: &str = "/dashboard/invitation";

/// Makes the links of invitations, and mails them where mail is set up.
pub struct Invitations {
    base: String,
    mailer: Mailer,
}

impl Invitations {
    /// For a service at this address, without a slash at its end.
    pub const fn new(base: String, mailer: Mailer) -> Self {
        Self { base, mailer }
    }

    /// The link for somebody who was invited, which is also mailed to them. Its secret is in the fragment, which
    /// browsers send to no server, so that no log has it. To be shown once.
    pub fn announce(&self, invited: &Invited) -> String {
        let link = format!("{}{INVITATION}#{}", self.base, invited.secret);
        if let Ok(to) = Email::new(invited.user.email.as_str()) {
            // Where no mail is set up, or too much waits, the inviting person passes the link on.
            let _ = self.mailer.enqueue(mail(to, &link));
        }
        link
    }
}

fn mail(to: Email, link: &str) -> Mail {
    let text = format!(
        "You were invited to the dashboard of Scrip. Set a password and a second factor here, within seven days:\n\n    \
         {link}\n\nThe link works once. Anyone who has it can sign in as you: do not pass it on.\n"
    );
    Mail {
        to,
        subject: "Your invitation to Scrip".into(),
        text,
        html: None,
        headers: MailHeaders::default(),
    }
}
