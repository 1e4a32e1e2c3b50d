//! Wallet sessions: tokens for your users' browsers.

use crate::{call::Call, client::Scrip, error::Error, wallets::Wallet};
use api_types::Session;
use serde::{Deserialize, Serialize};

/// A session to be started. By default it lasts an hour and may do everything that a session can.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSession {
    /// Seconds until it ends; 1 to 86,400.
    pub expires_in_seconds: Option<u32>,
    /// What it may do: `read`, `checkout`, `portal`, `subscriptions`.
    pub can: Option<Vec<String>>,
}

impl Scrip {
    /// Starts a session of this wallet, for its owner's browser; creates your user's wallet if there is none.
    /// # Errors
    /// `wallet_not_found` for a code, `secret_key_required`, and the errors of any call.
    pub async fn session(&self, wallet: &Wallet, session: NewSession) -> Result<Session, Error> {
        // Nothing is stored: a repeat makes another token, and this one is lost with its answer.
        let call = Call::post(["sessions"]).of(wallet).body(&session)?;
        self.call(call.repeatable()).await
    }

    /// Ends all sessions of this wallet that were started so far, at once.
    /// # Errors
    /// `wallet_not_found`, `secret_key_required`, and the errors of any call.
    pub async fn revoke_sessions(&self, wallet: &Wallet) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Revoked {}
        let call = Call::post(["sessions", "revoke"]).of(wallet);
        let Revoked {} = self.call(call.repeatable()).await?;
        Ok(())
    }
}
