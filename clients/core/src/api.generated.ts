// Made by core/generate.mjs from docs/openapi/api.json: do not change it by hand.

export interface paths {
    "/checkout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a checkout
         * @description Makes an order and a checkout session of the payment provider. Send the buyer to `url`. The order
         *     expires after 24 hours; a late payment still counts. A wallet has at most 100 pending orders: the
         *     next one is `too_many_pending_orders`.
         */
        post: operations["checkout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Grant credits
         * @description Applied once for each `idempotencyKey`: a repeat answers the current balance,
         *     `credited: false` and the header `Idempotency-Replayed`.
         */
        post: operations["credit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deductions/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deduct from many wallets
         * @description Each item is applied or refused on its own, those of one wallet in list order, and all that were
         *     applied are durable before the answer. An ill-shaped item refuses the whole batch, with
         *     `param` naming it (`items[3].amount`).
         */
        post: operations["deduct_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description What webhooks are told, oldest first, kept for 30 days. To go on, pass `nextCursor` as `after`.
         */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/features": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Grant or revoke a feature
         * @description Revoking removes only a manual grant. Repeating a request changes nothing.
         */
        post: operations["set_feature"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holds/{holdId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a hold
         * @description A publishable key reads the holds of code wallets.
         */
        get: operations["read_hold"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holds/{holdId}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extend a hold
         * @description Counted from now. A hold is never shortened, so that a retry is harmless.
         */
        post: operations["extend_hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holds/{holdId}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a hold
         * @description Takes no body. Repeating it answers the current balance and the header `Idempotency-Replayed`.
         */
        post: operations["release_hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holds/{holdId}/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle a hold
         * @description Where the balance cannot cover a surplus the hold stays open. Repeating a settlement answers the
         *     current balance, `deducted: false` and the header `Idempotency-Replayed`.
         */
        post: operations["settle_hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Identify a key
         * @description The project that the key belongs to, and what kind of key it is.
         */
        get: operations["me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description Newest first. Orders carry recovery codes: a secret key is needed.
         */
        get: operations["list_orders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/{orderIdOrCheckoutId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an order
         * @description By the order's or the checkout's identifier. `customerEmail` is there with a secret key only.
         */
        get: operations["read_order"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/{orderIdOrCheckoutId}/refund": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refund an order
         * @description The payment provider gives the money back, and credits follow how the payment stands then: mostly at
         *     once, later where the provider takes its time. Done once for each `idempotencyKey`: a repeat answers
         *     the order as it stands and the header `Idempotency-Replayed`; after a `provider_error` the same request
         *     goes on where it stopped, and a refusal of the provider's uses up no key. What was asked for and is not
         *     seen in the payment yet counts. Of an order that is not paid, or cost nothing, nothing can be refunded:
         *     `already_refunded` with `refundableCents` 0.
         */
        post: operations["refund_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List products
         * @description Active products and their active prices.
         */
        get: operations["products"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a subscription
         * @description What is left of its credits expires when it ends, unless they roll over. Done once for each
         *     `idempotencyKey`: a repeat answers the subscription as it stands, `canceled` when it is over, and the
         *     header `Idempotency-Replayed`; after a `provider_error` the same request goes on where it stopped.
         */
        post: operations["cancel_subscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a subscription
         * @description Takes back that it ends with its period, and that it is paused; one that goes on anyway stays as it
         *     is, and one that is over is not found. Done once for each `idempotencyKey`: a repeat answers the
         *     subscription as it stands and the header `Idempotency-Replayed`; after a `provider_error` the same
         *     request goes on where it stopped.
         */
        post: operations["resume_subscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read usage
         * @description Credits by why they came and went, in UTC. What is asked for is counted as it happens: asking reads
         *     no ledger.
         */
        get: operations["read_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a code wallet
         * @description The answer is the only place where the new recovery code is told. Takes no body. With a
         *     publishable key new wallets are limited per project and per client address.
         */
        post: operations["create_wallet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a code wallet
         * @description With a publishable key, codes that open nothing are limited to 20 an hour.
         */
        get: operations["read_wallet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{code}/deduct": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deduct from a code wallet
         * @description Applied once for each `idempotencyKey`: a repeat answers the current balance,
         *     `deducted: false` and the header `Idempotency-Replayed`.
         */
        post: operations["deduct"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{code}/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hold credits of a code wallet
         * @description Repeating a hold with its key answers the original hold, even a closed one.
         */
        post: operations["place_hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{code}/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a code wallet's ledger
         * @description Newest first. A cursor stays valid while new entries arrive: none is repeated or skipped.
         */
        get: operations["read_ledger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{code}/portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open the portal of a code wallet
         * @description The wallet must have completed a purchase.
         */
        get: operations["open_portal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/{code}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a leaked recovery code
         * @description The old code stops opening the wallet at once, and open holds that a publishable key placed are
         *     released. With a key, repeating the request within 24 hours answers the same new code, so that a
         *     lost answer loses no wallet. The body may be left out.
         */
        post: operations["rotate_code"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/external": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an external wallet
         * @description Never creates one.
         */
        get: operations["read_external_wallet"];
        put?: never;
        /**
         * Get or create an external wallet
         * @description Idempotent by `externalUserId`.
         */
        post: operations["open_external_wallet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/external/deduct": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deduct from an external wallet
         * @description Applied once for each `idempotencyKey`: a repeat answers the current balance,
         *     `deducted: false` and the header `Idempotency-Replayed`.
         */
        post: operations["deduct_external"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/external/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hold credits of an external wallet
         * @description Repeating a hold with its key answers the original hold, even a closed one.
         */
        post: operations["place_external_hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/external/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an external wallet's ledger
         * @description Newest first. Never creates a wallet. A cursor stays valid while new entries arrive: none is
         *     repeated or skipped.
         */
        get: operations["read_external_ledger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/external/portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the portal of an external wallet
         * @description The wallet must have completed a purchase.
         */
        post: operations["open_external_portal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail recovery codes
         * @description Mails the codes of paid anonymous wallets bought with this address, if there are any, to the address
         *     as the order has it; the answer is the same if there are none. At most 3 mails an hour to an address, and 10 requests an hour
         *     from a client with a publishable key.
         */
        post: operations["recover"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Format: int64 */
        Amount: number;
        /** @description A product's balance in a wallet. */
        Balance: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            creditUnit?: string | null;
            /**
             * Format: int64
             * @description Credits that open holds set aside; left out when there are none.
             */
            held?: number;
            nextExpiry?: components["schemas"]["NextExpiry"] | null;
            productId: string;
        };
        /** @description A stretch of time. */
        Bucket: {
            /**
             * Format: int64
             * @description Credits used.
             */
            deducted: number;
            /**
             * Format: int64
             * @description How often credits were used.
             */
            deductions: number;
            /**
             * Format: int64
             * @description Credits that expired.
             */
            expired: number;
            /** @description What they were used for; with `groupBy=feature`. */
            features?: components["schemas"]["Feature"][] | null;
            /**
             * Format: int64
             * @description Credits bought, given by hand and for free.
             */
            granted: number;
            /**
             * Format: int64
             * @description Credits taken for refunds and disputes, less what was given back.
             */
            refunded: number;
            /** @description Its first instant, UTC. */
            start: components["schemas"]["Instant"];
        };
        /** @description Which subscription. The wallet is named by exactly one of `externalUserId` and `code`. */
        CancelSubscription: {
            /**
             * @description Whether it ends with its period, and can be resumed until then, rather than at once; true when left
             *     out.
             */
            atPeriodEnd?: boolean | null;
            /** @description Names the operation: it is done once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            /** @description To which product. */
            productId: components["schemas"]["ProductId"];
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /**
         * @description What to buy, and for whom: the user (with a secret key only; a wallet is made if there is none) or
         *     the code whose wallet to fill. With neither the payment makes an anonymous wallet, and the order
         *     shows its code.
         */
        Checkout: {
            /** @description Whether the buyer may enter a code of the provider's. */
            allowPromotionCodes?: boolean | null;
            cancelUrl?: components["schemas"]["RedirectUrl"] | null;
            customerEmail?: components["schemas"]["Email"] | null;
            discountCode?: components["schemas"]["DiscountCode"] | null;
            locale?: components["schemas"]["Locale"] | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description An active price of an active product. */
            priceId: components["schemas"]["PriceId"];
            quantity?: components["schemas"]["WholeFrom1To1000"] | null;
            successUrl?: components["schemas"]["RedirectUrl"] | null;
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        } | {
            code?: null;
            externalUserId?: null;
        });
        /** @description A checkout that waits for its buyer. */
        CheckoutResult: {
            /** @description `cs_…` */
            checkoutId: string;
            /** @description `ord_…` */
            orderId: string;
            /** @description Where to send the buyer. */
            url: string;
        };
        /** @description A wallet that its recovery code opens. */
        CodeWallet: components["schemas"]["Holdings"] & {
            /**
             * @description The recovery code: whoever knows it owns the wallet.
             * @example OLIVE-7K2M-9QXP-4TBD
             */
            code: string;
        };
        /**
         * @description Credits to grant. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
         *     created if there is none.
         */
        Credit: {
            amount: components["schemas"]["Amount"];
            expiresAt?: components["schemas"]["Instant"] | null;
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            meta?: components["schemas"]["Meta"] | null;
            /** @description Whose credits. */
            productId: components["schemas"]["ProductId"];
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description What came of a grant. */
        Credited: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /** @description Whether this very request granted them; false on a repeat. */
            credited: boolean;
        };
        /** @description What it is about. */
        Data: components["schemas"]["OrderData"] | components["schemas"]["WalletData"];
        /** @description Credits to use up. */
        Deduct: {
            amount: components["schemas"]["Amount"];
            /**
             * @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
             *     except in a batch.
             */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            meta?: components["schemas"]["Meta"] | null;
            productId?: components["schemas"]["ProductId"] | null;
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description Deductions, 1 to 1,000. */
        DeductBatch: {
            items: components["schemas"]["Deduct"][];
        };
        /** @description What came of an item: either a deduction or its refusal. */
        DeductBatchResult: components["schemas"]["Deducted"] | {
            error: components["schemas"]["Error"];
        };
        /** @description What came of each item, in their order. */
        DeductBatchResults: {
            results: components["schemas"]["DeductBatchResult"][];
        };
        /** @description Credits to use up. */
        DeductByCode: {
            amount: components["schemas"]["Amount"];
            /**
             * @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
             *     except in a batch.
             */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            meta?: components["schemas"]["Meta"] | null;
            productId: components["schemas"]["ProductId"];
        };
        /** @description What came of a deduction or of settling a hold. */
        Deducted: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /** @description Whether this very request took credits; false on a repeat. */
            deducted: boolean;
        };
        /** @description Credits to use up. */
        DeductExternal: {
            amount: components["schemas"]["Amount"];
            externalUserId: components["schemas"]["ExternalUserId"];
            /**
             * @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
             *     except in a batch.
             */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            meta?: components["schemas"]["Meta"] | null;
            productId?: components["schemas"]["ProductId"] | null;
        };
        DiscountCode: string;
        /** @example ann@mail.example */
        Email: string;
        /** @description What every refusal looks like. */
        Error: {
            /**
             * Format: int64
             * @description Credits that can be spent now; with `insufficient_credits`, as are the next four.
             */
            balance?: number | null;
            /**
             * @description What went wrong, as a program reads it.
             * @example invalid_request
             */
            code: string;
            /**
             * @description What the wallet's subscriptions are charged in; with `currency_mismatch`, where it is known.
             * @example EUR
             */
            currency?: string | null;
            /** @description What went wrong, as a person reads it: one plain sentence. */
            message: string;
            /**
             * @description The one input at fault, as a path.
             * @example items[3].amount
             */
            param?: string | null;
            /** @description Active prices that would cover the shortfall. */
            prices?: components["schemas"]["Price"][] | null;
            /** @description The product whose balance fell short. */
            productId?: string | null;
            /**
             * Format: int64
             * @description What can still be refunded, in the currency's minor unit; with `already_refunded`.
             */
            refundableCents?: number | null;
            /**
             * Format: int64
             * @description Credits asked for.
             */
            requested?: number | null;
            /**
             * @description The request's identifier, also in `X-Request-Id`. Not in the items of a batch.
             * @example req_01jd3v8q6pf6r9x3v1m2k4c5d7
             */
            requestId?: string | null;
            /**
             * Format: int64
             * @description Credits missing.
             */
            shortfall?: number | null;
        };
        /** @description Something that happened. */
        Event: {
            data: components["schemas"]["Data"];
            /** @description `evt_…` */
            id: string;
            /** @description When it happened. */
            timestamp: components["schemas"]["Instant"];
            /**
             * @description What kind of thing.
             * @example order.paid
             */
            type: string;
        };
        /** @description Events, oldest first. */
        Events: {
            events: components["schemas"]["Event"][];
            /** @description Pass as `after` for what comes next: the last event's identifier, or `after` as it was given. */
            nextCursor?: string | null;
        };
        /** @description How long from now. */
        ExtendHold: {
            /** @description From now until the credits come back by themselves. */
            expiresInSeconds: components["schemas"]["HoldSeconds"];
        };
        /**
         * @description The caller's own user id, compared exactly.
         * @example user_42
         */
        ExternalUserId: string;
        /** @description A wallet of a user of the caller's. */
        ExternalWallet: components["schemas"]["Holdings"] & {
            externalUserId: string;
            /** @description `wal_…` */
            walletId: string;
        };
        /** @description Credits used for one feature. */
        Feature: {
            /** Format: int64 */
            credits: number;
            /** Format: int64 */
            deductions: number;
            /** @description `meta.feature`; null where there was none. At most 200 are kept apart, the rest is `other`. */
            feature?: string | null;
        };
        /** @enum {string} */
        FeatureAction: "grant" | "revoke";
        /** @description What the wallet unlocks. */
        Features: {
            /** @description All features, sorted. */
            features: string[];
        };
        /** @example history */
        FeatureSlug: string;
        /** @description Credits for nothing. */
        FreeGrant: {
            /** Format: int64 */
            credits: number;
            /**
             * @description `once`, `daily`, `weekly`, `monthly` or `yearly`
             * @example monthly
             */
            period: "once" | "daily" | "weekly" | "monthly" | "yearly" | (string & {});
        };
        /** @description How a hold stands. */
        Hold: {
            /**
             * Format: int64
             * @description Credits set aside when it was placed.
             */
            amount: number;
            expiresAt: components["schemas"]["Instant"];
            /** @description `hold_…` */
            holdId: string;
            productId: string;
            /**
             * Format: int64
             * @description Credits deducted when it was settled, else 0.
             */
            settledAmount: number;
            /**
             * @description `open`, `settled`, `released` or `expired`
             * @example open
             */
            status: "open" | "settled" | "released" | "expired" | (string & {});
        };
        /** @description What a wallet holds. */
        Holdings: {
            balances: components["schemas"]["Balance"][];
            /** @description Unlocked features. */
            features: string[];
            /** @description Active and past-due subscriptions. */
            subscriptions: components["schemas"]["Subscription"][];
        };
        /** Format: int64 */
        HoldSeconds: number;
        /**
         * @description Names one logical operation, compared exactly.
         * @example order-7-refill
         */
        IdempotencyKey: string;
        /** @description What a key is. */
        Identity: {
            /**
             * @description `publishable` or `secret`
             * @example publishable
             */
            keyKind: "publishable" | "secret" | (string & {});
            /**
             * @description `credit_codes` or `external_users`
             * @example credit_codes
             */
            mode: "credit_codes" | "external_users" | (string & {});
            /** @description The project's name. */
            project: string;
            /** @description `proj_…` */
            projectId: string;
        };
        /**
         * Format: date-time
         * @description An instant, ISO 8601; in answers in UTC with milliseconds.
         * @example 2099-12-31T23:00:00.000Z
         */
        Instant: string;
        /** @description A page of a ledger, newest first. */
        Ledger: {
            entries: components["schemas"]["LedgerEntry"][];
            /** @description Pass as `cursor` for the next page; null on the last one. */
            nextCursor?: string | null;
        };
        /** @description One change of a balance. It never changes itself. */
        LedgerEntry: {
            /**
             * Format: int64
             * @description The sum of all deltas of this product up to and with this one: credits that can be spent and
             *     those that are held.
             */
            balanceAfter: number;
            createdAt: components["schemas"]["Instant"];
            creditUnit?: string | null;
            /**
             * Format: int64
             * @description Credits added (positive) or removed (negative).
             */
            delta: number;
            expiresAt?: components["schemas"]["Instant"] | null;
            /** @description `led_…` */
            id: string;
            idempotencyKey?: components["schemas"]["IdempotencyKey"] | null;
            meta?: components["schemas"]["Meta"] | null;
            /** @description The order behind it. */
            orderId?: string | null;
            productId: string;
            reason: components["schemas"]["Reason"];
        };
        /** @example en */
        Locale: string;
        /** @description A note of the caller's, kept in the ledger: a JSON object of at most 4 KiB, nested at most 64 deep. */
        Meta: {
            [key: string]: unknown;
        };
        /** @description What the shop wants to remember of the order: up to 20 pairs of texts, of 11 KiB together. */
        Metadata: {
            [key: string]: string;
        };
        /** @description Credits that will expire. */
        NextExpiry: {
            /** Format: int64 */
            amount: number;
            at: components["schemas"]["Instant"];
        };
        /** @description Whose wallet. */
        OpenExternalWallet: {
            externalUserId: components["schemas"]["ExternalUserId"];
        };
        /** @description Which portal. */
        OpenPortalExternal: {
            externalUserId: components["schemas"]["ExternalUserId"];
            /** @description Where the portal leads back to. */
            returnUrl: components["schemas"]["RedirectUrl"];
        };
        /** @description A checkout, a subscription's renewal or its switch to another tier. */
        Order: {
            /**
             * Format: int64
             * @description What was charged once it is paid, the price before; in the currency's minor unit.
             */
            amountCents: number;
            /**
             * Format: int64
             * @description Credits of its product that the wallet can spend now.
             */
            balance: number;
            /** @description The provider's session; null for a renewal or a switch. */
            checkoutId?: string | null;
            /**
             * @description The code of the anonymous wallet that it fills; null for an external one, until a payment has
             *     made the wallet, and with a publishable key once the code was replaced since the order.
             */
            code?: string | null;
            createdAt: components["schemas"]["Instant"];
            /** @description ISO 4217, upper case. */
            currency: string;
            /** @description The buyer's address. Only with a secret key: left out with a publishable one. */
            customerEmail?: string | null;
            /** @description The caller's own user, of an external wallet. */
            externalUserId?: string | null;
            /** @description `ord_…` */
            id: string;
            /** @description The provider's page about the invoice; null where there is none. */
            invoiceUrl?: string | null;
            /**
             * @description `checkout`, `renewal` or `switch`
             * @example checkout
             */
            kind: "checkout" | "renewal" | "switch" | (string & {});
            /** @description What the checkout was given to remember. */
            metadata: {
                [key: string]: string;
            };
            paidAt?: components["schemas"]["Instant"] | null;
            payment?: components["schemas"]["Payment"] | null;
            priceId: string;
            productId: string;
            /**
             * Format: int32
             * @description How many were bought.
             */
            quantity: number;
            /** @description The provider's page about the payment; null where there is none. */
            receiptUrl?: string | null;
            /**
             * Format: int64
             * @description What went back to the buyer, likewise.
             */
            refundedCents: number;
            /**
             * @description `pending`, `paid`, `failed`, `refunded` or `expired`
             * @example paid
             */
            status: "pending" | "paid" | "failed" | "refunded" | "expired" | (string & {});
            /** @description `wal_…`; null until a payment has made the wallet. */
            walletId?: string | null;
        };
        /** @description Of an order's events. */
        OrderData: {
            order: components["schemas"]["Order"] | null;
        };
        /** @description A page of a project's orders, newest first. */
        Orders: {
            /** @description Pass as `cursor` for the next page; null on the last one. */
            nextCursor?: string | null;
            orders: components["schemas"]["Order"][];
        };
        /** @description The provider's names for what belongs to an order. */
        Payment: {
            customerId?: string | null;
            invoiceId?: string | null;
            /** @description Whether it was real money. */
            livemode: boolean;
            paymentId?: string | null;
            /**
             * @description `sandbox` or `stripe`
             * @example stripe
             */
            provider: "sandbox" | "stripe" | (string & {});
            subscriptionId?: string | null;
        };
        /** @description A hold that was placed. */
        PlacedHold: {
            /**
             * Format: int64
             * @description Credits set aside.
             */
            amount: number;
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            expiresAt: components["schemas"]["Instant"];
            /** @description `hold_…` */
            holdId: string;
        };
        /** @description Credits to set aside. */
        PlaceHold: {
            amount: components["schemas"]["Amount"];
            expiresInSeconds?: components["schemas"]["HoldSeconds"] | null;
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            meta?: components["schemas"]["Meta"] | null;
            productId?: components["schemas"]["ProductId"] | null;
        };
        /** @description Credits to set aside. */
        PlaceHoldExternal: {
            amount: components["schemas"]["Amount"];
            expiresInSeconds?: components["schemas"]["HoldSeconds"] | null;
            externalUserId: components["schemas"]["ExternalUserId"];
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            meta?: components["schemas"]["Meta"] | null;
            productId?: components["schemas"]["ProductId"] | null;
        };
        /** @description A portal for one customer. */
        Portal: {
            /** @description Where to send the customer, soon: it opens for a short time. */
            url: string;
        };
        /** @description A price. */
        Price: {
            /**
             * Format: int64
             * @description In the currency's minor unit.
             */
            amountCents: number;
            /**
             * Format: int32
             * @description Days until the credits expire; left out: never.
             */
            creditsExpireAfterDays?: number | null;
            /**
             * Format: int64
             * @description For a subscription tier: each cycle.
             */
            creditsGranted: number;
            /** @description The product whose balance it fills, where that is not its own. */
            creditsProductId?: string | null;
            /** @description ISO 4217, upper case. */
            currency: string;
            /** @description Features that it unlocks. */
            features: string[];
            /** @description `price_…` */
            id: string;
            /**
             * @description `one_time`, `month` or `year`
             * @example one_time
             */
            interval: "one_time" | "month" | "year" | (string & {});
            /** @description The tier's name, for a subscription. */
            label?: string | null;
            /** @description Whether a cycle's unused credits stay. */
            rollover?: boolean;
            /**
             * Format: int64
             * @description Credits for those days; left out without them.
             */
            trialCredits?: number | null;
            /**
             * Format: int32
             * @description Days for which a subscription is free at first; left out: none.
             */
            trialDays?: number | null;
        };
        /** @example price_01jd3v8q6pf6r9x3v1m2k4c5d7 */
        PriceId: string;
        /** @description A product with its active prices. */
        Product: {
            /** @description What its credits are called; null when it holds none. */
            creditUnit?: string | null;
            description?: string | null;
            freeGrant?: components["schemas"]["FreeGrant"] | null;
            /** @description `prod_…` */
            id: string;
            name: string;
            prices: components["schemas"]["Price"][];
            /**
             * @description `credits`, `subscription` or `one_time`
             * @example credits
             */
            type: "credits" | "subscription" | "one_time" | (string & {});
        };
        /** @example prod_01jd3v8q6pf6r9x3v1m2k4c5d7 */
        ProductId: string;
        /** @description What the project offers. */
        Products: {
            /** @description Active products, in the order in which they were made. */
            products: components["schemas"]["Product"][];
        };
        /** @enum {string} */
        Reason: "purchase" | "deduction" | "free_grant" | "manual" | "refund" | "expiry" | (string & {});
        /** @description Who wants their codes. */
        Recover: {
            /** @description The address that was given when paying. */
            email: components["schemas"]["Email"];
        };
        /**
         * @description The recovery code of a wallet, in any case.
         * @example OLIVE-7K2M-9QXP-4TBD
         */
        RecoveryCode: string;
        /**
         * Format: uri
         * @description An absolute address. With a publishable key `https`, or `http` on loopback, and of an origin that the project allows where it lists any; with a secret key `https` or `http`.
         * @example https://shop.example/thanks
         */
        RedirectUrl: string;
        /** @description What is to go back. */
        RefundOrder: {
            amountCents?: components["schemas"]["WholeFrom1To9007199254740991"] | null;
            /** @description Names the operation: it is done once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
        };
        /** @description The balance with what was given back. */
        Released: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
        };
        /** @description Which subscription. The wallet is named by exactly one of `externalUserId` and `code`. */
        ResumeSubscription: {
            /** @description Names the operation: it is done once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            /** @description To which product. */
            productId: components["schemas"]["ProductId"];
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description What a rotation may be given. */
        RotateCode: {
            idempotencyKey?: components["schemas"]["IdempotencyKey"] | null;
        };
        /** @description The code that opens the wallet from now on. */
        Rotated: {
            /**
             * @description The new recovery code.
             * @example OLIVE-7K2M-9QXP-4TBD
             */
            code: string;
        };
        /**
         * @description A feature to unlock. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
         *     created by a grant if there is none.
         */
        SetFeature: {
            action?: components["schemas"]["FeatureAction"] | null;
            /** @description Its slug. */
            feature: components["schemas"]["FeatureSlug"];
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description What the work cost. */
        SettleHold: {
            /**
             * @description Credits to deduct. Less than was held returns the rest; more takes the surplus from the
             *     balance.
             */
            amount: components["schemas"]["Whole"];
        };
        /** @description A subscription of a wallet. */
        Subscription: {
            /** @description Whether it ends with the cycle that is paid; left out when it does not. */
            cancelAtPeriodEnd?: boolean;
            currentPeriodEnd: components["schemas"]["Instant"];
            /** @description The tier's name. */
            label?: string | null;
            priceId: string;
            productId: string;
            /**
             * @description `active`, `past_due` or `paused`; `canceled` only where it was asked for by itself
             * @example active
             */
            status: "active" | "past_due" | "paused" | (string & {});
        };
        /** @description What was granted and used. */
        Usage: {
            /** @description Oldest first, without gaps; at most 1,000. */
            buckets: components["schemas"]["Bucket"][];
        };
        /** @description Of all others'. What does not belong to an event's kind is left out. */
        WalletData: {
            /** @description What it did not unlock before. */
            added?: string[] | null;
            /**
             * Format: int64
             * @description Credits that could be spent then, of the same.
             */
            balance?: number | null;
            /**
             * Format: int64
             * @description Credits that came, of `wallet.credited`.
             */
            delta?: number | null;
            /** @description The caller's own user, of an external wallet; else null. */
            externalUserId?: string | null;
            /** @description What the wallet unlocks now, of `features.changed`. */
            features?: string[] | null;
            /** @description The order behind them. */
            orderId?: string | null;
            /** @description Whose credits, of `wallet.credited`, `wallet.balance_low` and `wallet.depleted`. */
            productId?: string | null;
            reason?: components["schemas"]["Reason"] | null;
            /** @description What it does not unlock any more. */
            removed?: string[] | null;
            subscription?: components["schemas"]["Subscription"] | null;
            /** @description `wal_…` */
            walletId: string;
        };
        /** Format: int64 */
        Whole: number;
        /** Format: int64 */
        WholeFrom1To1000: number;
        /** Format: int64 */
        WholeFrom1To9007199254740991: number;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description `true` when an earlier request with the same key did the work. */
        "Idempotency-Replayed": string;
        /** @description Requests that the limit allows at once. On a 429 these headers describe the limit that refused. */
        "RateLimit-Limit": number;
        /** @description How many of them are left. */
        "RateLimit-Remaining": number;
        /** @description Whole seconds until all of them are there again. */
        "RateLimit-Reset": number;
        /** @description Whole seconds until it is worth trying again, at least 1. */
        "Retry-After": number;
        /** @description `Bearer` */
        "WWW-Authenticate": string;
        /** @description Names the request, here and in the server's logs: `req_…` */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    checkout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Checkout"];
            };
        };
        responses: {
            /** @description A checkout that waits for its buyer */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckoutResult"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `conflicting_wallet`: Name the wallet by either code or externalUserId.
             *
             *     `invalid_discount_code`: This discount code is not valid.
             */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `secret_key_required`: This needs a secret key.
             *
             *     `redirect_not_allowed`: This project does not allow this address to return to.
             *
             *     `anonymous_wallets_disabled`: This project has no anonymous wallets.
             */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `price_not_found`: No such price.
             */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `already_subscribed`: This wallet is already subscribed to the product.
             *
             *     `provider_not_configured`: This project has no payment provider.
             *
             *     `too_many_pending_orders`: Too many orders of this wallet are pending. Pay one, or let them expire.
             *
             *     `currency_mismatch`: This wallet's subscriptions are charged in another currency.
             */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             *
             *     `wallet_creation_limit`: Too many new wallets. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `provider_error`: The payment provider did not do it. Nothing was sold; try again. */
            502: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    credit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credit"];
            };
        };
        responses: {
            /** @description Done, now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credited"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `conflicting_wallet`: Name the wallet by either code or externalUserId.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount.
             *
             *     `balance_limit`: The balance would pass 9007199254740991 credits.
             *
             *     `too_many_lots`: This wallet has too many grants of this product that expire at different times.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deduct_batch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeductBatch"];
            };
        };
        responses: {
            /** @description What came of each */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeductBatchResults"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `conflicting_wallet`: Name the wallet by either code or externalUserId.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_events: {
        parameters: {
            query?: {
                /**
                 * @description Only those after this one: a `nextCursor`, or an event's identifier. Without it, from the oldest
                 *     that is kept.
                 */
                after?: string;
                /** @description Events on a page. */
                limit?: number;
                /** @description Only these kinds. */
                types?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Events"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `event_not_found`: No such event. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    set_feature: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetFeature"];
            };
        };
        responses: {
            /** @description All features of the wallet */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Features"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `conflicting_wallet`: Name the wallet by either code or externalUserId.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `wallet_not_found`: No such wallet. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_hold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `hold_…` */
                holdId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The hold */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `hold_not_found`: No such hold. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    extend_hold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `hold_…` */
                holdId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtendHold"];
            };
        };
        responses: {
            /** @description The hold */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `hold_not_found`: No such hold. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `hold_closed`: This hold is already closed with another outcome. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    release_hold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `hold_…` */
                holdId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Released, now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Released"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `hold_not_found`: No such hold. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `hold_closed`: This hold is already closed with another outcome. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    settle_hold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `hold_…` */
                holdId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettleHold"];
            };
        };
        responses: {
            /** @description Settled, now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deducted"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_credits`: Not enough credits. */
            402: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `hold_not_found`: No such hold. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `hold_closed`: This hold is already closed with another outcome. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key's project */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Identity"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: Too many requests. Slow down. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list_orders: {
        parameters: {
            query?: {
                /** @description A page's `nextCursor`. */
                cursor?: string;
                /** @description Orders on a page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Orders"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_order: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `ord_…` or `cs_…` */
                orderIdOrCheckoutId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `order_not_found`: No such order. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    refund_order: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `ord_…` or `cs_…` */
                orderIdOrCheckoutId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefundOrder"];
            };
        };
        responses: {
            /** @description The order, refunded now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `order_not_found`: No such order. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount.
             *
             *     `already_refunded`: That much is not left of this order.
             *
             *     `provider_not_configured`: This project has no payment provider.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `provider_error`: The payment provider did not do it. Nothing was sold; try again. */
            502: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    products: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project's offer */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Products"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: Too many requests. Slow down. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    cancel_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelSubscription"];
            };
        };
        responses: {
            /** @description The subscription, canceled now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `conflicting_wallet`: Name the wallet by either code or externalUserId.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             *
             *     `subscription_not_found`: No such subscription.
             */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount.
             *
             *     `provider_not_configured`: This project has no payment provider.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `provider_error`: The payment provider did not do it. Nothing was sold; try again. */
            502: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resume_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResumeSubscription"];
            };
        };
        responses: {
            /** @description The subscription, resumed now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `conflicting_wallet`: Name the wallet by either code or externalUserId.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             *
             *     `subscription_not_found`: No such subscription.
             */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount.
             *
             *     `provider_not_configured`: This project has no payment provider.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `provider_error`: The payment provider did not do it. Nothing was sold; try again. */
            502: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_usage: {
        parameters: {
            query?: {
                /** @description From then on; 30 intervals before `to` when left out. Cut to the interval. */
                from?: string;
                /** @description Adds what was used by `meta.feature`. */
                groupBy?: "feature";
                /** @description `day` when left out. Hours are kept for 90 days, days for three years, months for good. */
                interval?: "hour" | "day" | "month";
                /** @description The product; may be left out where the project has exactly one that holds credits. */
                productId?: string;
                /** @description Until then; now, with the interval under way, when left out. Cut to the interval. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `product_required`: Name the product: this project does not have exactly one that holds credits.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `product_not_found`: No such product. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    create_wallet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new, empty wallet */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CodeWallet"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `anonymous_wallets_disabled`: This project has no anonymous wallets. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `wallet_creation_limit`: Too many new wallets. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_wallet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The wallet */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CodeWallet"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `wallet_not_found`: No such wallet. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeductByCode"];
            };
        };
        responses: {
            /** @description Done, now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deducted"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_credits`: Not enough credits. */
            402: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    place_hold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaceHold"];
            };
        };
        responses: {
            /** @description The hold */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlacedHold"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `product_required`: Name the product: this project does not have exactly one that holds credits.
             */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_credits`: Not enough credits. */
            402: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount.
             *
             *     `too_many_holds`: Too many holds of this wallet are open.
             */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_ledger: {
        parameters: {
            query?: {
                /** @description A page's `nextCursor`. */
                cursor?: string;
                /** @description Entries on a page. */
                limit?: number;
                /** @description Only this product's entries. */
                productId?: string;
                /** @description Only entries with this reason. */
                reason?: "purchase" | "deduction" | "free_grant" | "manual" | "refund" | "expiry";
            };
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ledger"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    open_portal: {
        parameters: {
            query: {
                /** @description Where the portal leads back to. */
                returnUrl: string;
            };
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The portal */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Portal"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `redirect_not_allowed`: This project does not allow this address to return to. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `wallet_not_found`: No such wallet. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `no_purchase`: This wallet has no completed purchase.
             *
             *     `provider_not_configured`: This project has no payment provider.
             */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `provider_error`: The payment provider did not do it. Nothing was sold; try again. */
            502: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rotate_code: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateCode"] | null;
            };
        };
        responses: {
            /** @description The new code */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rotated"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `wallet_not_found`: No such wallet. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limited`: Too many requests. Slow down.
             *
             *     `too_many_invalid_codes`: Too many invalid recovery codes. Try again later.
             */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_external_wallet: {
        parameters: {
            query: {
                externalUserId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The wallet */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalWallet"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `wallet_not_found`: No such wallet. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    open_external_wallet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenExternalWallet"];
            };
        };
        responses: {
            /** @description The wallet */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalWallet"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deduct_external: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeductExternal"];
            };
        };
        responses: {
            /** @description Done, now or before */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deducted"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `product_required`: Name the product: this project does not have exactly one that holds credits.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_credits`: Not enough credits. */
            402: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    place_external_hold: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaceHoldExternal"];
            };
        };
        responses: {
            /** @description The hold */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlacedHold"];
                };
            };
            /**
             * @description `invalid_request`: The request is not valid.
             *
             *     `product_required`: Name the product: this project does not have exactly one that holds credits.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `insufficient_credits`: Not enough credits. */
            402: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `idempotency_key_reused`: This idempotency key was used before with another product, order or amount.
             *
             *     `too_many_holds`: Too many holds of this wallet are open.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    read_external_ledger: {
        parameters: {
            query: {
                /** @description A page's `nextCursor`. */
                cursor?: string;
                externalUserId: string;
                /** @description Entries on a page. */
                limit?: number;
                /** @description Only this product's entries. */
                productId?: string;
                /** @description Only entries with this reason. */
                reason?: "purchase" | "deduction" | "free_grant" | "manual" | "refund" | "expiry";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ledger"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `wallet_not_found`: No such wallet.
             *
             *     `product_not_found`: No such product.
             */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    open_external_portal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenPortalExternal"];
            };
        };
        responses: {
            /** @description The portal */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Portal"];
                };
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret_key_required`: This needs a secret key. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `wallet_not_found`: No such wallet. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `no_purchase`: This wallet has no completed purchase.
             *
             *     `provider_not_configured`: This project has no payment provider.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `provider_error`: The payment provider did not do it. Nothing was sold; try again. */
            502: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    recover: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Recover"];
            };
        };
        responses: {
            /** @description Whatever was found was mailed */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request`: The request is not valid. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: Send an API key: Authorization: Bearer <key>.
             *
             *     `invalid_api_key`: This API key is not valid.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: Too many requests. Slow down. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: Something went wrong on our side. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `overloaded`: Too busy right now. Nothing was done; try again.
             *
             *     `unavailable`: Not available right now. It may or may not have been done; try again with the same key.
             */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}

/** The codes with which the service refuses. */
export type ServiceErrorCode =
    | "already_refunded"
    | "already_subscribed"
    | "anonymous_wallets_disabled"
    | "balance_limit"
    | "body_too_large"
    | "conflicting_wallet"
    | "currency_mismatch"
    | "event_not_found"
    | "hold_closed"
    | "hold_not_found"
    | "idempotency_key_reused"
    | "insufficient_credits"
    | "internal_error"
    | "invalid_api_key"
    | "invalid_discount_code"
    | "invalid_request"
    | "missing_api_key"
    | "no_purchase"
    | "order_not_found"
    | "overloaded"
    | "price_not_found"
    | "product_not_found"
    | "product_required"
    | "provider_error"
    | "provider_not_configured"
    | "rate_limited"
    | "redirect_not_allowed"
    | "secret_key_required"
    | "subscription_not_found"
    | "too_many_holds"
    | "too_many_invalid_codes"
    | "too_many_lots"
    | "too_many_pending_orders"
    | "unavailable"
    | "unsupported_media_type"
    | "wallet_creation_limit"
    | "wallet_not_found";
