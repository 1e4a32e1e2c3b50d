//! Users as an identity provider knows them: the first sign-in by a verified e-mail address binds a user to the
//! provider's subject, which alone decides from then on.

use std::sync::Arc;

use crate::{BoundIdentity, Error, People, User};

/// The outcome of a sign-in by an identity provider.
#[derive(Debug, Clone)]
pub enum ProviderSignIn {
    Done(Arc<User>),
    /// It is this user, who was bound to the identity just now.
    Bound(Arc<User>),
    /// Nobody with this identity or this verified e-mail address was invited, or their access was removed.
    Stranger,
    /// The user with this e-mail address is bound to another identity.
    AnotherIdentity,
}

impl People {
    pub fn by_identity(&self, identity: &BoundIdentity) -> Option<Arc<User>> {
        let users = self.users.read();
        let mut bound = users
            .values()
            .filter(|it| it.identity.as_ref() == Some(identity));
        bound.next().cloned()
    }

    /// Finds the user of an identity, with the e-mail address that the provider has verified, if any. The first sign-in
    /// binds the user and uses up their invitation; returns once that is durable.
    /// # Errors
    /// The binding could not be logged.
    pub async fn recognise(
        &self,
        identity: BoundIdentity,
        verified_email: Option<&str>,
    ) -> Result<ProviderSignIn, Error> {
        let _changing = self.changing.lock().await;
        if let Some(user) = self.by_identity(&identity) {
            return Ok(match user.disabled {
                true => ProviderSignIn::Stranger,
                false => ProviderSignIn::Done(user),
            });
        }
        let users = self.users();
        let mut users = users.iter().filter(|user| !user.disabled);
        let user = verified_email
            .and_then(|email| users.find(|user| user.email.eq_ignore_ascii_case(email)));
        let Some(user) = user else {
            return Ok(ProviderSignIn::Stranger);
        };
        if user.identity.is_some() {
            return Ok(ProviderSignIn::AnotherIdentity);
        }
        identity.check()?;
        let bound = User {
            identity: Some(identity),
            invitation: None,
            version: user.version.saturating_add(1),
            ..User::clone(user)
        };
        Ok(ProviderSignIn::Bound(self.put(bound).await?))
    }
}
