//! All operations of the API on one screen: routes and their descriptions.

use api_types::{
    AutoTopUp, CodeWallet, Credited, DebtState, Deducted, DrawnHold, Estimate, ExternalWallet,
    Forgiven, FrozenWallet, Hold, Identity, Limits, Order, PlacedHold, RateCard, RateCards,
    Reversed, Session, Subscription,
};
use wire::{
    field::{ProductName, UserText},
    view::{Events, Ledger, Orders},
};

use super::*;
use crate::http::{
    grant::Credit,
    metered::{CostChoice, ProductCostChoice, UseChoice},
    operation::{ApiOperation, EventStream, operations},
    reversal::ReverseDeductionRequest,
    subject::{Needing, SubscriptionChoice, WalletChoice},
};

pub(crate) fn operations() -> Vec<ApiOperation<App>> {
    operations! {
        "Catalog" {
            /// List products
            /// Active products and their active prices.
            GET "/products" products::products: 200 "The project's offer" -> products::Products;
            /// List rate cards
            /// What things cost in credits now.
            GET "/rate-cards" rate_cards::rate_cards: 200 "Those in force" -> RateCards;
            /// Read a rate card
            /// As it is in force now.
            GET "/rate-cards/{slug}" rate_cards::rate_card: 200 "The card" -> RateCard;
            /// Estimate a cost
            /// What a use would cost by a rate card now, and whether a wallet could pay it. Reads only.
            POST "/estimate" rate_cards::estimate(WalletChoice<UseChoice<rate_cards::EstimateRequest>, false>): 200 "The cost" -> Estimate,
                errors: [RateCardNotFound, RateNotFound, ConflictingWallet, WalletNotFound, SecretKeyRequired];
            /// Identify a key
            /// The project that the key belongs to, and what kind of key it is.
            GET "/me" me::me: 200 "The key's project" -> Identity;
        }
        "Code wallets" {
            /// Create a code wallet
            /// The answer is the only place where the new recovery code is shown. Takes no body. With a
            /// publishable key new wallets are limited per project and per client address.
            POST "/wallets" create::create_wallet: 200 "The new, empty wallet" -> CodeWallet,
                errors: [ProjectArchived, AnonymousWalletsDisabled, WalletCreationLimit];
            /// Read a code wallet
            /// With a publishable key, codes that open nothing are limited to 20 an hour.
            GET "/wallets/{code}" read::read_wallet: 200 "The wallet" -> CodeWallet;
            /// Read a code wallet's ledger
            /// Newest first. A cursor stays valid while new entries arrive: none is repeated or skipped.
            GET "/wallets/{code}/ledger" ledger::read_ledger: 200 "A page" -> Ledger, errors: [ProductNotFound];
            /// Deduct from a code wallet
            /// Applied once for each `idempotencyKey`: a repeat answers the current balance,
            /// `deducted: false` and the header `Idempotency-Replayed`.
            POST "/wallets/{code}/deduct" deduct::deduct(ProductCostChoice<Needing<deduct::Deduction, ProductName>>): 200 "Done, now or before" -> Deducted,
                errors: [WalletFrozen, ProjectArchived, ProductNotFound, IdempotencyKeyReused, RateCardNotFound, RateNotFound, LimitExceeded, TooManyScopes, InsufficientCredits];
            /// Replace a code wallet's limits
            /// All of its own limits at once; an empty list removes them. Changing a limit resets nothing that was counted.
            PUT "/wallets/{code}/limits" limits::put_limits(limits::PutLimits): 200 "The limits in force" -> Limits,
                errors: [ProductNotFound];
            /// Read a code wallet's limits
            /// As those of an external wallet.
            GET "/wallets/{code}/limits" limits::read_limits: 200 "The limits in force" -> Limits;
            /// Replace a leaked recovery code
            /// The old code stops opening the wallet at once, and open holds that a publishable key placed are
            /// released. With a key, repeating the request within 24 hours, with the same kind of API key, answers the
            /// same new code, so that a lost answer loses no wallet. The body may be left out. The code of a frozen wallet is replaced for a secret key only.
            POST "/wallets/{code}/rotate" rotate::rotate_code(rotate::Request): 200 "The new code" -> rotate::Rotated,
                errors: [WalletFrozen];
            /// Stream a code wallet
            /// Server-sent events: `event: balance`, a rising `id`, and as `data` the wallet's `balances`, `features` and
            /// `subscriptions`. The present state comes first, then the newest one after each change that is durable, at most ten
            /// a second; a comment line every 15 seconds. It ends with the session or key, and when the code is replaced. A wallet
            /// has at most 8 streams (`rate_limited`), the server 10,000, of which each project and client has its share
            /// (`overloaded`).
            GET "/wallets/{code}/stream" stream::stream_wallet: 200 "The events, until the stream ends" -> EventStream,
                errors: [RateLimited];
            /// Mail recovery codes
            /// Mails the codes of paid anonymous wallets bought with this address, if there are any, to the address as the order
            /// has it; the answer is the same if there are none. At most 3 mails an hour to an address, and 10 requests an hour
            /// from a client with a publishable key.
            POST "/wallets/recover" recover::recover(recover::Request): 202 "Codes that are found are mailed";
        }
        "Holds" {
            /// Hold credits of a code wallet
            /// Repeating a hold with its key answers the original hold, even a closed one, with its `status`.
            POST "/wallets/{code}/holds" hold::place_hold(CostChoice<hold::PlaceHold>): 200 "The hold" -> PlacedHold,
                errors: [WalletFrozen, ProjectArchived, ProductRequired, ProductNotFound, IdempotencyKeyReused,
                    TooManyHolds, RateCardNotFound, RateNotFound, LimitExceeded, TooManyScopes, InsufficientCredits];
            /// Hold credits of an external wallet
            /// Repeating a hold with its key answers the original hold, even a closed one, with its `status`.
            POST "/wallets/external/holds" hold::place_external_hold(CostChoice<Needing<hold::PlaceHold, UserText>>):
                200 "The hold" -> PlacedHold,
                errors: [WalletFrozen, ProjectArchived, ProductRequired, WalletNotFound, ProductNotFound,
                    IdempotencyKeyReused, TooManyHolds, RateCardNotFound, RateNotFound, LimitExceeded, TooManyScopes,
                    InsufficientCredits];
            /// Hold credits of many wallets
            /// As a batch of deductions: each item is a hold of a wallet of either kind, with its key. `replayed` says that an
            /// earlier request placed it.
            POST "/holds/batch" batches::hold_batch(batch::Request<hold::ListedHold>):
                200 "The result of each" -> batch::Results<hold::ListedHold>,
                errors: [ConflictingWallet, ProjectArchived];
            /// Settle and draw from many holds
            /// As a batch of deductions: each item settles a hold, or with `keepOpen` draws from it. Repeating it answers
            /// `deducted: false`.
            POST "/settlements/batch" batches::settle_batch(batch::Request<settle::ListedCharge>):
                200 "The result of each" -> batch::Results<settle::ListedCharge>;
            /// Read a hold
            /// A publishable key reads the holds of code wallets.
            GET "/holds/{holdId}" hold::read_hold: 200 "The hold" -> Hold;
            /// Draw from a hold
            /// Charges a part of the hold and leaves it open; what was drawn stays charged if the hold is released or expires. Past
            /// what is held it takes from the balance. Repeating a draw answers the hold as it is now, `deducted: false` and the
            /// header `Idempotency-Replayed`, also once the hold is closed.
            POST "/holds/{holdId}/draw" draw::draw_hold(CostChoice<draw::DrawHold>): 200 "Drawn, now or before" -> DrawnHold,
                errors: [WalletFrozen, IdempotencyKeyReused, HoldClosed, RateCardNotFound, RateNotFound, LimitExceeded, InsufficientCredits];
            /// Settle a hold
            /// With `drain` or `owe` the work is charged as far as it can be, and never refused for want of credits. A hold that
            /// was released or has expired is then settled as a deduction under its key (`late`). With a publishable key that is at
            /// most what was held, within 24 hours, and not if the code was replaced since. Repeating a settlement answers the current
            /// balance, `deducted: false` and the header `Idempotency-Replayed`.
            POST "/holds/{holdId}/settle" settle::settle_hold(CostChoice<settle::SettleHold>):
                200 "Settled, now or before" -> Deducted,
                errors: [WalletFrozen, HoldClosed, IdempotencyKeyReused, BalanceLimit, RateCardNotFound, RateNotFound, LimitExceeded, InsufficientCredits];
            /// Release a hold
            /// What was drawn from it stays charged. Takes no body. Repeating it answers the current balance and the header `Idempotency-Replayed`.
            POST "/holds/{holdId}/release" hold::release_hold: 200 "Released, now or before" -> hold::Released,
                errors: [HoldClosed];
            /// Extend a hold
            /// Counted from now. A hold is never shortened, so that a retry is harmless.
            POST "/holds/{holdId}/extend" hold::extend_hold(hold::ExtendHold): 200 "The hold" -> Hold, errors: [HoldClosed];
        }
        "External wallets" {
            /// Get or create an external wallet
            /// Idempotent by `externalUserId`.
            POST "/wallets/external" create::open_external_wallet(create::OpenExternalWallet):
                200 "The wallet" -> ExternalWallet;
            /// Read an external wallet
            /// Never creates one.
            GET "/wallets/external" read::read_external_wallet: 200 "The wallet" -> ExternalWallet,
                errors: [WalletNotFound];
            /// Read an external wallet's ledger
            /// Newest first. Never creates a wallet. A cursor stays valid while new entries arrive: none is
            /// repeated or skipped.
            GET "/wallets/external/ledger" ledger::read_external_ledger: 200 "A page" -> Ledger,
                errors: [WalletNotFound, ProductNotFound];
            /// Replace an external wallet's limits
            /// All of its own limits at once; an empty list removes them. Changing a limit resets nothing that was counted. A
            /// user's wallet is created if there is none.
            PUT "/wallets/external/limits" limits::put_external_limits(Needing<limits::PutLimits, UserText>):
                200 "The limits in force" -> Limits, errors: [WalletNotFound, ProductNotFound];
            /// Read an external wallet's limits
            /// Those in force, with what their windows count: its own, those of its active subscriptions, those of products.
            /// Of several that count the same, only the first of these counts. With `member`, what that member used where a
            /// limit is about each.
            GET "/wallets/external/limits" limits::read_external_limits: 200 "The limits in force" -> Limits,
                errors: [WalletNotFound];
            /// Change an external wallet
            /// Where mails about it go. A user's wallet is created if there is none.
            PATCH "/wallets/external" top_up::update_wallet(top_up::UpdateWallet): 200 "The wallet" -> ExternalWallet,
                errors: [WalletNotFound];
            /// Open a page to save a card
            /// On the provider's page the buyer enters a card, which takes the place of one on file and may be charged without
            /// the buyer, as the automatic top-up says.
            POST "/wallets/external/payment-method" top_up::set_up_payment_method(top_up::SetUpPaymentMethod):
                200 "The page" -> top_up::CardPage,
                errors: [RedirectNotAllowed, ProjectArchived, WalletNotFound, ProviderNotConfigured, ProviderError];
            /// Remove the card on file
            /// The provider forgets it, too. An automatic top-up is suspended until another card is saved.
            DELETE "/wallets/external/payment-method" top_up::remove_payment_method: 204 "Removed, now or before",
                errors: [WalletNotFound, ProviderNotConfigured, ProviderError];
            /// Set the automatic top-up
            /// The card on file is charged when too little can be spent, at most `monthlyLimitCents` in a month and
            /// `maxPerDay` times a day. A session that allows more than before needs a card that was saved in the last 30
            /// minutes.
            PUT "/wallets/external/auto-top-up" top_up::set_auto_top_up(top_up::SetAutoTopUp): 200 "As it is now" -> AutoTopUp,
                errors: [ProjectArchived, WalletNotFound, PriceNotFound, PaymentMethodRequired, PaymentMethodConfirmationRequired];
            /// Read the automatic top-up
            /// With where it stands.
            GET "/wallets/external/auto-top-up" top_up::read_auto_top_up: 200 "As it is now" -> AutoTopUp,
                errors: [WalletNotFound];
            /// Deduct from an external wallet
            /// Applied once for each `idempotencyKey`: a repeat answers the current balance,
            /// `deducted: false` and the header `Idempotency-Replayed`.
            POST "/wallets/external/deduct" deduct::deduct_external(CostChoice<Needing<deduct::Deduction, UserText>>):
                200 "Done, now or before" -> Deducted,
                errors: [WalletFrozen, ProjectArchived, ProductRequired, WalletNotFound, ProductNotFound,
                    IdempotencyKeyReused, RateCardNotFound, RateNotFound, LimitExceeded, TooManyScopes, InsufficientCredits];
            /// Set a wallet's debt limit
            /// A user's wallet is created if there is none. A debt stays, also under a lower limit. Repeating a request changes
            /// nothing.
            POST "/wallets/external/debt-limit" debt_limit::set_debt_limit(debt_limit::DebtLimit):
                200 "The debt as it is now" -> DebtState, errors: [WalletNotFound, ProductNotFound];
            /// Forgive a debt
            /// Applied once for each `idempotencyKey`: a repeat answers the debt as it is now, `forgiven: false` and the header
            /// `Idempotency-Replayed`.
            POST "/wallets/external/forgive" forgive::forgive_debt(forgive::ForgiveDebt):
                200 "Done, now or before" -> Forgiven, errors: [WalletNotFound, ProductNotFound, IdempotencyKeyReused];
            /// Stream an external wallet
            /// Server-sent events: `event: balance`, a rising `id`, and as `data` the wallet's `balances`, `features` and
            /// `subscriptions`. The present state comes first, then the newest one after each change that is durable, at most ten
            /// a second; a comment line every 15 seconds. It ends with the session or key. A wallet has at most 8 streams
            /// (`rate_limited`), the server 10,000, of which each project and client has its share (`overloaded`).
            GET "/wallets/external/stream" stream::stream_external_wallet:
                200 "The events, until the stream ends" -> EventStream, errors: [WalletNotFound, RateLimited];
        }
        "Sessions" {
            /// Start a wallet session
            /// A token that opens this wallet alone, for the browser of its owner: it reads it, buys for it, opens the portal,
            /// cancels and resumes subscriptions, as far as `can` says, and never deducts, grants or holds. Nothing is stored.
            POST "/sessions" session::start_session(WalletChoice<session::NewSession>): 200 "The session" -> Session,
                errors: [ConflictingWallet, WalletNotFound];
            /// Revoke a wallet's sessions
            /// All that were started so far end at once, and the streams opened with them. Replacing a recovery code does the
            /// same.
            POST "/sessions/revoke" session::revoke_sessions(WalletChoice<session::RevokedSessions>):
                200 "The sessions have ended" -> session::Revoked, errors: [ConflictingWallet, WalletNotFound];
        }
        "Wallets of both kinds" {
            /// Grant credits
            /// Applied once for each `idempotencyKey`: a repeat answers the current balance,
            /// `credited: false` and the header `Idempotency-Replayed`.
            POST "/credit" credit::credit(WalletChoice<Credit>): 200 "Done, now or before" -> Credited,
                errors: [ProjectArchived, ConflictingWallet, WalletNotFound, ProductNotFound, IdempotencyKeyReused,
                    BalanceLimit, TooManyLots];
            /// Grant or revoke a feature
            /// Revoking removes only a manual grant. Repeating a request changes nothing.
            POST "/features" feature::set_feature(WalletChoice<feature::SetFeature>):
                200 "All features of the wallet" -> feature::Features, errors: [ConflictingWallet, WalletNotFound];
            /// Deduct from many wallets
            /// Each item is applied or refused on its own, those of one wallet in list order, and all that were
            /// applied are durable before the answer. A malformed item refuses the whole batch, with `param`
            /// naming it (`items[3].amount`).
            POST "/deductions/batch" batches::deduct_batch(batch::Request<deduct::ListedDeduction>):
                200 "The result of each" -> batch::Results<deduct::ListedDeduction>,
                errors: [ConflictingWallet, ProjectArchived];
            /// Grant credits to many wallets
            /// As a batch of deductions: each item is what `POST /credit` takes, with its key.
            POST "/credit/batch" batches::credit_batch(batch::Request<Credit>):
                200 "The result of each" -> batch::Results<Credit>, errors: [ConflictingWallet, ProjectArchived];
            /// Freeze a wallet
            /// What would take its credits is refused (`wallet_frozen`), and so is its checkout: deductions, holds, draws, and to
            /// settle a hold for more than it set aside. Reads, grants, refunds and reversals go on, and so does what was promised
            /// before: open holds are settled for what they set aside or released, payments under way and renewals of
            /// subscriptions are fulfilled. Its code is replaced for a secret key only. Repeating a request changes nothing; another
            /// reason replaces the former.
            POST "/wallets/freeze" freeze::freeze_wallet(WalletChoice<freeze::FreezeWallet, true, true>):
                200 "The wallet as it is now" -> FrozenWallet, errors: [ConflictingWallet, WalletNotFound];
            /// Reverse a deduction
            /// Gives back what a deduction took, also one of a batch, a draw or a settled hold: to the lots that it came from, or
            /// where one has expired as credits that last a day. A debt is paid first. All reversals of a deduction together give
            /// back no more than it took. Applied once for each `idempotencyKey`: a repeat answers `reversed: false` and the header
            /// `Idempotency-Replayed`.
            POST "/deductions/{ledgerId}/reverse" reverse_deduction::reverse_deduction(ReverseDeductionRequest):
                200 "Done, now or before" -> Reversed,
                errors: [IdempotencyKeyReused, AlreadyReversed, HoldOpen, BalanceLimit];
        }
        "Purchases" {
            /// Start a checkout
            /// Makes an order and a checkout session of the payment provider. Send the buyer to `url`. The order
            /// expires after 24 hours; a late payment still counts. A wallet has at most 100 pending orders: the
            /// next one is `too_many_pending_orders`.
            POST "/checkout" checkout::checkout(WalletChoice<checkout::Checkout, false>):
                200 "A checkout that waits for its buyer" -> api_types::Checkout,
                errors: [WalletFrozen, ProjectArchived, ConflictingWallet, InvalidDiscountCode, SecretKeyRequired,
                    RedirectNotAllowed, AnonymousWalletsDisabled, PriceNotFound, WalletNotFound,
                    TooManyInvalidCodes, WalletCreationLimit, AlreadySubscribed, AlreadyOwned, IdempotencyKeyReused,
                    CurrencyMismatch, TooManyPendingOrders, ProviderNotConfigured, ProviderError];
            /// List orders
            /// Newest first. Orders carry recovery codes: a secret key is needed. With one, the list may be filtered. A session lists the orders of its own wallet; a
            /// page of them may have fewer than `limit`, or none, and still a `nextCursor`.
            GET "/orders" order::list_orders: 200 "A page of orders" -> Orders, errors: [ProductNotFound];
            /// Read an order
            /// By the order's or the checkout's identifier. `customerEmail` is there with a secret key only. A
            /// checkout's identifier is part of addresses, which are logged: with a publishable key it shows `code` for 24
            /// hours after the payment, the order's identifier for ever, if the order's payment made the wallet or the buyer
            /// named it by its code, and as long as that code was not replaced. A session is shown no code.
            GET "/orders/{orderIdOrCheckoutId}" order::read_order: 200 "The order" -> Order, errors: [TooManyInvalidCodes];
            /// Refund an order
            /// The payment provider gives the money back, and credits follow when the payment shows it: mostly at
            /// once, later where the provider takes its time. Done once for each `idempotencyKey`: a repeat answers
            /// the order as it stands and the header `Idempotency-Replayed`; after a `provider_error` the same request
            /// goes on where it stopped, and a refusal by the provider uses up no key. Refunds that were requested and
            /// do not show in the payment yet count. Of a bill that was paid in parts each payment gives back its own; what one
            /// gave stays given where another is refused. A refusal for good is `already_refunded`, with the provider's words and in
            /// `refundableCents` what can still be refunded. Of an order that is not paid, or cost nothing, nothing can be
            /// refunded: `already_refunded` with `refundableCents` 0.
            POST "/orders/{orderIdOrCheckoutId}/refund" refund::refund_order(refund::Request):
                200 "The order, refunded now or before" -> Order,
                errors: [IdempotencyKeyReused, AlreadyRefunded, ProviderNotConfigured, ProviderError];
            /// Cancel a subscription
            /// What is left of its credits expires when it ends, unless they roll over. Done once for each
            /// `idempotencyKey`: a repeat answers the subscription as it stands, `canceled` when it is over, and the
            /// header `Idempotency-Replayed`; after a `provider_error` the same request goes on where it stopped.
            POST "/subscriptions/cancel" subscriptions::cancel_subscription(SubscriptionChoice<WalletChoice<subscriptions::CancelSubscription>>):
                200 "The subscription, canceled now or before" -> Subscription,
                errors: [ConflictingWallet, WalletNotFound, ProductNotFound, SubscriptionNotFound,
                    SubscriptionAmbiguous, IdempotencyKeyReused, ProviderNotConfigured, ProviderError];
            /// Resume a subscription
            /// Takes back a cancellation at the end of the period, and a pause; a subscription that goes on anyway
            /// stays as it is, and one that has ended is not found. Done once for each `idempotencyKey`: a repeat
            /// answers the subscription as it stands and the header `Idempotency-Replayed`; after a
            /// `provider_error` the same request goes on where it stopped.
            POST "/subscriptions/resume" subscriptions::resume_subscription(SubscriptionChoice<WalletChoice<subscriptions::ResumeSubscription>>):
                200 "The subscription, resumed now or before" -> Subscription,
                errors: [ConflictingWallet, WalletNotFound, ProductNotFound, SubscriptionNotFound,
                    SubscriptionAmbiguous, IdempotencyKeyReused, ProviderNotConfigured, ProviderError];
            /// Open the portal of a code wallet
            /// The wallet must have completed a purchase.
            GET "/wallets/{code}/portal" portal::open_portal: 200 "The portal" -> portal::Portal,
                errors: [RedirectNotAllowed, SubscriptionNotFound, NoPurchase, ProviderNotConfigured, ProviderError];
            /// Open the portal of an external wallet
            /// The wallet must have completed a purchase.
            POST "/wallets/external/portal" portal::open_external_portal(portal::OpenPortalExternal):
                200 "The portal" -> portal::Portal,
                errors: [RedirectNotAllowed, WalletNotFound, SubscriptionNotFound, NoPurchase,
                    ProviderNotConfigured, ProviderError];
        }
        "Events" {
            /// List events
            /// The events that webhooks deliver, in the order in which they were recorded, kept for 30 days from then. To
            /// go on, pass `nextCursor` as `after`.
            GET "/events" events::list_events: 200 "A page of events" -> Events, errors: [EventNotFound];
            /// Read usage
            /// Credits by the reason for which they came and went, in UTC. They are counted as they change: a
            /// request reads no ledger. What expires in an unused wallet is counted when it is next used, in the interval in which
            /// it expired: intervals that are over may still grow. With `externalUserId` one wallet's ledger is summed up, at most
            /// 200,000 entries of it: a busier wallet needs a shorter span.
            GET "/usage" usage::read_usage: 200 "The usage" -> usage::Usage,
                errors: [ProductRequired, ProductNotFound, WalletNotFound];
        }
    }
}
