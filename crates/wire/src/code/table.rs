//! The table of all codes, by the groups in which the documentation explains them. A refusal may have a more exact
//! sentence than the table's: see `error/`.

use axum::http::StatusCode;

codes! {
    "The request" {
        /// Malformed JSON, an unknown query parameter, or a value that is missing, of the wrong type or out of bounds.
        InvalidRequest = BAD_REQUEST "invalid_request"
            "The request is not valid."
            do "correct what `param` names" retry "no";
        /// Both `code` and `externalUserId` were sent, or neither.
        ConflictingWallet = BAD_REQUEST "conflicting_wallet"
            "Name the wallet by either code or externalUserId."
            do "name the wallet once" retry "no";
        /// The project does not have exactly one product that holds credits.
        ProductRequired = BAD_REQUEST "product_required"
            "Name the product: this project does not have exactly one that holds credits."
            do "send `productId`" retry "no";
        /// The payment provider does not take this code here.
        InvalidDiscountCode = BAD_REQUEST "invalid_discount_code"
            "This discount code is not valid."
            do "let the buyer correct it" retry "no";
        /// A provider's webhook is not signed with this project's secret, or more than five minutes old.
        InvalidSignature = BAD_REQUEST "invalid_signature"
            "The webhook's signature is missing or invalid."
            do "check `webhookSecret` and the clock" retry "no";
        /// Nothing is served under this path.
        RouteNotFound = NOT_FOUND "route_not_found"
            "There is nothing at this address."
            do "compare the path with the API reference; often the base address already ends in `/api/v1`" retry "no";
        /// The path is served, but not with this method.
        MethodNotAllowed = METHOD_NOT_ALLOWED "method_not_allowed"
            "This address does not support this method."
            do "use a method that the header `Allow` names" retry "no";
        /// More than 64 KiB, or 1 MiB for a batch.
        BodyTooLarge = PAYLOAD_TOO_LARGE "body_too_large"
            "The body is too large."
            do "split the batch, shorten `meta`" retry "no";
        /// A body whose `Content-Type` is not `application/json`.
        UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE "unsupported_media_type"
            "Send the body as JSON, with Content-Type: application/json."
            do "send `Content-Type: application/json`" retry "no";
    }
    "Keys" {
        /// There is no `Authorization: Bearer` header.
        MissingApiKey = UNAUTHORIZED "missing_api_key"
            "Send an API key: Authorization: Bearer <key>."
            do "send the key; some proxies remove the header" retry "no";
        /// The key is malformed, unknown, revoked, past its `expiresAt`, or of another server.
        InvalidApiKey = UNAUTHORIZED "invalid_api_key"
            "This API key is not valid."
            do "take one from the dashboard" retry "no";
        /// The session has ended, was revoked, or its wallet's code was replaced.
        SessionExpired = UNAUTHORIZED "session_expired"
            "This session has ended. Get a new one from your server."
            do "have your server open another one" retry "not with that token";
        /// Another wallet, or something that `can` leaves out or no session may do.
        SessionForbidden = FORBIDDEN "session_forbidden"
            "This session belongs to another wallet, or does not allow this."
            do "leave `externalUserId` and `code` out; do the rest on your server" retry "no";
        /// A browser may not do this.
        SecretKeyRequired = FORBIDDEN "secret_key_required"
            "A secret key is required."
            do "call from your server; **never** put a secret key into a page" retry "no";
        /// A restricted key whose `can` leaves out `permission`.
        PermissionMissing = FORBIDDEN "permission_missing"
            "This key may not do this."
            do "use a key whose `can` has it" retry "no";
        /// With a publishable key, a return address (`param`) is neither `https:` nor on this machine, or not of an
        /// allowed origin.
        RedirectNotAllowed = FORBIDDEN "redirect_not_allowed"
            "The project does not allow redirects to this address."
            do "add its origin to `allowedOrigins`" retry "no";
        /// The project's `mode` is `external_users`.
        AnonymousWalletsDisabled = FORBIDDEN "anonymous_wallets_disabled"
            "This project has no anonymous wallets."
            do "use external wallets, or change the mode" retry "no";
    }
    "Credits" {
        /// The body has `balance`, `requested`, `shortfall`, `productId` and the active `prices` that would cover it;
        /// where a hold's `maxOverrun` exceeds the limit of debt, `creditAvailable`. Held credits cannot be spent.
        InsufficientCredits = PAYMENT_REQUIRED "insufficient_credits"
            "Not enough credits."
            do "offer those prices; for work that is done use [`onShortfall`](concepts.md)" retry "yes, once there are credits; no key was used up";
        /// `limit` says which one and when it resets, `requested` what the request would have taken of it. Paying does not
        /// help, and repeating it only once the limit has room.
        LimitExceeded = FORBIDDEN "limit_exceeded"
            "A limit has no room for this."
            do "wait until `limit.resetsAt`, or raise the limit" retry "no";
        /// This wallet's credits cannot be spent, and nothing can be bought for it; `reason`, if there is one, says why.
        /// Reads, grants, refunds and payments under way go on; an open hold can be settled, up to its amount.
        WalletFrozen = FORBIDDEN "wallet_frozen"
            "This wallet is frozen: its credits cannot be used for now."
            do "send the user to your support" retry "yes, once it is thawed; no key was used up";
        /// Nothing new is sold or spent in an [archived project](erasure.md#archiving).
        ProjectArchived = FORBIDDEN "project_archived"
            "This project is archived: it sells nothing and its credits cannot be spent."
            do "unarchive it" retry "yes, then; no key was used up";
        /// No such deduction in this project.
        DeductionNotFound = NOT_FOUND "deduction_not_found"
            "No such deduction."
            do "take the `id` of a ledger entry with reason `deduction`" retry "no";
        /// More than is left of the deduction.
        AlreadyReversed = CONFLICT "already_reversed"
            "The amount exceeds what can still be reversed."
            do "ask for at most `reversible`" retry "no";
        /// The deduction is a draw of an open hold.
        HoldOpen = CONFLICT "hold_open"
            "The hold of this deduction is open. Settle it for what the work cost."
            do "settle the hold for what the work cost" retry "yes, once it is closed";
        /// This wallet has seen the key with another product, price, order, hold or amount.
        IdempotencyKeyReused = CONFLICT "idempotency_key_reused"
            "This idempotency key was used before with another product, order or amount."
            do "make keys from the thing that is paid for (`image-7f3c`), not from a counter" retry "no";
        /// The hold ended with another outcome.
        HoldClosed = CONFLICT "hold_closed"
            "This hold is already closed with another outcome."
            do "read it. If it expired or was released during the work, settle it with `onShortfall` `drain` or `owe`" retry "no";
        /// A wallet counts for at most 10,000 members, features and keys at once, in windows that are not over.
        TooManyScopes = CONFLICT "too_many_scopes"
            "This wallet counts for too many members, features and keys."
            do "use fewer names, or limits with shorter windows" retry "no";
        /// The wallet has 1,000 open holds (`[limits] open_holds`).
        TooManyHolds = CONFLICT "too_many_holds"
            "This wallet has too many open holds."
            do "settle or release them" retry "yes, once some are closed";
        /// Manual grants made 1,000 lots of this product that expire at different times.
        TooManyLots = CONFLICT "too_many_lots"
            "This wallet has too many grants of this product that expire at different times."
            do "round `expiresAt` to the day" retry "yes, once some are gone";
        /// The balance would pass 2^53 − 1 credits.
        BalanceLimit = CONFLICT "balance_limit"
            "The balance would exceed 9007199254740991 credits."
            do "grant less; repeat a late settlement once there is room" retry "no";
        /// Reading and deducting make no wallet.
        WalletNotFound = NOT_FOUND "wallet_not_found"
            "No such wallet."
            do "make it (`POST /wallets/external`) or grant something; let the owner check a code" retry "no";
        /// No such product in this project.
        ProductNotFound = NOT_FOUND "product_not_found"
            "No such product."
            do "check the id, and whose key it is" retry "no";
        /// No such rate card in this project, or it is closed, or no version of it is in force yet.
        RateCardNotFound = NOT_FOUND "rate_card_not_found"
            "No such rate card."
            do "make it (`PUT …/rate-cards/{slug}`), or name another" retry "yes, once it is there; no key was used up";
        /// The card has no rate for these attributes, or no price for a unit; the message names it. Nothing was charged:
        /// what has no price is not free.
        RateNotFound = NOT_FOUND "rate_not_found"
            "The rate card has no price for this."
            do "add a rate to the card" retry "yes, once it is there; no key was used up";
        /// No such hold in this project.
        HoldNotFound = NOT_FOUND "hold_not_found"
            "No such hold."
            do "keep the `holdId` from when it was placed" retry "no";
    }
    "Buying" {
        /// No such active price.
        PriceNotFound = NOT_FOUND "price_not_found"
            "No such price."
            do "read the catalog again" retry "no";
        /// No such order in this project.
        OrderNotFound = NOT_FOUND "order_not_found"
            "No such order."
            do "use the order's id (`ord_…`) or the checkout's (`cs_…`)" retry "no";
        /// The wallet has no such subscription to end or resume.
        SubscriptionNotFound = NOT_FOUND "subscription_not_found"
            "No such subscription."
            do "read the wallet" retry "no";
        /// Several subscriptions to this product go on.
        SubscriptionAmbiguous = CONFLICT "subscription_ambiguous"
            "This wallet has several subscriptions to the product. Name one by subscriptionId."
            do "name one by `subscriptionId`; cancel and refund what was not meant" retry "no";
        /// The wallet has a subscription to this product.
        AlreadySubscribed = CONFLICT "already_subscribed"
            "This wallet is already subscribed to the product."
            do "switch tiers in the portal; where a bill waits (`openInvoice`), send the buyer to its `url`" retry "no";
        /// The buyer has a subscription, or a checkout of one, in another `currency`.
        CurrencyMismatch = CONFLICT "currency_mismatch"
            "This wallet's subscriptions are charged in another currency."
            do "offer the price in that one" retry "no";
        /// 100 orders of the wallet wait for payment.
        TooManyPendingOrders = CONFLICT "too_many_pending_orders"
            "This wallet has too many pending orders. Pay one, or let them expire."
            do "reuse an open checkout's `url`" retry "yes, once some are paid or expired (24 hours at most)";
        /// The wallet has bought, or is paying for, all that this price unlocks.
        AlreadyOwned = CONFLICT "already_owned"
            "This wallet already owns everything that the price unlocks."
            do "show it as bought, or make the price `repeatable`" retry "no";
        /// The wallet has no card on file.
        PaymentMethodRequired = CONFLICT "payment_method_required"
            "This wallet has no card on file."
            do "send the buyer to the page of `POST /wallets/external/payment-method`" retry "yes, once a card is saved";
        /// A session would have more charged than before, with a card that was entered more than 30 minutes ago.
        PaymentMethodConfirmationRequired = CONFLICT "payment_method_confirmation_required"
            "Enter the card again before more may be charged to it."
            do "send the buyer to the page of `POST /wallets/external/payment-method`" retry "yes, once the card is saved again";
        /// A user's wallet has no code to replace.
        NoRecoveryCode = CONFLICT "no_recovery_code"
            "This wallet belongs to an external user and has no recovery code."
            do "revoke its sessions or freeze it" retry "no";
        /// Nothing was replaced, since the code could not be mailed.
        MailNotConfigured = CONFLICT "mail_not_configured"
            "No mail server is configured (mail.smtp_url). Nothing was done."
            do "set `mail.smtp_url`, or ask for the code itself" retry "yes, then";
        /// The wallet never bought anything, or its customer was deleted at the provider.
        NoPurchase = CONFLICT "no_purchase"
            "This wallet has no completed purchase, or its customer was deleted at the payment provider."
            do "offer the portal after a purchase" retry "no";
        /// More than is left (`refundableCents`), or the provider refuses for good, as the message says.
        AlreadyRefunded = CONFLICT "already_refunded"
            "The amount exceeds what can still be refunded."
            do "ask for at most that, or leave `amountCents` out" retry "no";
        /// The project has no payment provider, or not the sandbox where it is needed, or the server [runs
        /// offline](backup.md#a-drill).
        ProviderNotConfigured = CONFLICT "provider_not_configured"
            "This project has no payment provider."
            do "[set one](going-live.md)" retry "no";
        /// The payment provider refused or failed; a checkout sold nothing.
        ProviderError = BAD_GATEWAY "provider_error"
            "The payment provider refused the request or failed. Nothing was sold; try again."
            do "look at the log and at the provider's status page" retry "yes, with the same key";
    }
    "Limits" {
        /// Too many requests, streams or wrong tokens.
        RateLimited = TOO_MANY_REQUESTS "rate_limited"
            "Too many requests. Slow down."
            do "slow down ([limits](limits.md))" retry "yes, after `Retry-After`";
        /// Twenty codes from this address opened nothing within an hour, so all are refused.
        TooManyInvalidCodes = TOO_MANY_REQUESTS "too_many_invalid_codes"
            "Too many invalid recovery codes. Try again later."
            do "let the person wait, or use a secret key" retry "yes, after `Retry-After`";
        /// Too many new anonymous wallets.
        WalletCreationLimit = TOO_MANY_REQUESTS "wallet_creation_limit"
            "Too many new wallets. Try again later."
            do "make one when somebody needs it, not for every visit" retry "yes, after `Retry-After`";
    }
    "The server" {
        /// Nothing was done: too much is in flight, or the disk is behind ([limits](limits.md#the-server)).
        Overloaded = SERVICE_UNAVAILABLE "overloaded"
            "The server is busy. Nothing was done; try again."
            do "" retry "yes, after `Retry-After`";
        /// The server is stopping, or the log cannot be written. The operation **may or may not** have been applied.
        Unavailable = SERVICE_UNAVAILABLE "unavailable"
            "Not available right now. The request may or may not have been applied; try again with the same key."
            do "`scrip doctor` and the log say why" retry "yes, with the same key";
        /// A defect of Scrip.
        InternalError = INTERNAL_SERVER_ERROR "internal_error"
            "Something went wrong on our side."
            do "report it with the log's lines of its `requestId`" retry "yes, with the same key";
    }
    "Events and administration" {
        /// `after` is no event of the last 30 days.
        EventNotFound = NOT_FOUND "event_not_found"
            "No such event."
            do "start again without it" retry "no";
        /// The project has no such endpoint.
        WebhookNotFound = NOT_FOUND "webhook_not_found"
            "No such webhook endpoint."
            do "" retry "no";
        /// No such delivery among the last 10,000.
        DeliveryNotFound = NOT_FOUND "delivery_not_found"
            "No such delivery."
            do "" retry "no";
        /// The project has no such unfulfilled payment.
        PaymentNotFound = NOT_FOUND "payment_not_found"
            "No such unfulfilled payment."
            do "" retry "no";
        /// No such project, or not for you.
        ProjectNotFound = NOT_FOUND "project_not_found"
            "No such project."
            do "" retry "no";
        /// Your role does not allow this.
        RoleForbidden = FORBIDDEN "role_forbidden"
            "Your role does not allow this."
            do "ask an owner" retry "no";
        /// More than you may grant or refund in a day (UTC).
        DailyLimitExceeded = FORBIDDEN "daily_limit_exceeded"
            "Daily limit exceeded."
            do "ask an owner or an operator" retry "not today";
        /// There is no such user.
        UserNotFound = NOT_FOUND "user_not_found"
            "No such user."
            do "" retry "no";
        /// There is no such session, or it has ended.
        SessionNotFound = NOT_FOUND "session_not_found"
            "No such session, or it has ended."
            do "" retry "no";
        /// It was used, has expired, or was replaced.
        InvitationNotFound = NOT_FOUND "invitation_not_found"
            "This invitation was used, has expired, or was replaced."
            do "ask an owner for another one" retry "no";
        /// Another user has this address.
        EmailTaken = CONFLICT "email_taken"
            "Another user has this e-mail address."
            do "" retry "no";
        /// Another user is bound to this identity.
        IdentityTaken = CONFLICT "identity_taken"
            "Another user is bound to this identity at the identity provider."
            do "unbind that user first" retry "no";
        /// The request was decided, or has expired.
        ApprovalNotFound = NOT_FOUND "approval_not_found"
            "This approval request no longer exists (decided or expired)."
            do "" retry "no";
        /// Another person is deciding this request.
        ApprovalInProgress = CONFLICT "approval_in_progress"
            "Someone else is deciding this request. Try again in a minute."
            do "look again in a minute" retry "no";
        /// You cannot approve your own request.
        OwnApproval = FORBIDDEN "own_approval"
            "You cannot approve your own request."
            do "" retry "no";
        /// A hundred requests of this project wait.
        TooManyApprovals = CONFLICT "too_many_approvals"
            "A hundred approval requests of this project are pending. Decide some first."
            do "have some decided" retry "no";
        /// There are 1,000 users of the dashboard.
        TooManyUsers = CONFLICT "too_many_users"
            "There are as many users as the server allows."
            do "remove some" retry "no";
        /// It was changed since the version that `If-Match` names.
        ChangedMeanwhile = PRECONDITION_FAILED "changed_meanwhile"
            "This was changed since you read it. Read it again."
            do "read it again" retry "no";
        /// A key's id (`key_…`) is asked for, not the key.
        KeyNotFound = NOT_FOUND "key_not_found"
            "No such key."
            do "" retry "no";
        /// The project has orders at its provider, and the new setting is, or may be, another provider, account or
        /// mode.
        ProviderInUse = CONFLICT "provider_in_use"
            "This project has orders at its present provider, account or mode. With force, pending orders and subscriptions there end here."
            do "read [what changing ends](going-live.md#changing-the-account), then send `\"force\": true`" retry "no";
        /// Something else was decided about this unfulfilled payment.
        PaymentAlreadyResolved = CONFLICT "payment_already_resolved"
            "This payment was already resolved in another way."
            do "" retry "no";
        /// One of a project at a time.
        ReconciliationRunning = CONFLICT "reconciliation_running"
            "A reconciliation of this project is already running."
            do "" retry "yes, once `GET …/reconciliation` says that it is over";
        /// One at a time.
        BackupRunning = CONFLICT "backup_running"
            "A backup is already running."
            do "" retry "yes, once `GET /backups` says that it is over";
        /// No other process of the cluster was seen within 10 s.
        NoFollower = CONFLICT "no_follower"
            "No standby process is available."
            do "look at `scrip cluster status`" retry "yes, once another follows";
        /// A [cell](scaling.md#several-cells) is only split where a process waits to become the new one and has read
        /// the log; the message says what is missing.
        InvalidSplit = CONFLICT "invalid_split"
            "The cell cannot be split like this."
            do "" retry "yes, once it is there";
    }
}
