//! Every code that a refusal may carry, with its status and its sentence. Codes are stable within v1:
//! none is renamed or taken away.

use axum::http::StatusCode;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:ident $text:literal $message:literal;)*) => {
        /// What went wrong, as a program reads it. Stable within v1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)*
        }

        impl ErrorCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as a response's body has it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The HTTP status of a refusal with this code.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }

            /// Where this server explains it, relative to its address.
            #[must_use]
            pub const fn docs(self) -> &'static str {
                match self { $(Self::$name => concat!("/docs/errors#", $text),)* }
            }

            /// The sentence for a person, where a refusal has no better one.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)* }
            }
        }
    };
}

codes! {
    /// Malformed JSON, a missing or ill-typed field, a bad `limit` or `cursor`.
    InvalidRequest = BAD_REQUEST "invalid_request" "The request is not valid.";
    /// A wallet named twice, or not at all where it has to be.
    ConflictingWallet = BAD_REQUEST "conflicting_wallet"
        "Name the wallet by either code or externalUserId.";
    /// `productId` left out where the project does not decide it.
    ProductRequired = BAD_REQUEST "product_required"
        "Name the product: this project does not have exactly one that holds credits.";
    /// The payment provider knows no such active code.
    InvalidDiscountCode = BAD_REQUEST "invalid_discount_code" "This discount code is not valid.";
    /// A webhook that is not signed, or not by the project's provider.
    InvalidSignature = BAD_REQUEST "invalid_signature"
        "The webhook's signature is missing or invalid.";
    /// No `Authorization` header.
    MissingApiKey = UNAUTHORIZED "missing_api_key" "Send an API key: Authorization: Bearer <key>.";
    /// A key that is malformed, unknown or revoked.
    InvalidApiKey = UNAUTHORIZED "invalid_api_key" "This API key is not valid.";
    /// A wallet's session that has ended or was revoked.
    SessionExpired = UNAUTHORIZED "session_expired"
        "This session has ended. Get a new one from your server.";
    /// Not enough credits that can be spent.
    InsufficientCredits = PAYMENT_REQUIRED "insufficient_credits" "Not enough credits.";
    /// A publishable key where a secret one is required.
    SecretKeyRequired = FORBIDDEN "secret_key_required"
        "A secret key is required.";
    /// The wallet is frozen, and this would take credits of it or sell to it.
    WalletFrozen = FORBIDDEN "wallet_frozen"
        "This wallet is frozen: its credits cannot be used for now.";
    /// The project is archived, and this would sell or spend something new.
    ProjectArchived = FORBIDDEN "project_archived"
        "This project is archived: it sells nothing and its credits cannot be spent.";
    /// A wallet's session asks for another wallet, or for what it may not do.
    SessionForbidden = FORBIDDEN "session_forbidden"
        "This session belongs to another wallet, or does not allow this.";
    /// A return address that the project does not allow, sent with a publishable key.
    RedirectNotAllowed = FORBIDDEN "redirect_not_allowed"
        "The project does not allow redirects to this address.";
    /// The project has external users only.
    AnonymousWalletsDisabled = FORBIDDEN "anonymous_wallets_disabled"
        "This project has no anonymous wallets.";
    /// The caller's role does not allow it; administration only.
    RoleForbidden = FORBIDDEN "role_forbidden" "Your role does not allow this.";
    /// More than the caller may grant or refund in a day; administration only.
    DailyLimitExceeded = FORBIDDEN "daily_limit_exceeded"
        "Daily limit exceeded.";
    /// No such wallet in this project.
    WalletNotFound = NOT_FOUND "wallet_not_found" "No such wallet.";
    /// No such product in this project.
    ProductNotFound = NOT_FOUND "product_not_found" "No such product.";
    /// No such price in this project.
    PriceNotFound = NOT_FOUND "price_not_found" "No such price.";
    /// No such hold in this project.
    HoldNotFound = NOT_FOUND "hold_not_found" "No such hold.";
    /// No such order in this project.
    OrderNotFound = NOT_FOUND "order_not_found" "No such order.";
    /// No such event in this project, or it is no longer kept.
    EventNotFound = NOT_FOUND "event_not_found" "No such event.";
    /// The wallet has no such subscription.
    SubscriptionNotFound = NOT_FOUND "subscription_not_found" "No such subscription.";
    /// A product names several subscriptions.
    SubscriptionAmbiguous = CONFLICT "subscription_ambiguous"
        "This wallet has several subscriptions to the product. Name one by subscriptionId.";
    /// No such project; administration only.
    ProjectNotFound = NOT_FOUND "project_not_found" "No such project.";
    /// No such key in this project; administration only.
    KeyNotFound = NOT_FOUND "key_not_found" "No such key.";
    /// No such deduction in this project.
    DeductionNotFound = NOT_FOUND "deduction_not_found" "No such deduction.";
    /// No such webhook endpoint in this project; administration only.
    WebhookNotFound = NOT_FOUND "webhook_not_found" "No such webhook endpoint.";
    /// No such delivery to this endpoint, or it is no longer kept; administration only.
    DeliveryNotFound = NOT_FOUND "delivery_not_found" "No such delivery.";
    /// No such unfulfilled payment in this project; administration only.
    PaymentNotFound = NOT_FOUND "payment_not_found" "No such unfulfilled payment.";
    /// No such user; administration only.
    UserNotFound = NOT_FOUND "user_not_found" "No such user.";
    /// No such session, or it has ended; administration only.
    SessionNotFound = NOT_FOUND "session_not_found" "No such session, or it has ended.";
    /// An invitation that was used, has expired or never was; administration only.
    InvitationNotFound = NOT_FOUND "invitation_not_found"
        "This invitation was used, has expired, or was replaced.";
    /// Nothing is served under this path.
    RouteNotFound = NOT_FOUND "route_not_found"
        "There is nothing at this address.";
    /// The path is served, but not with this method.
    MethodNotAllowed = METHOD_NOT_ALLOWED "method_not_allowed"
        "This address does not support this method.";
    /// A body of more than 64 KiB, or of more than 1 MiB for a batch.
    BodyTooLarge = PAYLOAD_TOO_LARGE "body_too_large" "The body is too large.";
    /// A body whose `Content-Type` is not `application/json`.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE "unsupported_media_type"
        "Send the body as JSON, with Content-Type: application/json.";
    /// A key that was used before for another product, order or amount.
    IdempotencyKeyReused = CONFLICT "idempotency_key_reused"
        "This idempotency key was used before with another product, order or amount.";
    /// The hold ended before, in another way.
    HoldClosed = CONFLICT "hold_closed" "This hold is already closed with another outcome.";
    /// A reversal asks for more than is left of the deduction.
    AlreadyReversed = CONFLICT "already_reversed"
        "The amount exceeds what can still be reversed.";
    /// A draw cannot be reversed while its hold is open.
    HoldOpen = CONFLICT "hold_open"
        "The hold of this deduction is open. Settle it for what the work cost.";
    /// A refund asks for more than is left of the order.
    AlreadyRefunded = CONFLICT "already_refunded"
        "The amount exceeds what can still be refunded.";
    /// The wallet has a subscription to the product already.
    AlreadySubscribed = CONFLICT "already_subscribed"
        "This wallet is already subscribed to the product.";
    /// The wallet has bought all that the price unlocks.
    AlreadyOwned = CONFLICT "already_owned"
        "This wallet already owns everything that the price unlocks.";
    /// A user's wallet has no code that could be replaced; administration only.
    NoRecoveryCode = CONFLICT "no_recovery_code"
        "This wallet belongs to an external user and has no recovery code.";
    /// The server is not set up to send mail; administration only.
    MailNotConfigured = CONFLICT "mail_not_configured"
        "No mail server is configured (mail.smtp_url). Nothing was done.";
    /// The provider does not know the wallet's owner.
    NoPurchase = CONFLICT "no_purchase" "This wallet has no completed purchase, or its customer was deleted at the payment provider.";
    /// The project has no payment provider, so nothing can be sold yet.
    ProviderNotConfigured = CONFLICT "provider_not_configured"
        "This project has no payment provider.";
    /// Another provider, account or mode for a project that has orders; administration only.
    ProviderInUse = CONFLICT "provider_in_use"
        "This project has orders at its present provider, account or mode. With force, pending orders and subscriptions there end here.";
    /// A grant that would take the balance past 2^53 - 1 credits.
    BalanceLimit = CONFLICT "balance_limit"
        "The balance would exceed 9007199254740991 credits.";
    /// The wallet has as many open holds as it may have.
    TooManyHolds = CONFLICT "too_many_holds"
        "This wallet has too many open holds.";
    /// The wallet has as many lots of the product as manual grants may make.
    TooManyLots = CONFLICT "too_many_lots"
        "This wallet has too many grants of this product that expire at different times.";
    /// The wallet has as many orders waiting for payment as it may have.
    TooManyPendingOrders = CONFLICT "too_many_pending_orders"
        "This wallet has too many pending orders. Pay one, or let them expire.";
    /// The wallet's subscriptions are charged in another currency.
    CurrencyMismatch = CONFLICT "currency_mismatch"
        "This wallet's subscriptions are charged in another currency.";
    /// A backup is being made already: there is one at a time.
    BackupRunning = CONFLICT "backup_running"
        "A backup is already running.";
    /// No process could take the log over; administration only.
    NoFollower = CONFLICT "no_follower"
        "No standby process is available.";
    /// A cell is not split like this; administration only.
    InvalidSplit = CONFLICT "invalid_split"
        "The cell cannot be split like this.";
    /// Something else was decided about an unfulfilled payment; administration only.
    PaymentAlreadyResolved = CONFLICT "payment_already_resolved"
        "This payment was already resolved in another way.";
    /// A project's orders are being held against the provider's books already: there is one such
    /// run at a time.
    ReconciliationRunning = CONFLICT "reconciliation_running"
        "A reconciliation of this project is already running.";
    /// Another user has this e-mail address; administration only.
    EmailTaken = CONFLICT "email_taken" "Another user has this e-mail address.";
    /// Another user is bound to this identity at an identity provider; administration only.
    IdentityTaken = CONFLICT "identity_taken"
        "Another user is bound to this identity at the identity provider.";
    /// No such pending approval; dashboard only.
    ApprovalNotFound = NOT_FOUND "approval_not_found"
        "This approval request no longer exists (decided or expired).";
    /// Someone else is deciding it; dashboard only.
    ApprovalInProgress = CONFLICT "approval_in_progress"
        "Someone else is deciding this request. Try again in a minute.";
    /// The approval has to come from another person; dashboard only.
    OwnApproval = FORBIDDEN "own_approval"
        "You cannot approve your own request.";
    /// The project has as many pending approvals as it may have; dashboard only.
    TooManyApprovals = CONFLICT "too_many_approvals"
        "A hundred approval requests of this project are pending. Decide some first.";
    /// There are as many users as there may be; administration only.
    TooManyUsers = CONFLICT "too_many_users"
        "There are as many users as the server allows.";
    /// What is to be saved was changed since it was read; administration only.
    ChangedMeanwhile = PRECONDITION_FAILED "changed_meanwhile"
        "This was changed since you read it. Read it again.";
    /// Too many requests.
    RateLimited = TOO_MANY_REQUESTS "rate_limited" "Too many requests. Slow down.";
    /// Too many invalid recovery codes.
    TooManyInvalidCodes = TOO_MANY_REQUESTS "too_many_invalid_codes"
        "Too many invalid recovery codes. Try again later.";
    /// Too many new anonymous wallets.
    WalletCreationLimit = TOO_MANY_REQUESTS "wallet_creation_limit"
        "Too many new wallets. Try again later.";
    /// A defect of the service.
    InternalError = INTERNAL_SERVER_ERROR "internal_error"
        "Something went wrong on our side.";
    /// The payment provider refused or failed.
    ProviderError = BAD_GATEWAY "provider_error"
        "The payment provider refused the request or failed. Nothing was sold; try again.";
    /// Load shed before anything was done.
    Overloaded = SERVICE_UNAVAILABLE "overloaded"
        "The server is busy. Nothing was done; try again.";
    /// Shutting down, or the log cannot be written.
    Unavailable = SERVICE_UNAVAILABLE "unavailable"
        "Not available right now. The request may or may not have been applied; try again with the same key.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_statuses_are_the_documented_ones() {
        let table: Vec<(u16, &str)> = ErrorCode::ALL
            .iter()
            .map(|code| (code.status().as_u16(), code.as_str()))
            .collect();
        let documented = [
            (400, "invalid_request"),
            (400, "conflicting_wallet"),
            (400, "product_required"),
            (400, "invalid_discount_code"),
            (400, "invalid_signature"),
            (401, "missing_api_key"),
            (401, "invalid_api_key"),
            (401, "session_expired"),
            (402, "insufficient_credits"),
            (403, "secret_key_required"),
            (403, "session_forbidden"),
            (403, "wallet_frozen"),
            (403, "redirect_not_allowed"),
            (403, "anonymous_wallets_disabled"),
            (403, "role_forbidden"),
            (412, "changed_meanwhile"),
            (404, "wallet_not_found"),
            (404, "product_not_found"),
            (404, "price_not_found"),
            (404, "hold_not_found"),
            (404, "order_not_found"),
            (404, "subscription_not_found"),
            (404, "event_not_found"),
            (404, "webhook_not_found"),
            (404, "delivery_not_found"),
            (404, "route_not_found"),
            (405, "method_not_allowed"),
            (413, "body_too_large"),
            (415, "unsupported_media_type"),
            (409, "idempotency_key_reused"),
            (409, "hold_closed"),
            (409, "already_subscribed"),
            (409, "already_owned"),
            (409, "already_refunded"),
            (409, "no_purchase"),
            (409, "provider_not_configured"),
            (409, "provider_in_use"),
            (409, "balance_limit"),
            (409, "too_many_holds"),
            (409, "too_many_lots"),
            (409, "too_many_pending_orders"),
            (409, "currency_mismatch"),
            (429, "rate_limited"),
            (429, "too_many_invalid_codes"),
            (429, "wallet_creation_limit"),
            (500, "internal_error"),
            (502, "provider_error"),
            (503, "overloaded"),
            (503, "unavailable"),
        ];
        for row in documented {
            assert!(table.contains(&row), "{row:?}");
        }
    }
}
