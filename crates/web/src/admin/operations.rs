//! All operations of the administration on one screen: routes and their descriptions.

use api_types::{
    Credited, FrozenWallet, Limits, Order, RateCard, RateCards, Reversed,
    admin::{CreatedProject, Price, Prices, Product, Products, Project, Projects},
};
use serde_json::json;
use wire::view::{Ledger, ListedOrders, SearchResult, Wallet, Wallets};

use super::{
    key_view::{Key, Keys},
    webhook_view::{
        CreatedWebhook, Deliveries, Delivery, Replayed, TestedWebhook, Webhook, WebhookSecret,
        Webhooks,
    },
    *,
};
use crate::http::{
    grant::Credit,
    operation::{ApiOperation, Csv, operations},
    reversal::ReverseDeductionRequest,
    subject::WalletChoice,
};

/// All of them, with the parameter by which the processes of several cells know whose request it is.
pub(crate) fn operations() -> Vec<ApiOperation<App>> {
    let mut operations = table();
    // A project's requests go to its own cell.
    for operation in operations
        .iter_mut()
        .filter(|one| !one.path.contains("{projectId}"))
    {
        operation.description.parameters.push(json!({
            "name": "cell", "in": "query", "required": false,
            "schema": { "type": "integer", "minimum": 0, "maximum": i16::MAX },
            "description": "Where the processes have several cells: the one that answers. Without it, the lowest.",
        }));
    }
    operations
}

fn table() -> Vec<ApiOperation<App>> {
    operations! {
        "Projects" {
            /// Create a project
            /// With a key of each kind. The secret key is shown only here.
            POST "/projects" projects::create(projects::Create) as createProject: 201 "Created." -> CreatedProject;
            /// List projects
            /// Oldest first.
            GET "/projects" project_list::list as listProjects: 200 "All of them." -> Projects;
            /// Show a project
            GET "/projects/{projectId}" projects::show as getProject: 200 "The project." -> Project;
            /// Update a project
            /// The key of a Stripe account is tried when it is set, which may take some seconds.
            PATCH "/projects/{projectId}" projects::update(projects::Update) as updateProject:
                200 "As it is now." -> Project, errors: [ProviderInUse];
            /// Check the payment provider
            /// Calls it, to see whether the key still works. Changes nothing.
            POST "/projects/{projectId}/provider/check" provider::check as checkProvider:
                200 "The result." -> provider::ProviderCheck;
            /// List subscriptions at the provider
            GET "/projects/{projectId}/provider/subscriptions" adoptions::list as listProviderSubscriptions:
                200 "A page of them." -> adoptions::RunningSubscriptions,
                errors: [PriceNotFound, ProviderNotConfigured, ProviderError];
            /// Adopt a subscription
            /// Takes over a subscription that was not started through Scrip. The provider's subscription is marked with its
            /// owner, and the current cycle is granted without a charge. Repeating it changes nothing.
            POST "/projects/{projectId}/provider/subscriptions" adoptions::adopt(adoptions::Adopt) as adoptProviderSubscription:
                200 "It is taken over." -> adoptions::Adopted,
                errors: [PriceNotFound, SubscriptionNotFound, AlreadySubscribed, CurrencyMismatch,
                    ProviderNotConfigured, ProviderError];
        }
        "Sandbox" {
            /// Show the sandbox
            GET "/projects/{projectId}/sandbox" sandbox::show as getSandbox: 200 "The sandbox." -> sandbox::View,
                errors: [ProviderNotConfigured];
            /// Update the sandbox
            /// How it delivers webhooks: late, twice, out of order.
            PATCH "/projects/{projectId}/sandbox" sandbox::update(sandbox::Update) as updateSandbox:
                200 "As it is now." -> sandbox::View, errors: [ProviderNotConfigured];
            /// Advance the sandbox's clock
            /// Grants, expiry, renewals and orders follow it; the answer comes when all that fell due has happened. The clock
            /// never goes back.
            POST "/projects/{projectId}/sandbox/advance" sandbox::advance(sandbox::Advance) as advanceSandbox:
                200 "Moved on." -> sandbox::Advanced, errors: [ProviderNotConfigured];
        }
        "Keys" {
            /// Create an API key
            /// A secret key is shown only here.
            POST "/projects/{projectId}/keys" keys::create(keys::Create) as createKey: 201 "Created." -> Key;
            /// List API keys
            /// Revoked ones too.
            GET "/projects/{projectId}/keys" keys::list as listKeys: 200 "All of them." -> Keys;
            /// Show an API key
            GET "/projects/{projectId}/keys/{keyId}" keys::show as getKey: 200 "The key." -> Key;
            /// Update an API key
            /// Its name, or when it ends. From the next request.
            PATCH "/projects/{projectId}/keys/{keyId}" keys::update(keys::Update) as updateKey:
                200 "As it is now." -> Key;
            /// Revoke an API key
            /// From the next request, for good. Repeating it changes nothing.
            DELETE "/projects/{projectId}/keys/{keyId}" keys::revoke as revokeKey: 204 "Revoked.";
        }
        "Products" {
            /// Create a product
            POST "/projects/{projectId}/products" products::create(products::Create) as createProduct:
                201 "Created." -> Product;
            /// List products
            /// With their prices, inactive ones too.
            GET "/projects/{projectId}/products" products::list as listProducts: 200 "All of them." -> Products;
            /// Show a product
            /// With its prices.
            GET "/projects/{projectId}/products/{productId}" products::show as getProduct: 200 "The product." -> Product;
            /// Update a product
            PATCH "/projects/{projectId}/products/{productId}" products::update(products::Update) as updateProduct:
                200 "As it is now." -> Product;
        }
        "Prices" {
            /// Create a price
            POST "/projects/{projectId}/products/{productId}/prices" prices::create(prices::Create) as createPrice:
                201 "Created." -> Price;
            /// List prices
            /// Inactive ones too.
            GET "/projects/{projectId}/products/{productId}/prices" prices::list as listPrices:
                200 "All of them." -> Prices;
            /// Show a price
            GET "/projects/{projectId}/products/{productId}/prices/{priceId}" prices::show as getPrice:
                200 "The price." -> Price;
            /// Update a price
            /// Its label, or whether it is offered.
            PATCH "/projects/{projectId}/products/{productId}/prices/{priceId}" prices::update(prices::Update) as updatePrice:
                200 "As it is now." -> Price;
        }
        "Rate cards" {
            /// Save a rate card
            /// What things cost in credits, as `rateCard` of a deduction names it. One that changes something is the next
            /// version, from now on or from `effectiveFrom`; former versions are kept, and price the holds that were placed
            /// with them. A card that was closed opens again.
            PUT "/projects/{projectId}/rate-cards/{slug}" rate_cards::put(rate_cards::Put) as saveRateCard:
                200 "The version." -> RateCard, errors: [ProductNotFound];
            /// List rate cards
            /// Each with the version in force, or the first that begins later.
            GET "/projects/{projectId}/rate-cards" rate_cards::list as listRateCards: 200 "All that are open." -> RateCards;
            /// Show a rate card
            /// The version in force, or the one that is asked for, also a former one and of a closed card.
            GET "/projects/{projectId}/rate-cards/{slug}" rate_cards::show as getRateCard: 200 "The version." -> RateCard;
            /// Close a rate card
            /// It prices nothing from now on, except for open holds that it placed.
            DELETE "/projects/{projectId}/rate-cards/{slug}" rate_cards::close as closeRateCard: 204 "Closed.";
        }
        "Backups" {
            /// Start a backup
            /// It goes on after the answer; `GET /backups` shows its state.
            POST "/backups" backups::create(backups::Create) as createBackup: 202 "Started." -> backups::Backup,
                errors: [BackupRunning];
            /// Show the state of backups
            GET "/backups" backups::show as getBackups: 200 "The state of backups." -> backups::Backups;
        }
        "Cluster" {
            /// Hand the log over
            /// The process that leads finishes what is in flight, ends and restarts as a follower, and another takes its place.
            /// Requests wait until then.
            POST "/cluster/hand-over" cluster::hand_over as handOver:
                202 "The process that led stops; another one takes over.", errors: [NoFollower];
            /// Split a cell
            /// Some of its projects move to a new cell, which a process that was started with its number becomes. Requests for
            /// the projects of both wait until then, as while the log is handed over. `cell` in the query names the cell to
            /// split; the default is the lowest.
            POST "/cluster/split" cluster::split(cluster::Split) as splitCell:
                202 "The process that led stops; both cells go on.", errors: [ProjectNotFound, InvalidSplit];
        }
        "Webhooks" {
            /// Create a webhook endpoint
            /// It gets events from now on. Its secret is shown only here.
            POST "/projects/{projectId}/webhooks" webhooks::create(webhooks::Create) as createWebhook:
                201 "Created." -> CreatedWebhook;
            /// List webhook endpoints
            GET "/projects/{projectId}/webhooks" webhooks::list as listWebhooks: 200 "All of them." -> Webhooks;
            /// Show a webhook endpoint
            GET "/projects/{projectId}/webhooks/{webhookId}" webhooks::show as getWebhook:
                200 "The endpoint." -> Webhook;
            /// Update a webhook endpoint
            PATCH "/projects/{projectId}/webhooks/{webhookId}" webhooks::update(webhooks::Update) as updateWebhook:
                200 "As it is now." -> Webhook;
            /// Delete a webhook endpoint
            /// With all that is kept of its deliveries.
            DELETE "/projects/{projectId}/webhooks/{webhookId}" webhooks::delete as deleteWebhook: 204 "Deleted.";
            /// Rotate a webhook's secret
            /// For 24 hours deliveries are signed with the former one, too.
            POST "/projects/{projectId}/webhooks/{webhookId}/rotate-secret" webhooks::rotate_secret as rotateWebhookSecret:
                200 "The new secret, shown only here." -> WebhookSecret;
            /// Send a test event
            /// An event that did not happen, signed like any delivery, whether the endpoint is active or not. Its data is
            /// `{"test": true, "projectId": …}`. It is sent once and not stored.
            POST "/projects/{projectId}/webhooks/{webhookId}/test" webhooks::test(webhooks::Test) as testWebhook:
                200 "How it was taken." -> TestedWebhook;
            /// List deliveries
            /// Of one endpoint, newest first: those that were tried at least once. All that are pending and the last 10,000
            /// others are kept.
            GET "/projects/{projectId}/webhooks/{webhookId}/deliveries" deliveries::list as listDeliveries:
                200 "A page of deliveries." -> Deliveries;
            /// Send a delivery's event again
            /// A pending delivery is tried at once; for one that is over, a new delivery is made and answered.
            POST "/projects/{projectId}/webhooks/{webhookId}/deliveries/{deliveryId}/replay" deliveries::replay as replayDelivery:
                202 "It will be sent." -> Delivery, errors: [EventNotFound];
            /// Send events again
            /// All that were recorded since an instant, as far as they are kept and the endpoint wants them.
            POST "/projects/{projectId}/webhooks/{webhookId}/replay" deliveries::replay_since(deliveries::Replay) as replayWebhook:
                202 "They will be sent." -> Replayed;
        }
        "Wallets" {
            /// Search wallets, orders and ledger entries
            /// By any id, address, code or user id.
            GET "/search" search::search as search: 200 "What was found." -> SearchResult,
                errors: [ProjectNotFound, WalletNotFound];
            /// List or find wallets
            /// Among wallets that were last used on one day, or that have about the same balance, the order is exact only where
            /// there are no more than a thousand. With `format=csv` or `Accept: text/csv`, all of them as CSV.
            GET "/projects/{projectId}/wallets" wallets::list as listWallets: 200 "A page of wallets." -> Csv<Wallets>,
                errors: [ProductNotFound];
            /// Get or create a user's wallet
            POST "/projects/{projectId}/wallets" wallets::open(wallets::Open) as openWallet:
                200 "The wallet, created now or before." -> Wallet;
            /// Show a wallet
            GET "/projects/{projectId}/wallets/{walletRef}" wallets::show as getWallet: 200 "The wallet." -> Wallet;
            /// Read a wallet's ledger
            /// Newest first. With `format=csv` or `Accept: text/csv`, all of it as CSV.
            GET "/projects/{projectId}/wallets/{walletRef}/ledger" wallets::read_ledger as getLedger:
                200 "A page." -> Csv<Ledger>, errors: [ProductNotFound];
            /// Grant credits
            /// To an existing wallet. Applied once for each `idempotencyKey`: a repeat answers the current balance, `credited:
            /// false` and the header `Idempotency-Replayed`.
            POST "/projects/{projectId}/wallets/{walletRef}/credit" wallets::credit(Credit) as grantCredits:
                200 "Done, now or before." -> Credited,
                errors: [ProductNotFound, IdempotencyKeyReused, BalanceLimit, TooManyLots];
            /// Freeze or unfreeze a wallet
            /// What would take credits of a frozen wallet is refused (`wallet_frozen`), and so is its checkout; reads, grants,
            /// refunds and payments under way go on. Repeating a request changes nothing.
            POST "/projects/{projectId}/wallets/{walletRef}/freeze" freeze::freeze(freeze::FreezeWallet) as freezeProjectWallet:
                200 "The wallet as it is now." -> FrozenWallet;
            /// Show a wallet's limits
            /// Those in force, with what their windows count: its own, those of its active subscriptions, those of products.
            GET "/projects/{projectId}/wallets/{walletRef}/limits" limits::read as getWalletLimits:
                200 "The limits in force." -> Limits;
            /// Replace a wallet's limits
            /// All of its own limits at once; an empty list removes them. Changing a limit resets nothing that was counted.
            PUT "/projects/{projectId}/wallets/{walletRef}/limits" limits::put(limits::WalletLimits) as setWalletLimits:
                200 "The limits in force." -> Limits, errors: [ProductNotFound];
            /// Erase a customer's personal data
            /// Removes e-mail addresses and metadata from all orders of a wallet, and operators' notes about it. Credits and
            /// sums stay, and so does what refunds need. No search finds the wallet by such an address any more, and no code is
            /// mailed there. An order that is made or paid later has its buyer's address. Repeating it changes nothing.
            POST "/projects/{projectId}/wallets/{walletRef}/erase" erase::erase as eraseWallet:
                200 "What was erased, and what is kept." -> erase::ErasedWallet;
            /// Replace a recovery code
            /// Also where a thief replaced it first. Former codes open nothing any more, sessions end, and open holds that
            /// publishable keys placed are released. With `mail` the new code is mailed and not shown, to the buyer whose
            /// payment made the wallet or to the address that is named: who only paid for more may know a former code alone.
            /// With a key, repeating the request within 24 hours answers, or mails, the same code.
            POST "/projects/{projectId}/wallets/{walletRef}/replace-code" replace_code::replace_code(replace_code::ReplaceCode) as replaceCode:
                200 "The new code." -> replace_code::ReplacedCode, errors: [NoRecoveryCode, NoPurchase, MailNotConfigured];
            /// Reverse a deduction
            /// Gives back what it took, to the lots that it came from. All reversals of a deduction together give back no more
            /// than it took. Applied once for each `idempotencyKey`.
            POST "/projects/{projectId}/deductions/{ledgerId}/reverse" reverse_deduction::reverse_deduction(ReverseDeductionRequest) as reverseProjectDeduction:
                200 "Done, now or before." -> Reversed,
                errors: [IdempotencyKeyReused, AlreadyReversed, HoldOpen, BalanceLimit];
            /// List wallets with duplicate subscriptions
            /// Wallets with several running subscriptions to one product, as two checkouts that are paid at the same time make them:
            /// their buyers pay for each.
            GET "/projects/{projectId}/duplicate-subscriptions" doubled_subscriptions::list as listDuplicateSubscriptions:
                200 "The wallets." -> doubled_subscriptions::DuplicateSubscriptions;
        }
        "Orders" {
            /// List orders
            /// Newest first. With `format=csv` or `Accept: text/csv`, all of them as CSV.
            GET "/projects/{projectId}/orders" orders::list as listProjectOrders:
                200 "A page of orders." -> Csv<ListedOrders>, errors: [ProductNotFound];
            /// Show an order
            GET "/projects/{projectId}/orders/{orderIdOrCheckoutId}" orders::show as getOrder: 200 "The order." -> Order;
        }
        "Unfulfilled payments" {
            /// List unfulfilled payments
            /// Payments that lead to no order, newest first: a person decides about each. One that leads to an order after all
            /// leaves the list by itself.
            GET "/projects/{projectId}/unfulfilled-payments" unfulfilled::list as listUnfulfilledPayments:
                200 "A page of payments." -> unfulfilled::UnfulfilledPayments;
            /// Assign a payment to a price
            /// Turns the payment into an order of this price: in this user's or code's wallet, or in a new code's if neither is
            /// named. Done once: a repeat answers the order.
            POST "/projects/{projectId}/unfulfilled-payments/{paymentId}/assign" unfulfilled::assign(WalletChoice<unfulfilled::Assign, false>) as assignUnfulfilledPayment:
                200 "The order." -> Order,
                errors: [ConflictingWallet, PriceNotFound, WalletNotFound, PaymentAlreadyResolved];
            /// Refund an unfulfilled payment
            /// All that is left of it and of the other payments of its bill. Done once: a repeat answers the same. Where one of
            /// several is refused, what others gave back stays given, and the rest stays listed.
            POST "/projects/{projectId}/unfulfilled-payments/{paymentId}/refund" unfulfilled::refund as refundUnfulfilledPayment:
                200 "It is on its way back." -> unfulfilled::UnfulfilledPayment,
                errors: [PaymentAlreadyResolved, AlreadyRefunded, ProviderNotConfigured, ProviderError];
            /// Dismiss a payment
            /// Leaves it as it is, with a note, and removes it from the list.
            POST "/projects/{projectId}/unfulfilled-payments/{paymentId}/dismiss" unfulfilled::dismiss(unfulfilled::Dismiss) as dismissUnfulfilledPayment:
                200 "It is off the list." -> unfulfilled::UnfulfilledPayment, errors: [PaymentAlreadyResolved];
        }
        "Server" {
            /// List audit log entries
            /// Changes, by whom and from where, and failed sign-ins. With `Accept: text/csv` as comma-separated values. Kept for
            /// a year, at most 50,000 entries of one actor: more replace that actor's oldest.
            GET "/audit" audit::list as listAuditEntries: 200 "A page, the newest first." -> audit::AuditEntries;
        }
        "Users" {
            /// Invite a user
            /// They set a password and a second factor at `invitationUrl`, which is also mailed to them if mail is set up.
            POST "/users" users::create(users::Create) as inviteUser: 201 "Invited." -> users::InvitedUser,
                errors: [EmailTaken, TooManyUsers];
            /// List the users
            GET "/users" users::list as listUsers: 200 "All of them." -> users::Users;
            /// Show a user
            GET "/users/{userId}" users::show as getUser: 200 "The user." -> users::User;
            /// Update a user
            /// From their next request, also within a session.
            PATCH "/users/{userId}" users::update(users::Update) as updateUser:
                200 "The user as it is now." -> users::User, errors: [EmailTaken, IdentityTaken];
            /// Remove a user
            /// And end their sessions.
            DELETE "/users/{userId}" users::delete as removeUser: 204 "Removed.";
            /// Invite a user again
            /// For a user who lost their password or second factor. An earlier invitation is no longer valid; the present
            /// password is, until the new one is set.
            POST "/users/{userId}/invitation" users::invite_again as inviteUserAgain:
                200 "The user, with a new invitation." -> users::InvitedUser;
            /// List dashboard sessions
            GET "/sessions" dashboard_sessions::list as listDashboardSessions:
                200 "All of them." -> dashboard_sessions::Sessions;
            /// End a dashboard session
            DELETE "/sessions/{sessionId}" dashboard_sessions::end as endDashboardSession: 204 "Ended.";
            /// End a user's sessions
            DELETE "/users/{userId}/sessions" dashboard_sessions::end_all as endSessionsOfUser: 204 "Ended.";
        }
        "Reconciliation" {
            /// Start a reconciliation
            /// Compares the provider's charges, refunds and disputes with the orders. It goes on after the answer; `GET` shows
            /// its state. Scrip does so by itself once a day.
            POST "/projects/{projectId}/reconciliation" reconciliation::create(reconciliation::Create) as createReconciliation:
                202 "Started." -> reconciliation::Reconciliations,
                errors: [ProviderNotConfigured, ProviderError, ReconciliationRunning];
            /// Show the last reconciliation
            /// And the state of one that is running.
            GET "/projects/{projectId}/reconciliation" reconciliation::show as getReconciliation:
                200 "The state of reconciliation." -> reconciliation::Reconciliations;
        }
    }
}
