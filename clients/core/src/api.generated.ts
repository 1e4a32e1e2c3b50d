// Made by core/generate.mjs from docs/openapi/api.json: do not change it by hand.

export interface components {
    schemas: {
        /** Format: int64 */
        Amount: number;
        /** @description A wallet's automatic top-up. */
        AutoTopUp: {
            /** @description The page on which the buyer pays what the bank wants them for; with `action_required`. */
            actionUrl?: string | null;
            /**
             * Format: int64
             * @description The attempts of this day, failed ones included.
             */
            attemptsToday: number;
            /**
             * Format: int64
             * @description What attempts of this month charged or may yet charge.
             */
            chargedThisMonthCents: number;
            consent: components["schemas"]["Consent"] | null;
            /** @description The currency of what is charged. */
            currency: string | null;
            /** @description Whether it is switched on. */
            enabled: boolean;
            /**
             * Format: int32
             * @description The most attempts in a day (UTC).
             */
            maxPerDay: number | null;
            /**
             * Format: int64
             * @description The most that is charged in a month (UTC), in the currency's minor unit.
             */
            monthlyLimitCents: number | null;
            nextAttemptAt: components["schemas"]["Instant"] | null;
            /** @description What is bought; null where it is off, as are the others. */
            priceId: string | null;
            /**
             * Format: int32
             * @description How many of the price are bought; left out with `target`.
             */
            quantity?: number | null;
            /**
             * @description Why it is suspended (`declined`, `card_unusable`, `disputed`, `price_changed`, `card_missing`,
             *     `action_required`), or which ceiling an attempt waits for (`monthly_limit`, `daily_limit`).
             */
            reason: string | null;
            /**
             * @description `armed`, `charging`, `cooling_down`, `action_required`, `suspended` or `off`.
             * @example armed
             */
            state: "armed" | "charging" | "cooling_down" | "action_required" | "suspended" | "off" | (string & {});
            /**
             * Format: int64
             * @description As many of the price are bought as bring what can be spent to this; left out where `quantity` are bought.
             */
            target?: number | null;
            /**
             * Format: int64
             * @description The card is charged when fewer credits than these can be spent.
             */
            threshold: number | null;
        };
        /** @description A product's balance in a wallet. */
        Balance: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /** @description What the credits are called. */
            creditUnit?: string | null;
            /**
             * Format: int64
             * @description Credits that open holds set aside; left out when there are none.
             */
            held?: number;
            nextExpiry?: components["schemas"]["NextExpiry"] | null;
            /**
             * Format: int64
             * @description Credits that are owed: new credits pay them first. Left out when there are none.
             */
            owed?: number;
            /** @description The product of the credits. */
            productId: string;
        };
        /** @description The usage of one interval. */
        Bucket: {
            /**
             * Format: int64
             * @description Credits that were used.
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
            /** @description The same by what `groupBy` says, the most used first. */
            groups?: components["schemas"]["UsageGroup"][] | null;
            /**
             * Format: int64
             * @description Credits taken for refunds and disputes, less what was given back.
             */
            refunded: number;
            /** @description Its first instant, UTC. */
            start: components["schemas"]["Instant"];
        };
        /**
         * @description The subscription to cancel. The wallet is named by exactly one of `externalUserId` and `code`; with a session both
         *     may be left out.
         */
        CancelSubscription: {
            /**
             * @description Whether it ends with its period, and can be resumed until then, rather than at once; true when left
             *     out.
             */
            atPeriodEnd?: boolean | null;
            /** @description Names the operation: it is done once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            productId?: components["schemas"]["ProductId"] | null;
            subscriptionId?: components["schemas"]["SubscriptionId"] | null;
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        }) & ({
            productId: components["schemas"]["ProductId"];
        } | {
            subscriptionId: components["schemas"]["SubscriptionId"];
        });
        /** @description A page of the payment provider on which its owner enters a card. */
        CardPage: {
            /** @description Where to send the buyer, soon. */
            url: string;
        };
        Charged: components["schemas"]["DrawnHold"] | components["schemas"]["Deducted"];
        /**
         * @description What to buy, and for whom: the user (with a secret key only; a wallet is made if there is none) or
         *     the code whose wallet to fill. With neither the payment makes an anonymous wallet, and the order
         *     shows its code; with a session it fills the session's own wallet.
         */
        Checkout: {
            /** @description Whether the buyer may enter one of the provider's promotion codes. */
            allowPromotionCodes?: boolean | null;
            cancelUrl?: components["schemas"]["RedirectUrl"] | null;
            customerEmail?: components["schemas"]["Email"] | null;
            discountCode?: components["schemas"]["DiscountCode"] | null;
            idempotencyKey?: components["schemas"]["IdempotencyKey"] | null;
            locale?: components["schemas"]["Locale"] | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description An active price of an active product. */
            priceId: components["schemas"]["PriceId"];
            quantity?: components["schemas"]["WholeFrom1To1000"] | null;
            /**
             * @description Whether the page saves the card for later payments without the buyer, as an automatic top-up makes them. Only for a
             *     user's wallet.
             */
            saveCard?: boolean | null;
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
            /** @description The checkout's identifier: `cs_…` */
            checkoutId: string;
            /** @description The order's identifier: `ord_…` */
            orderId: string;
            /** @description Where to send the buyer. */
            url: string;
        };
        /** @description A wallet that its recovery code opens. */
        CodeWallet: components["schemas"]["Holdings"] & {
            /**
             * @description The recovery code: it alone opens the wallet. A session reads `code`, the word for its wallet's
             *     code in paths.
             * @example OLIVE-7K2M-9QXP-4TBD
             */
            code: string;
        };
        /** @description What a buyer agreed to. */
        Consent: {
            /** @description When the buyer agreed. */
            at: components["schemas"]["Instant"];
            /** @description The text that the buyer saw. */
            text: string;
        };
        ConsentWords: string;
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
            /** @description The product whose credits to grant. */
            productId: components["schemas"]["ProductId"];
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description The items, 1 to 1,000. */
        CreditBatch: {
            items: components["schemas"]["Credit"][];
        };
        /** @description The result of an item: what was done, now or before, or its refusal. */
        CreditBatchResult: components["schemas"]["Credited"] | {
            error: components["schemas"]["Error"];
        };
        /** @description The result of each item, in their order. */
        CreditBatchResults: {
            results: components["schemas"]["CreditBatchResult"][];
        };
        /** @description The result of a grant. */
        Credited: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /** @description Whether this very request granted them; false on a repeat. */
            credited: boolean;
        };
        /** @description What the event is about. The description of its type says which fields there are. */
        Data: components["schemas"]["OrderData"] | components["schemas"]["WalletData"] | components["schemas"]["TopUpData"];
        /** @description A limit of debt for one wallet. */
        DebtLimit: {
            debtLimit: components["schemas"]["Whole"] | null;
            externalUserId: components["schemas"]["ExternalUserId"];
            /** @description The product whose credits may be owed. */
            productId: components["schemas"]["ProductId"];
        };
        /** @description What is owed, and may be. */
        DebtState: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /**
             * Format: int64
             * @description How much more may come to be owed: the limit less what is owed and what open holds reserve.
             */
            creditAvailable: number;
            /**
             * Format: int64
             * @description The limit in force.
             */
            debtLimit: number;
            /**
             * Format: int64
             * @description Credits that are owed.
             */
            owed: number;
        };
        Deduct: ({
            amount?: components["schemas"]["Amount"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            /**
             * @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
             *     except in a batch.
             */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            member?: components["schemas"]["Member"] | null;
            meta?: components["schemas"]["Meta"] | null;
            onShortfall?: components["schemas"]["OnShortfall"] | null;
            productId?: components["schemas"]["ProductId"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /** @description Needed unless `rateCard` is there. */
            amount: components["schemas"]["Amount"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        })) & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description The items, 1 to 1,000. */
        DeductBatch: {
            items: components["schemas"]["Deduct"][];
        };
        /** @description The result of an item: what was done, now or before, or its refusal. */
        DeductBatchResult: components["schemas"]["Deducted"] | {
            error: components["schemas"]["Error"];
        };
        /** @description The result of each item, in their order. */
        DeductBatchResults: {
            results: components["schemas"]["DeductBatchResult"][];
        };
        /** @description Credits to use up: an amount, or what a rate card prices. */
        DeductByCode: {
            amount?: components["schemas"]["Amount"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            /**
             * @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
             *     except in a batch.
             */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            member?: components["schemas"]["Member"] | null;
            meta?: components["schemas"]["Meta"] | null;
            onShortfall?: components["schemas"]["OnShortfall"] | null;
            productId?: components["schemas"]["ProductId"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /** @description Needed unless `rateCard` is there. */
            amount: components["schemas"]["Amount"];
            /**
             * @description The product whose credits to use; may be left out where the project has exactly one product
             *     that holds credits, and with a rate card.
             */
            productId: components["schemas"]["ProductId"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        });
        /**
         * @description The result of a deduction or of settling a hold. `charged`, `owed` and `uncovered` are there where the request said what to do
         *     with a shortfall, and where there was one.
         */
        Deducted: {
            /**
             * Format: int64
             * @description What a rate card charged, in whole credits; with a `rateCard`, as are the next two.
             */
            amount?: number | null;
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /**
             * Format: int64
             * @description Credits that were charged, those drawn from the hold before included. With the next two it adds up to the
             *     amount.
             */
            charged?: number | null;
            /**
             * @description The exact cost, as a decimal number of credits.
             * @example 0.4122
             */
            cost?: string | null;
            /** @description Whether this very request took credits; false on a repeat. */
            deducted: boolean;
            /** @description Whether the hold had expired, and this was done as a deduction under its key; left out where it had not. */
            late?: boolean;
            /**
             * Format: int64
             * @description Credits that are owed for it: what it added to the debt.
             */
            owed?: number | null;
            /**
             * Format: int32
             * @description The version of the card that priced it.
             */
            rateVersion?: number | null;
            /**
             * Format: int64
             * @description Credits that could neither be charged nor owed.
             */
            uncovered?: number | null;
            /**
             * @description Counts in `usage` that this server does not know, and so did not price; left out where there were none. The
             *     entry's `meta` names them, too.
             */
            unpricedUsage?: string[];
        };
        /** @description Credits to use up: an amount, or what a rate card prices. */
        DeductExternal: {
            amount?: components["schemas"]["Amount"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            externalUserId: components["schemas"]["ExternalUserId"];
            /**
             * @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
             *     except in a batch.
             */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            member?: components["schemas"]["Member"] | null;
            meta?: components["schemas"]["Meta"] | null;
            onShortfall?: components["schemas"]["OnShortfall"] | null;
            productId?: components["schemas"]["ProductId"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /** @description Needed unless `rateCard` is there. */
            amount: components["schemas"]["Amount"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        });
        DiscountCode: string;
        /** @description A buyer's bank asks for an order's money back, or asks what the payment was for. */
        Dispute: {
            /**
             * Format: int64
             * @description The disputed amount, in the minor unit of its own currency.
             */
            amountCents: number;
            /** @description The currency as in ISO 4217, upper case. */
            currency: string;
            /** @description Whether it is only an inquiry, for which the bank takes nothing. */
            inquiry: boolean;
            /**
             * @description The reason, in the provider's word.
             * @example fraudulent
             */
            reason: string;
            respondBy: components["schemas"]["Instant"] | null;
            /** @description Once it is closed: whether the money is back, or was never taken. */
            won?: boolean | null;
        };
        /** @description What to charge: an amount, or what a rate card prices. */
        DrawHold: {
            amount?: components["schemas"]["Amount"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            /**
             * @description Names the operation: it is applied once, whichever of the wallet's holds it is for. The header
             *     `Idempotency-Key` may stand in for it.
             */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            meta?: components["schemas"]["Meta"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /** @description Credits that the work cost since the last draw. Needed unless `rateCard` is there. */
            amount: components["schemas"]["Amount"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        });
        /** @description What a draw left of its hold. */
        DrawnHold: {
            /**
             * Format: int64
             * @description What a rate card charged, in whole credits; with a `rateCard`, as are the next two.
             */
            amount?: number | null;
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /** @description The exact cost, as a decimal number of credits. */
            cost?: string | null;
            /** @description Whether this very request charged credits; false on a repeat. */
            deducted: boolean;
            /**
             * Format: int64
             * @description Credits drawn from the hold so far.
             */
            drawn: number;
            /**
             * Format: int64
             * @description Credits that the hold still sets aside.
             */
            held: number;
            /**
             * Format: int32
             * @description The version of the card that priced it.
             */
            rateVersion?: number | null;
        };
        /** @example ann@mail.example */
        Email: string;
        /** @description The body of every refusal. */
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
             * Format: int64
             * @description How much more may come to be owed, where that is what `maxOverrun` asks too much of.
             */
            creditAvailable?: number | null;
            /**
             * @description The currency in which the wallet's subscriptions are charged; with `currency_mismatch`,
             *     where it is known.
             * @example EUR
             */
            currency?: string | null;
            /**
             * @description Where this server explains the code, and what to do about it; relative to its address.
             * @example /docs/errors#invalid_request
             */
            docs?: string | null;
            limit?: components["schemas"]["LimitState"] | null;
            /** @description What went wrong, as a person reads it: one plain sentence. */
            message: string;
            openInvoice?: components["schemas"]["OpenInvoice"] | null;
            /**
             * @description The one input at fault, as a path.
             * @example items[3].amount
             */
            param?: string | null;
            /**
             * @description What the restricted key would need; with `permission_missing`.
             * @example refund
             */
            permission?: string | null;
            /** @description Active prices that would cover the shortfall. */
            prices?: components["schemas"]["Price"][] | null;
            /** @description The product whose balance fell short. */
            productId?: string | null;
            /** @description Why the wallet is frozen; with `wallet_frozen`, if a reason was given. */
            reason?: string | null;
            /**
             * Format: int64
             * @description What can still be refunded, in the currency's minor unit; with `already_refunded`.
             */
            refundableCents?: number | null;
            /**
             * Format: int64
             * @description Credits that were asked for.
             */
            requested?: number | null;
            /**
             * @description The request's identifier, also in `X-Request-Id`. Not in the items of a batch.
             * @example req_01jd3v8q6pf6r9x3v1m2k4c5d7
             */
            requestId?: string | null;
            /**
             * Format: int64
             * @description Credits of the deduction that can still be given back; with `already_reversed`.
             */
            reversible?: number | null;
            /**
             * Format: int64
             * @description Credits that are missing for the request.
             */
            shortfall?: number | null;
        };
        /** @description What a use would cost. Nothing is charged. */
        Estimate: {
            /** @description Whether they cover the amount. */
            affordable?: boolean | null;
            /**
             * Format: int64
             * @description In whole credits, rounded up.
             */
            amount: number;
            /**
             * Format: int64
             * @description Credits of the wallet that can be spent now, if one is named.
             */
            balance?: number | null;
            /** @description Exactly, as a decimal number of credits. */
            cost: string;
            /** @description What each unit contributes. */
            lines: components["schemas"]["EstimateLine"][];
            /**
             * Format: int32
             * @description The version of the card.
             */
            rateVersion: number;
        };
        /** @description What one unit contributes to a cost. */
        EstimateLine: {
            /** @description Exactly, as a decimal number of credits. */
            cost: string;
            /**
             * Format: int64
             * @description What the price is for.
             */
            per: number;
            /**
             * Format: int64
             * @description How much of it.
             */
            quantity: number;
            /** @description The unit's name. */
            unit: string;
            /** @description Credits of `per` units. */
            unitPrice: string;
        };
        EstimateRequest: ({
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage: {
                [key: string]: unknown;
            } | null;
            /** @description Which provider's `usage` it is. */
            usageFormat: components["schemas"]["UsageFormat"];
        })) & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        } | {
            code?: null;
            externalUserId?: null;
        });
        /** @description Something that happened. Its content was fixed then: it is the same whenever and however it is read. */
        Event: {
            /** @description What it says, by its type. */
            data: components["schemas"]["Data"];
            /** @description The event's identifier: `evt_…`. It is the same in every delivery; a webhook has it in a header. */
            id: string;
            /**
             * @description When it was recorded, by the server's clock: events are in this order, and kept for 30 days from then.
             *     Much later than `timestamp` where a wallet was not touched for long, and its credits expired in that time,
             *     say.
             */
            recordedAt: components["schemas"]["Instant"];
            /** @description When it happened, by the project's clock. */
            timestamp: components["schemas"]["Instant"];
            type: components["schemas"]["EventType"];
        } & (components["schemas"]["OrderPaid"] | components["schemas"]["OrderFailed"] | components["schemas"]["OrderExpired"] | components["schemas"]["OrderRefunded"] | components["schemas"]["OrderDisputed"] | components["schemas"]["OrderDisputeClosed"] | components["schemas"]["SubscriptionStarted"] | components["schemas"]["SubscriptionRenewed"] | components["schemas"]["SubscriptionUpdated"] | components["schemas"]["SubscriptionPastDue"] | components["schemas"]["SubscriptionCanceled"] | components["schemas"]["WalletCreated"] | components["schemas"]["WalletCredited"] | components["schemas"]["WalletBalanceLow"] | components["schemas"]["WalletDepleted"] | components["schemas"]["WalletOwing"] | components["schemas"]["WalletRepaid"] | components["schemas"]["WalletFrozen"] | components["schemas"]["WalletThawed"] | components["schemas"]["LimitAlert"] | components["schemas"]["LimitReached"] | components["schemas"]["FeaturesChanged"] | components["schemas"]["TopUpSucceeded"] | components["schemas"]["TopUpFailed"] | components["schemas"]["TopUpSuspended"] | components["schemas"]["TopUpActionRequired"]);
        /** @description Events, oldest first. */
        Events: {
            events: components["schemas"]["Event"][];
            /** @description Pass as `after` for what comes next: the last event's identifier, or `after` as it was given. */
            nextCursor?: string | null;
        };
        /**
         * @description The type of an event. A later release may have more.
         * @example order.paid
         * @enum {string}
         */
        EventType: "order.paid" | "order.failed" | "order.expired" | "order.refunded" | "order.disputed" | "order.dispute_closed" | "subscription.started" | "subscription.renewed" | "subscription.updated" | "subscription.past_due" | "subscription.canceled" | "wallet.created" | "wallet.credited" | "wallet.balance_low" | "wallet.depleted" | "wallet.owing" | "wallet.repaid" | "wallet.frozen" | "wallet.thawed" | "limit.alert" | "limit.reached" | "features.changed" | "top_up.succeeded" | "top_up.failed" | "top_up.suspended" | "top_up.action_required" | (string & {});
        /** @description How long a hold lasts from now. */
        ExtendHold: {
            /** @description Seconds from now until the credits come back by themselves. */
            expiresInSeconds: components["schemas"]["HoldSeconds"];
        };
        /**
         * @description The caller's own user id, compared exactly.
         * @example user_42
         */
        ExternalUserId: string;
        /** @description A wallet of a user of the caller's. */
        ExternalWallet: components["schemas"]["Holdings"] & {
            /** @description The address that was set for mails about the wallet; left out where there is none. */
            email?: string | null;
            /** @description The caller's own id of the user. */
            externalUserId: string;
            paymentMethod?: components["schemas"]["PaymentMethod"] | null;
            /** @description The wallet's identifier: `wal_…` */
            walletId: string;
        };
        /** @description Credits used for one feature. */
        Feature: {
            /**
             * Format: int64
             * @description Credits that were used for it.
             */
            credits: number;
            /**
             * Format: int64
             * @description How often credits were used for it.
             */
            deductions: number;
            /** @description `meta.feature`; null where there was none. At most 200 are kept apart, the rest is `other`. */
            feature?: string | null;
        };
        /** @enum {string} */
        FeatureAction: "grant" | "revoke";
        /** @description The features that the wallet unlocks. */
        Features: {
            /** @description All features, sorted. */
            features: string[];
        };
        /** @description What `features.changed` says. */
        FeaturesChanged: {
            data: components["schemas"]["WalletData"] & {
                /** @description Features that it did not unlock before. */
                added: string[];
                /** @description Features that it does not unlock any more. */
                removed: string[];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "features.changed" | (string & {});
        };
        /** @example history */
        FeatureSlug: string;
        /** @description A debt to forgive. */
        ForgiveDebt: {
            amount?: components["schemas"]["Amount"] | null;
            externalUserId: components["schemas"]["ExternalUserId"];
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            /** @description Why it is forgiven: the ledger entry's `meta` has it as `note`. */
            note: components["schemas"]["Note"];
            /** @description The product whose credits are owed. */
            productId: components["schemas"]["ProductId"];
        };
        /** @description The debt afterwards. */
        Forgiven: {
            /**
             * Format: int64
             * @description Credits that were forgiven, at most what was owed; on a repeat, those of the first request.
             */
            amount: number;
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /**
             * @description Whether this very request forgave them; false on a repeat, and where nothing was owed: then the key is not used
             *     up.
             */
            forgiven: boolean;
            /**
             * Format: int64
             * @description Credits that are still owed.
             */
            owed: number;
        };
        /** @description Credits that are granted for free. */
        FreeGrant: {
            /**
             * Format: int64
             * @description Credits of each grant.
             */
            credits: number;
            /**
             * @description `once`, `daily`, `weekly`, `monthly` or `yearly`
             * @example monthly
             */
            period: "once" | "daily" | "weekly" | "monthly" | "yearly" | (string & {});
        };
        /** @description Whether a wallet is to be frozen. It is named by exactly one of `externalUserId`, `code` and `walletId`. */
        FreezeWallet: {
            /** @description True freezes the wallet, false lets it be used again. */
            frozen: boolean;
            reason?: components["schemas"]["Note"] | null;
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
            walletId?: null;
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
            walletId?: null;
        } | {
            code?: null;
            externalUserId?: null;
            walletId: components["schemas"]["WalletId"];
        });
        /** @description Whether a wallet is frozen now. */
        FrozenWallet: {
            /** @description Whether it is frozen. */
            frozen: boolean;
            frozenAt?: components["schemas"]["Instant"] | null;
            /** @description Why it is frozen, where that was said. */
            frozenReason?: string | null;
            /** @description The wallet's identifier: `wal_…` */
            walletId: string;
        };
        /** @description A hold with its status. */
        Hold: {
            /**
             * Format: int64
             * @description Credits set aside when it was placed.
             */
            amount: number;
            /**
             * Format: int64
             * @description Credits that were drawn from it while it was open: they stay charged however it ends. Left out when there are
             *     none.
             */
            drawn?: number;
            /** @description When it expires and its credits come back, or when it expired. */
            expiresAt: components["schemas"]["Instant"];
            /** @description The hold's identifier: `hold_…` */
            holdId: string;
            /**
             * Format: int64
             * @description How much the work may come to owe; left out when nothing.
             */
            maxOverrun?: number;
            /**
             * Format: int64
             * @description What of the settlement is owed; left out when nothing.
             */
            owed?: number;
            /** @description The product of the credits. */
            productId: string;
            /**
             * Format: int64
             * @description Credits deducted when it was settled, those that are owed and those that were drawn included; else 0.
             */
            settledAmount: number;
            /**
             * @description `open`, `settled`, `released` or `expired`
             * @example open
             */
            status: "open" | "settled" | "released" | "expired" | (string & {});
            /**
             * Format: int64
             * @description What of the cost the settlement could not take; left out when nothing.
             */
            uncovered?: number;
        };
        /** @description The items, 1 to 1,000. */
        HoldBatch: {
            items: components["schemas"]["HoldItem"][];
        };
        /** @description The result of an item: what was done, now or before, or its refusal. */
        HoldBatchResult: components["schemas"]["PlacedHold"] | {
            error: components["schemas"]["Error"];
        };
        /** @description The result of each item, in their order. */
        HoldBatchResults: {
            results: components["schemas"]["HoldBatchResult"][];
        };
        /** @example hold_01m7xe18r9e3vaq5p5ptpf7vy93vzm0mhp285meja3m4nsrvcqtj */
        HoldId: string;
        /** @description What a wallet holds. */
        Holdings: {
            /** @description Balances, one for each product. */
            balances: components["schemas"]["Balance"][];
            /** @description Features that the wallet unlocked. */
            features: string[];
            /** @description Whether the wallet is frozen: its credits cannot be used for now. Left out where it is not. */
            frozen?: boolean;
            frozenAt?: components["schemas"]["Instant"] | null;
            /** @description Why it is frozen, if a reason was given; to secret keys only. */
            frozenReason?: string | null;
            /** @description Active and past-due subscriptions. */
            subscriptions: components["schemas"]["Subscription"][];
        };
        HoldItem: ({
            amount?: components["schemas"]["Amount"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            expiresInSeconds?: components["schemas"]["HoldSeconds"] | null;
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            maxOverrun?: components["schemas"]["Whole"] | null;
            member?: components["schemas"]["Member"] | null;
            meta?: components["schemas"]["Meta"] | null;
            productId?: components["schemas"]["ProductId"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /** @description Needed unless `rateCard` is there. */
            amount: components["schemas"]["Amount"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        })) & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** Format: int64 */
        HoldSeconds: number;
        /**
         * @description Names one logical operation, compared exactly.
         * @example order-7-refill
         */
        IdempotencyKey: string;
        /** @description Whose key or session it is. */
        Identity: {
            /** @description What a restricted key may do; left out for all others. */
            can?: string[] | null;
            /** @description The key's identifier: `key_…`; left out for a session. */
            keyId?: string | null;
            /**
             * @description `publishable`, `secret`, `restricted` or `session`
             * @example publishable
             */
            keyKind: "publishable" | "secret" | "restricted" | "session" | (string & {});
            /**
             * @description `credit_codes` or `external_users`
             * @example credit_codes
             */
            mode: "credit_codes" | "external_users" | (string & {});
            /** @description The project's name. */
            project: string;
            /** @description The project's identifier: `proj_…` */
            projectId: string;
            session?: components["schemas"]["Session"] | null;
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
        /** @description One change of a balance. An entry never changes. */
        LedgerEntry: {
            /**
             * Format: int64
             * @description The sum of all deltas of this product up to and with this one: credits that can be spent and
             *     those that are held, less those that are owed.
             */
            balanceAfter: number;
            /** @description When the change was made. */
            createdAt: components["schemas"]["Instant"];
            /** @description What the credits are called. */
            creditUnit?: string | null;
            /**
             * Format: int64
             * @description Credits added (positive) or removed (negative).
             */
            delta: number;
            expiresAt?: components["schemas"]["Instant"] | null;
            /** @description The entry's identifier: `led_…` */
            id: string;
            idempotencyKey?: components["schemas"]["IdempotencyKey"] | null;
            /** @description The member who used them, if the request named one. */
            member?: string | null;
            meta?: components["schemas"]["Meta"] | null;
            /** @description The order behind the change. */
            orderId?: string | null;
            /** @description The product of the credits. */
            productId: string;
            rate?: components["schemas"]["RatedUse"] | null;
            /** @description Why: `purchase`, `deduction`, `free_grant`, `manual`, `refund`, `expiry`, `reversal` or `forgiveness`. */
            reason: components["schemas"]["Reason"];
            /** @description The deduction that the credits were taken by, of a reversal by hand: `led_…` */
            reverses?: string | null;
        };
        /** @description How much may be used of a wallet, by whom, for what, in which time. */
        Limit: {
            /** @description At which percentages of the amount to alert. */
            alertsAt?: number[];
            /**
             * Format: int64
             * @description The most that may be used in a window.
             */
            amount: number;
            /** @description The product whose credits count; of all where it is left out. */
            productId?: string | null;
            /**
             * @description Whose use counts together, or for what: `wallet`, `member:alice`, `member:*` (each), `feature:image`,
             *     `feature:*`, `key:key_…`, `key:*`.
             * @example member:*
             */
            scope: string;
            /**
             * @description Where its calendar is.
             * @example UTC
             */
            timeZone?: string;
            /**
             * @description What is counted: `credits` or `operations`.
             * @example credits
             */
            unit?: string;
            /**
             * @description In which time.
             * @example month
             */
            window: string;
        };
        /** @description What `limit.alert` says. */
        LimitAlert: {
            data: components["schemas"]["WalletData"] & {
                /** @description The limit as it was then, with `limit.alert` and `limit.reached`. */
                limit: components["schemas"]["LimitState"];
                /**
                 * Format: int32
                 * @description The percentage of its amount that was passed, with `limit.alert`.
                 */
                percent: number;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "limit.alert" | (string & {});
        };
        /** @description What `limit.reached` says. */
        LimitReached: {
            data: components["schemas"]["WalletData"] & {
                /** @description The limit as it was then, with `limit.alert` and `limit.reached`. */
                limit: components["schemas"]["LimitState"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "limit.reached" | (string & {});
        };
        /** @description A wallet's limits. */
        Limits: {
            /** @description Those in force: its own, those of its subscriptions, those of products. */
            limits: components["schemas"]["LimitState"][];
        };
        /**
         * @description Whose use counts together, or for what.
         * @example wallet
         * @example member:alice
         * @example member:*
         * @example feature:image
         * @example key:*
         */
        LimitScope: string;
        /** @description A limit with what its window counts so far. */
        LimitState: components["schemas"]["Limit"] & {
            /**
             * Format: int64
             * @description What open holds set aside.
             */
            held: number;
            /**
             * Format: int64
             * @description How much more may be used.
             */
            remaining: number;
            resetsAt: components["schemas"]["Instant"] | null;
            /** @description Where it comes from: `wallet`, `subscription` or `product`. */
            source: string;
            /**
             * Format: int64
             * @description What was used in the window. A pattern by itself has none.
             */
            used: number;
            windowStart: components["schemas"]["Instant"] | null;
        };
        /** @enum {string} */
        LimitUnit: "credits" | "operations";
        /** @enum {string} */
        LimitWindow: "hour" | "day" | "week" | "month" | "year" | "lifetime";
        /**
         * @description A language tag (BCP 47) of at most 100 characters, or auto.
         * @example en-US
         */
        Locale: string;
        /**
         * @description One of those who share the wallet, by an id of the caller's own: limits count what each uses.
         * @example user_7
         */
        Member: string;
        /** @description An event as the body of a webhook; its identifier is in a header. */
        Message: {
            /** @description What it says, by its type. */
            data: components["schemas"]["Data"];
            /**
             * @description When it was recorded, by the server's clock: events are in this order, and kept for 30 days from then.
             *     Much later than `timestamp` where a wallet was not touched for long, and its credits expired in that time,
             *     say.
             */
            recordedAt: components["schemas"]["Instant"];
            /** @description When it happened, by the project's clock. */
            timestamp: components["schemas"]["Instant"];
            type: components["schemas"]["EventType"];
        } & (components["schemas"]["OrderPaid"] | components["schemas"]["OrderFailed"] | components["schemas"]["OrderExpired"] | components["schemas"]["OrderRefunded"] | components["schemas"]["OrderDisputed"] | components["schemas"]["OrderDisputeClosed"] | components["schemas"]["SubscriptionStarted"] | components["schemas"]["SubscriptionRenewed"] | components["schemas"]["SubscriptionUpdated"] | components["schemas"]["SubscriptionPastDue"] | components["schemas"]["SubscriptionCanceled"] | components["schemas"]["WalletCreated"] | components["schemas"]["WalletCredited"] | components["schemas"]["WalletBalanceLow"] | components["schemas"]["WalletDepleted"] | components["schemas"]["WalletOwing"] | components["schemas"]["WalletRepaid"] | components["schemas"]["WalletFrozen"] | components["schemas"]["WalletThawed"] | components["schemas"]["LimitAlert"] | components["schemas"]["LimitReached"] | components["schemas"]["FeaturesChanged"] | components["schemas"]["TopUpSucceeded"] | components["schemas"]["TopUpFailed"] | components["schemas"]["TopUpSuspended"] | components["schemas"]["TopUpActionRequired"]);
        /** @description A note of the caller's, kept in the ledger: a JSON object of at most 4 KiB, nested at most 64 deep. */
        Meta: {
            [key: string]: unknown;
        };
        /** @description What the shop wants to remember of the order: up to 20 pairs of texts, of 11 KiB together. */
        Metadata: {
            [key: string]: string;
        };
        /** @description What a buyer agreed to. */
        NewConsent: {
            /** @description The text that the buyer saw, kept as a proof. */
            text: components["schemas"]["ConsentWords"];
        };
        /** @description How much may be used of a wallet, by whom, for what, in which time. */
        NewLimit: {
            /** @description At which percentages of the amount to alert, once a window; at most 5. */
            alertsAt?: components["schemas"]["WholeFrom1To100"][] | null;
            /** @description The most that may be used; 0 for nothing. */
            amount: components["schemas"]["Whole"];
            productId?: components["schemas"]["ProductId"] | null;
            scope: components["schemas"]["LimitScope"];
            timeZone?: components["schemas"]["TimeZoneName"] | null;
            unit?: components["schemas"]["LimitUnit"] | null;
            /** @description In which time; calendar windows of `timeZone`. */
            window: components["schemas"]["LimitWindow"];
        };
        /**
         * @description Whose session, how long, and what for. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
         *     made if there is none.
         */
        NewSession: {
            /** @description What it may do; everything when left out. */
            can?: components["schemas"]["SessionPermission"][] | null;
            expiresInSeconds?: components["schemas"]["HoldSeconds"] | null;
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description Credits that will expire. */
        NextExpiry: {
            /**
             * Format: int64
             * @description How many credits expire.
             */
            amount: number;
            /** @description When they expire. */
            at: components["schemas"]["Instant"];
        };
        Note: string;
        /** @enum {string} */
        OnShortfall: "refuse" | "drain" | "owe";
        /** @description The user whose wallet to get or create. */
        OpenExternalWallet: {
            externalUserId: components["schemas"]["ExternalUserId"];
        };
        /** @description A bill of a subscription that waits for the buyer. */
        OpenInvoice: {
            /**
             * Format: int64
             * @description What is left to pay, in the currency's minor unit.
             */
            amountCents: number;
            /** @description ISO 4217, in capitals. */
            currency: string;
            nextAttemptAt: components["schemas"]["Instant"] | null;
            /** @description The provider's page on which the buyer pays it. */
            url: string;
        };
        /** @description Where a portal leads back to. */
        OpenPortalExternal: {
            externalUserId?: components["schemas"]["ExternalUserId"] | null;
            /** @description The address that the portal leads back to. */
            returnUrl: components["schemas"]["RedirectUrl"];
            subscriptionId?: components["schemas"]["SubscriptionId"] | null;
        };
        /** @description A checkout, a subscription's renewal or its switch to another tier. */
        Order: {
            /**
             * Format: int64
             * @description The price, and once it is paid what was charged; in the currency's minor unit.
             */
            amountCents: number;
            /**
             * Format: int64
             * @description Credits that the wallet can spend now of the product that the order fills.
             */
            balance: number;
            /** @description The provider's checkout session; null for a renewal or a switch. */
            checkoutId?: string | null;
            /**
             * @description The recovery code of the anonymous wallet that it fills. Null for a user's wallet and until the payment has
             *     made the wallet. A publishable key reads it where the payment made the wallet, or the buyer named the code at
             *     the checkout; it reads null once the code was replaced, and from a day after the payment on if it reads the order by
             *     its checkout. A session reads null.
             */
            code?: string | null;
            /** @description When it was placed. */
            createdAt: components["schemas"]["Instant"];
            /** @description ISO 4217, upper case. */
            currency: string;
            /** @description The buyer's e-mail address. Left out for a publishable key. */
            customerEmail?: string | null;
            /** @description The caller's own id of the user; null for an anonymous wallet. */
            externalUserId?: string | null;
            /** @description The order's identifier: `ord_…` */
            id: string;
            /** @description The provider's page about the invoice; null where there is none. */
            invoiceUrl?: string | null;
            /**
             * @description `checkout`, `renewal` or `switch`
             * @example checkout
             */
            kind: "checkout" | "renewal" | "switch" | (string & {});
            /** @description The pairs that the checkout was created with. */
            metadata: {
                [key: string]: string;
            };
            paidAt?: components["schemas"]["Instant"] | null;
            payment?: components["schemas"]["Payment"] | null;
            /** @description The price's identifier. */
            priceId: string;
            /**
             * @description Whether the buyer is done and the money is on its way, as with a bank debit. It may be true of an
             *     order that has expired since: the payment then makes it paid.
             */
            processing: boolean;
            /** @description The product's identifier. */
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
             * @description What was refunded to the buyer, in the currency's minor unit.
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
        /** @description The data of an order's events. */
        OrderData: {
            dispute?: components["schemas"]["Dispute"] | null;
            /** @description The order as it stood then, as a secret key reads it. */
            order: components["schemas"]["Order"];
            /** @description With `order.dispute_closed`: whether the money is back, or was never taken. */
            won?: boolean | null;
        };
        /** @description What `order.dispute_closed` says. */
        OrderDisputeClosed: {
            data: components["schemas"]["OrderData"] & {
                /** @description The dispute, with `order.disputed` and `order.dispute_closed`. */
                dispute: components["schemas"]["Dispute"];
                /** @description With `order.dispute_closed`: whether the money is back, or was never taken. */
                won: boolean;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.dispute_closed" | (string & {});
        };
        /** @description What `order.disputed` says. */
        OrderDisputed: {
            data: components["schemas"]["OrderData"] & {
                /** @description The dispute, with `order.disputed` and `order.dispute_closed`. */
                dispute: components["schemas"]["Dispute"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.disputed" | (string & {});
        };
        /** @description What `order.expired` says. */
        OrderExpired: {
            data: components["schemas"]["OrderData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.expired" | (string & {});
        };
        /** @description What `order.failed` says. */
        OrderFailed: {
            data: components["schemas"]["OrderData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.failed" | (string & {});
        };
        /** @description What `order.paid` says. */
        OrderPaid: {
            data: components["schemas"]["OrderData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.paid" | (string & {});
        };
        /** @description What `order.refunded` says. */
        OrderRefunded: {
            data: components["schemas"]["OrderData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.refunded" | (string & {});
        };
        /** @description A page of a project's orders, newest first. */
        Orders: {
            /** @description Pass as `cursor` for the next page; null on the last one. */
            nextCursor?: string | null;
            orders: components["schemas"]["Order"][];
        };
        /** @description The provider's ids of what belongs to an order. */
        Payment: {
            /** @description The customer's identifier. */
            customerId?: string | null;
            /** @description The invoice's identifier. */
            invoiceId?: string | null;
            /** @description Whether it was real money. */
            livemode: boolean;
            /** @description The payment's identifier. */
            paymentId?: string | null;
            /**
             * @description `sandbox` or `stripe`
             * @example stripe
             */
            provider: "sandbox" | "stripe" | (string & {});
            /** @description The subscription's identifier. */
            subscriptionId?: string | null;
        };
        /** @description A card on file, as far as it is shown. */
        PaymentMethod: {
            /**
             * @description The network of the card.
             * @example visa
             */
            brand: string;
            /**
             * Format: int32
             * @description The last month in which it is valid, 1 to 12.
             */
            expMonth: number;
            /**
             * Format: int32
             * @description The year of that month.
             */
            expYear: number;
            /**
             * @description The last four digits of its number.
             * @example 4242
             */
            last4: string;
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
            /** @description The exact cost by a rate card, as a decimal number of credits; with a `rateCard`, as is the next. */
            cost?: string | null;
            /** @description When it expires and its credits come back. */
            expiresAt: components["schemas"]["Instant"];
            /** @description The hold's identifier: `hold_…` */
            holdId: string;
            /**
             * Format: int32
             * @description The version of the card that priced it, and prices what is drawn and settled.
             */
            rateVersion?: number | null;
            /**
             * @description Whether an earlier request placed it: in the results of a batch, which have no header to say so. Left out
             *     where none did.
             */
            replayed?: boolean;
            /**
             * @description `open`, unless a repeat finds it `settled`, `released` or `expired`
             * @example open
             */
            status: string;
        };
        /** @description Credits to set aside: an amount, or what a rate card prices, rounded up. */
        PlaceHold: {
            amount?: components["schemas"]["Amount"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            expiresInSeconds?: components["schemas"]["HoldSeconds"] | null;
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            maxOverrun?: components["schemas"]["Whole"] | null;
            member?: components["schemas"]["Member"] | null;
            meta?: components["schemas"]["Meta"] | null;
            productId?: components["schemas"]["ProductId"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /** @description Needed unless `rateCard` is there. */
            amount: components["schemas"]["Amount"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        });
        /** @description Credits to set aside: an amount, or what a rate card prices, rounded up. */
        PlaceHoldExternal: {
            amount?: components["schemas"]["Amount"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            expiresInSeconds?: components["schemas"]["HoldSeconds"] | null;
            externalUserId: components["schemas"]["ExternalUserId"];
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            maxOverrun?: components["schemas"]["Whole"] | null;
            member?: components["schemas"]["Member"] | null;
            meta?: components["schemas"]["Meta"] | null;
            productId?: components["schemas"]["ProductId"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /** @description Needed unless `rateCard` is there. */
            amount: components["schemas"]["Amount"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        });
        /** @description A portal for one customer. */
        Portal: {
            /** @description Where to send the customer, soon: the address works for a short time. */
            url: string;
        };
        /** @description A price of a product; of a subscription, a tier. */
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
             * @description Credits that it grants; for a subscription tier, each cycle.
             */
            creditsGranted: number;
            /** @description The product whose balance it fills, where that is not its own. */
            creditsProductId?: string | null;
            /** @description ISO 4217, upper case. */
            currency: string;
            /** @description Features that it unlocks. */
            features: string[];
            /** @description The price's identifier: `price_…` */
            id: string;
            /**
             * @description `one_time`, `month` or `year`
             * @example one_time
             */
            interval: "one_time" | "month" | "year" | (string & {});
            /** @description The tier's name, for a subscription. */
            label?: string | null;
            /** @description Whether a wallet that has bought what it unlocks may buy it again. */
            repeatable?: boolean;
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
        /** @description Prices of a rate above a quantity of one unit. */
        PriceTier: {
            /**
             * Format: int64
             * @description The quantity that has to be passed.
             */
            from: number;
            /** @description The unit; `input` counts cached and written input as well. */
            unit: string;
            /** @description Credits of `per` units. A unit that they leave out keeps its price. */
            unitPrices: {
                [key: string]: string;
            };
        };
        /** @description A product with its active prices. */
        Product: {
            /** @description What its credits are called; null when it holds none. */
            creditUnit?: string | null;
            /** @description A sentence about it. */
            description?: string | null;
            freeGrant?: components["schemas"]["FreeGrant"] | null;
            /** @description The product's identifier: `prod_…` */
            id: string;
            /** @description The product's name. */
            name: string;
            /** @description Its active prices. */
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
        /** @description The limits of one wallet. */
        PutLimits: {
            /** @description All of the wallet's own limits, in place of those that it had; at most 50. */
            limits: components["schemas"]["NewLimit"][];
        };
        /** @description The limits of one wallet. */
        PutLimitsExternal: {
            externalUserId: components["schemas"]["ExternalUserId"];
            /** @description All of the wallet's own limits, in place of those that it had; at most 50. */
            limits: components["schemas"]["NewLimit"][];
        };
        /**
         * @description What units cost for things with some attributes. Of those that match, the one that names most attributes
         *     counts; then the one with most exact ones; then the one whose texts are longest together.
         */
        Rate: {
            /** @description Prices for all that was used where the quantity of a unit passes a bound: the greatest that applies. */
            above?: components["schemas"]["PriceTier"][];
            /** @description Whether it costs nothing, which only this says. */
            free?: boolean;
            /**
             * @description The attributes that it is for, at most 8, each exact or with a `*` at its end; `{}` is for all things.
             * @example {
             *       "model": "claude-sonnet-4*"
             *     }
             */
            match: {
                [key: string]: string;
            };
            /** @description The least credits of a deduction or a whole settlement. */
            minimum?: string | null;
            /**
             * Format: int64
             * @description A power of ten up to 10^9; 1 when left out.
             * @example 1000
             */
            per?: number;
            /**
             * @description Credits of `per` units: decimal numbers with at most nine digits after the point, for 1 to 32 units.
             * @example {
             *       "cachedInput": "0.3",
             *       "input": "3",
             *       "output": "15"
             *     }
             */
            unitPrices?: {
                [key: string]: string;
            };
        };
        /** @description A version of a rate card: what things cost in credits. */
        RateCard: {
            /** @description When it was made. */
            createdAt: components["schemas"]["Instant"];
            /** @description When it begins to count. */
            effectiveFrom: components["schemas"]["Instant"];
            /** @description The product whose credits these are. */
            productId: string;
            /** @description What things cost by it. */
            rates: components["schemas"]["Rate"][];
            /** @description The card's name. */
            slug: string;
            /**
             * Format: int32
             * @description The version's number, from 1.
             */
            version: number;
        };
        /** @description A project's rate cards. */
        RateCards: {
            /** @description In the order of their names. */
            rateCards: components["schemas"]["RateCard"][];
        };
        /** @example chat */
        RateCardSlug: string;
        /** @description What was used, and what it cost by a rate card. */
        RatedUse: {
            /** @description What was used, such as its `model`. */
            attributes: {
                [key: string]: string;
            };
            /** @description The rate card's name. */
            card: string;
            /** @description The exact cost, as a decimal number of credits: of a settlement that of all the work. */
            cost: string;
            /** @description How much of each unit. */
            quantities: {
                [key: string]: number;
            };
            /**
             * Format: int32
             * @description The number of the card's version.
             */
            version: number;
        };
        /** @enum {string} */
        Reason: "purchase" | "deduction" | "free_grant" | "manual" | "refund" | "expiry" | "reversal" | "forgiveness" | (string & {});
        /** @description The buyer who wants their codes. */
        Recover: {
            /** @description The address that was given when paying. */
            email: components["schemas"]["Email"];
        };
        /**
         * @description The recovery code of a wallet, in any case, with dashes and spaces anywhere or nowhere.
         * @example OLIVE-7K2M-9QXP-4TBD
         */
        RecoveryCode: string;
        /**
         * Format: uri
         * @description An absolute address. With a publishable key `https`, or `http` on loopback, and of an origin that the project allows where it lists any; with a secret key `https` or `http`.
         * @example https://shop.example/thanks
         */
        RedirectUrl: string;
        /** @description How much to refund. */
        RefundOrder: {
            amountCents?: components["schemas"]["WholeFrom1To9007199254740991"] | null;
            /** @description Names the operation: it is done once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
        };
        /** @description The balance after the release. */
        Released: {
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
        };
        /**
         * @description The subscription to resume. The wallet is named by exactly one of `externalUserId` and `code`; with a session both
         *     may be left out.
         */
        ResumeSubscription: {
            /** @description Names the operation: it is done once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            productId?: components["schemas"]["ProductId"] | null;
            subscriptionId?: components["schemas"]["SubscriptionId"] | null;
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        }) & ({
            productId: components["schemas"]["ProductId"];
        } | {
            subscriptionId: components["schemas"]["SubscriptionId"];
        });
        /** @description The result of a reversal. */
        Reversed: {
            /**
             * Format: int64
             * @description Credits that were given back; on a repeat, those of the first request.
             */
            amount: number;
            /**
             * Format: int64
             * @description Credits that can be spent now.
             */
            balance: number;
            /** @description Whether this very request gave them back; false on a repeat. */
            reversed: boolean;
        };
        /** @description What to give back of a deduction. */
        ReverseDeductionRequest: {
            amount?: components["schemas"]["Amount"] | null;
            /** @description Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it. */
            idempotencyKey: components["schemas"]["IdempotencyKey"];
            note?: components["schemas"]["Note"] | null;
        };
        /** @description That the sessions have ended. */
        Revoked: {
            /** @description True in every answer. */
            revoked: boolean;
        };
        /** @description The wallet whose sessions end. It is named by exactly one of `externalUserId` and `code`. */
        RevokedSessions: Record<string, never> & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description The body of a rotation, which may be left out. */
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
        /** @description A session of a wallet. */
        Session: {
            /** @description What it may do: `read`, `checkout`, `portal`, `subscriptions` */
            can: string[];
            /** @description When it ends. */
            expiresAt: components["schemas"]["Instant"];
            /** @description The caller's own id of the user; null where a recovery code opens the wallet. */
            externalUserId: string | null;
        };
        /** @enum {string} */
        SessionPermission: "read" | "checkout" | "portal" | "subscriptions" | (string & {});
        /** @description A session, for the browser of the wallet's owner. */
        SessionToken: {
            /** @description When it ends. */
            expiresAt: components["schemas"]["Instant"];
            /**
             * @description The bearer token. It is shown here alone.
             * @example pay_ws_…
             */
            token: string;
        };
        /** @description When the card on file is charged, and how much at most. */
        SetAutoTopUp: {
            /** @description Whether to charge at once where less than `threshold` can be spent already, and not only after the next use. */
            chargeNow?: boolean | null;
            consent?: components["schemas"]["NewConsent"] | null;
            /**
             * @description Whether it is on. False needs nothing else.
             * @example false
             */
            enabled: boolean;
            externalUserId?: components["schemas"]["ExternalUserId"] | null;
            maxPerDay?: components["schemas"]["WholeFrom1To24"] | null;
            monthlyLimitCents?: components["schemas"]["WholeFrom1To9007199254740991"] | null;
            priceId?: components["schemas"]["PriceId"] | null;
            quantity?: components["schemas"]["WholeFrom1To1000"] | null;
            target?: components["schemas"]["Whole"] | null;
            threshold?: components["schemas"]["Whole"] | null;
        };
        /**
         * @description A feature to unlock. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
         *     created by a grant if there is none.
         */
        SetFeature: {
            action?: components["schemas"]["FeatureAction"] | null;
            /** @description The feature's slug. */
            feature: components["schemas"]["FeatureSlug"];
        } & ({
            code?: null;
            externalUserId: components["schemas"]["ExternalUserId"];
        } | {
            code: components["schemas"]["RecoveryCode"];
            externalUserId?: null;
        });
        /** @description The items, 1 to 1,000. */
        SettleBatch: {
            items: components["schemas"]["SettleItem"][];
        };
        /** @description The result of an item: what was done, now or before, or its refusal. */
        SettleBatchResult: components["schemas"]["Charged"] | {
            error: components["schemas"]["Error"];
        };
        /** @description The result of each item, in their order. */
        SettleBatchResults: {
            results: components["schemas"]["SettleBatchResult"][];
        };
        /** @description What the work cost: an amount, or what a rate card prices. */
        SettleHold: {
            amount?: components["schemas"]["Whole"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            meta?: components["schemas"]["Meta"] | null;
            onShortfall?: components["schemas"]["OnShortfall"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /**
             * @description The whole cost, what was drawn included. Less than was held or drawn gives the rest back; more takes the
             *     surplus from the balance. Needed unless `rateCard` is there.
             */
            amount: components["schemas"]["Whole"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        });
        /** @description What the work cost that a hold was placed for: in all, or with `keepOpen` so far. */
        SettleItem: {
            amount?: components["schemas"]["Whole"] | null;
            /**
             * @description What was used, as the card's rates match it; at most 8.
             * @example {
             *       "model": "claude-sonnet-4-5"
             *     }
             */
            attributes?: {
                [key: string]: string;
            } | null;
            holdId: components["schemas"]["HoldId"];
            idempotencyKey?: components["schemas"]["IdempotencyKey"] | null;
            /**
             * @description Draws the amount, and leaves the hold open: a draw needs `idempotencyKey`, charges 1 credit or more and takes no
             *     `onShortfall`. When left out, the hold is settled.
             */
            keepOpen?: boolean | null;
            meta?: components["schemas"]["Meta"] | null;
            onShortfall?: components["schemas"]["OnShortfall"] | null;
            /**
             * @description How much of each unit, without overlap; at most 32.
             * @example {
             *       "input": 1200,
             *       "output": 310
             *     }
             */
            quantities?: {
                [key: string]: components["schemas"]["Whole"];
            } | null;
            rateCard?: components["schemas"]["RateCardSlug"] | null;
            /** @description In place of `quantities`: the usage object of the model's provider, as it is. */
            usage?: {
                [key: string]: unknown;
            } | null;
            usageFormat?: components["schemas"]["UsageFormat"] | null;
        } & ({
            /**
             * @description A settlement takes the whole cost, what was drawn included: less than was held or drawn gives the rest back; more
             *     takes the surplus from the balance. A draw takes what the work cost since the last one. Needed unless `rateCard`
             *     is there.
             */
            amount: components["schemas"]["Whole"];
        } | {
            /** @description The rate card that prices what was used, where the request has an `amount` in place of it. */
            rateCard: components["schemas"]["RateCardSlug"];
        });
        /** @description Whose card to put on file. */
        SetUpPaymentMethod: {
            externalUserId?: components["schemas"]["ExternalUserId"] | null;
            locale?: components["schemas"]["Locale"] | null;
            /** @description Where the page leads back to. */
            returnUrl: components["schemas"]["RedirectUrl"];
        };
        /** @description A subscription of a wallet. */
        Subscription: {
            /** @description Whether it ends with the cycle that is paid; left out when it does not. */
            cancelAtPeriodEnd?: boolean;
            /**
             * @description Whether its collection is paused for the time being, though it keeps its features; left out
             *     where it is not.
             */
            collectionPaused?: boolean;
            /** @description When the cycle that is paid ends. */
            currentPeriodEnd: components["schemas"]["Instant"];
            /**
             * @description Its identifier, which stays the same for as long as it is there: `sub_…`
             * @example sub_01jd3v8q6pf6r9x3v1m2k4c5d7
             */
            id: string;
            /** @description The tier's name. */
            label?: string | null;
            openInvoice?: components["schemas"]["OpenInvoice"] | null;
            /** @description The price of its tier. */
            priceId: string;
            /** @description The subscription's product. */
            productId: string;
            /**
             * @description `active`, `past_due` or `paused`; `canceled` only where it was asked for by itself
             * @example active
             */
            status: "active" | "past_due" | "paused" | (string & {});
        };
        /** @description What `subscription.canceled` says. */
        SubscriptionCanceled: {
            data: components["schemas"]["WalletData"] & {
                /** @description The subscription, with a subscription's events. */
                subscription: components["schemas"]["Subscription"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "subscription.canceled" | (string & {});
        };
        /** @example sub_01jd3v8q6pf6r9x3v1m2k4c5d7 */
        SubscriptionId: string;
        /** @description What `subscription.past_due` says. */
        SubscriptionPastDue: {
            data: components["schemas"]["WalletData"] & {
                /** @description The subscription, with a subscription's events. */
                subscription: components["schemas"]["Subscription"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "subscription.past_due" | (string & {});
        };
        /** @description What `subscription.renewed` says. */
        SubscriptionRenewed: {
            data: components["schemas"]["WalletData"] & {
                /** @description The subscription, with a subscription's events. */
                subscription: components["schemas"]["Subscription"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "subscription.renewed" | (string & {});
        };
        /** @description What `subscription.started` says. */
        SubscriptionStarted: {
            data: components["schemas"]["WalletData"] & {
                /** @description The subscription, with a subscription's events. */
                subscription: components["schemas"]["Subscription"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "subscription.started" | (string & {});
        };
        /** @description What `subscription.updated` says. */
        SubscriptionUpdated: {
            data: components["schemas"]["WalletData"] & {
                /** @description The subscription, with a subscription's events. */
                subscription: components["schemas"]["Subscription"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "subscription.updated" | (string & {});
        };
        /** @example Europe/Berlin */
        TimeZoneName: string;
        /** @description What `top_up.action_required` says. */
        TopUpActionRequired: {
            data: components["schemas"]["TopUpData"] & {
                /** @description The order that was paid, failed, or is paid on the page. */
                orderId: string;
                /** @description The page on which the buyer pays. */
                url: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "top_up.action_required" | (string & {});
        };
        /** @description The data of an automatic top-up's events. Fields that do not belong to an event's type are left out. */
        TopUpData: {
            /**
             * Format: int64
             * @description What was charged, in the currency's minor unit.
             */
            amountCents?: number | null;
            /**
             * Format: int64
             * @description Credits that could be spent then.
             */
            balance?: number | null;
            /**
             * Format: int64
             * @description How many came.
             */
            credits?: number | null;
            /** @description ISO 4217, in capitals. */
            currency?: string | null;
            /** @description The project's own user. */
            externalUserId?: string | null;
            nextAttemptAt?: components["schemas"]["Instant"] | null;
            /** @description The order that was paid, failed, or is paid on the page. */
            orderId?: string | null;
            /** @description The product whose credits came. */
            productId?: string | null;
            /** @description Why it failed, in the provider's word, or is suspended. */
            reason?: string | null;
            /** @description Whether a failed attempt is made again by itself. */
            retryable?: boolean | null;
            /** @description The page on which the buyer pays. */
            url?: string | null;
            /** @description The wallet's identifier: `wal_…` */
            walletId: string;
        };
        /** @description What `top_up.failed` says. */
        TopUpFailed: {
            data: components["schemas"]["TopUpData"] & {
                /** @description The order that was paid, failed, or is paid on the page. */
                orderId: string;
                /** @description Why it failed, in the provider's word, or is suspended. */
                reason: string;
                /** @description Whether a failed attempt is made again by itself. */
                retryable: boolean;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "top_up.failed" | (string & {});
        };
        /** @description What `top_up.succeeded` says. */
        TopUpSucceeded: {
            data: components["schemas"]["TopUpData"] & {
                /**
                 * Format: int64
                 * @description What was charged, in the currency's minor unit.
                 */
                amountCents: number;
                /**
                 * Format: int64
                 * @description Credits that could be spent then.
                 */
                balance: number;
                /**
                 * Format: int64
                 * @description How many came.
                 */
                credits: number;
                /** @description ISO 4217, in capitals. */
                currency: string;
                /** @description The order that was paid, failed, or is paid on the page. */
                orderId: string;
                /** @description The product whose credits came. */
                productId: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "top_up.succeeded" | (string & {});
        };
        /** @description What `top_up.suspended` says. */
        TopUpSuspended: {
            data: components["schemas"]["TopUpData"] & {
                /** @description Why it failed, in the provider's word, or is suspended. */
                reason: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "top_up.suspended" | (string & {});
        };
        /** @description What to change about a user's wallet. */
        UpdateWallet: {
            email: components["schemas"]["Email"] | null;
            externalUserId: components["schemas"]["ExternalUserId"];
        };
        /** @description What was granted and used. */
        Usage: {
            /** @description Oldest first, without gaps; at most 1,000. */
            buckets: components["schemas"]["Bucket"][];
        };
        /** @enum {string} */
        UsageFormat: "openai.chat" | "openai.responses" | "anthropic" | "gemini" | "ai-sdk" | (string & {});
        /** @description Credits used for one feature, by one rate card or for one model. */
        UsageGroup: {
            /**
             * Format: int64
             * @description Credits that were used.
             */
            credits: number;
            /**
             * Format: int64
             * @description How often credits were used.
             */
            deductions: number;
            /** @description Which one; null where there was none. At most 200 are kept apart, the rest is `other`. */
            key?: string | null;
        };
        /** @description What `wallet.balance_low` says. */
        WalletBalanceLow: {
            data: components["schemas"]["WalletData"] & {
                /**
                 * Format: int64
                 * @description Credits that could be spent then, with the same events.
                 */
                balance: number;
                /**
                 * @description The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
                 *     `wallet.owing` and `wallet.repaid`.
                 */
                productId: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.balance_low" | (string & {});
        };
        /** @description What `wallet.created` says. */
        WalletCreated: {
            data: components["schemas"]["WalletData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.created" | (string & {});
        };
        /** @description What `wallet.credited` says. */
        WalletCredited: {
            data: components["schemas"]["WalletData"] & {
                /**
                 * Format: int64
                 * @description Credits that could be spent then, with the same events.
                 */
                balance: number;
                /**
                 * Format: int64
                 * @description Credits that came, with `wallet.credited`.
                 */
                delta: number;
                /**
                 * @description The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
                 *     `wallet.owing` and `wallet.repaid`.
                 */
                productId: string;
                /** @description Why they came. */
                reason: components["schemas"]["Reason"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.credited" | (string & {});
        };
        /** @description The data of all other events. Fields that do not belong to an event's type are left out. */
        WalletData: {
            /** @description Features that it did not unlock before. */
            added?: string[] | null;
            /**
             * Format: int64
             * @description Credits that could be spent then, with the same events.
             */
            balance?: number | null;
            /**
             * Format: int64
             * @description Credits that came, with `wallet.credited`.
             */
            delta?: number | null;
            /** @description The project's own user, for an external wallet; otherwise null. */
            externalUserId?: string | null;
            /**
             * @description All features that the wallet unlocks after it, with `features.changed`; left out where they
             *     are more than 12 KiB.
             */
            features?: string[] | null;
            /** @description Why the wallet is frozen, with `wallet.frozen`, if a reason was given. */
            frozenReason?: string | null;
            limit?: components["schemas"]["LimitState"] | null;
            /** @description The member whose use it was, with the same events, if it was one's. */
            member?: string | null;
            /** @description The order behind them. */
            orderId?: string | null;
            /**
             * Format: int64
             * @description Credits that were owed then, with `wallet.owing` and `wallet.repaid`.
             */
            owed?: number | null;
            /**
             * Format: int32
             * @description The percentage of its amount that was passed, with `limit.alert`.
             */
            percent?: number | null;
            /**
             * @description The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
             *     `wallet.owing` and `wallet.repaid`.
             */
            productId?: string | null;
            reason?: components["schemas"]["Reason"] | null;
            /** @description Features that it does not unlock any more. */
            removed?: string[] | null;
            subscription?: components["schemas"]["Subscription"] | null;
            /** @description The wallet's identifier: `wal_…` */
            walletId: string;
        };
        /** @description What `wallet.depleted` says. */
        WalletDepleted: {
            data: components["schemas"]["WalletData"] & {
                /**
                 * Format: int64
                 * @description Credits that could be spent then, with the same events.
                 */
                balance: number;
                /**
                 * @description The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
                 *     `wallet.owing` and `wallet.repaid`.
                 */
                productId: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.depleted" | (string & {});
        };
        /** @description What `wallet.frozen` says. */
        WalletFrozen: {
            data: components["schemas"]["WalletData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.frozen" | (string & {});
        };
        /** @example wal_01jd3v8q6pf6r9x3v1m2k4c5d7 */
        WalletId: string;
        /** @description What `wallet.owing` says. */
        WalletOwing: {
            data: components["schemas"]["WalletData"] & {
                /**
                 * Format: int64
                 * @description Credits that could be spent then, with the same events.
                 */
                balance: number;
                /**
                 * Format: int64
                 * @description Credits that were owed then, with `wallet.owing` and `wallet.repaid`.
                 */
                owed: number;
                /**
                 * @description The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
                 *     `wallet.owing` and `wallet.repaid`.
                 */
                productId: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.owing" | (string & {});
        };
        /** @description What `wallet.repaid` says. */
        WalletRepaid: {
            data: components["schemas"]["WalletData"] & {
                /**
                 * Format: int64
                 * @description Credits that could be spent then, with the same events.
                 */
                balance: number;
                /**
                 * Format: int64
                 * @description Credits that were owed then, with `wallet.owing` and `wallet.repaid`.
                 */
                owed: number;
                /**
                 * @description The product whose credits they are, with `wallet.credited`, `wallet.balance_low`, `wallet.depleted`,
                 *     `wallet.owing` and `wallet.repaid`.
                 */
                productId: string;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.repaid" | (string & {});
        };
        /** @description What `wallet.thawed` says. */
        WalletThawed: {
            data: components["schemas"]["WalletData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "wallet.thawed" | (string & {});
        };
        /** Format: int64 */
        Whole: number;
        /** Format: int64 */
        WholeFrom1To24: number;
        /** Format: int64 */
        WholeFrom1To100: number;
        /** Format: int64 */
        WholeFrom1To1000: number;
        /** Format: int64 */
        WholeFrom1To9007199254740991: number;
    };
    responses: never;
    parameters: {
        /** @description `handling=strict` (RFC 7240): an unknown field, at any depth of the body, is 400 `invalid_request` with its path as `param`, and not ignored. */
        Prefer: string;
    };
    requestBodies: never;
    headers: {
        /** @description `true` when an earlier request with the same key did the work. */
        "Idempotency-Replayed": string;
        /** @description `handling=strict` where that was preferred. */
        "Preference-Applied": string;
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

/** What may be asked in an address. */
export interface queries {
    list_events: {
        /**
         * @description Only those after this one: a `nextCursor`, or an event's identifier. Without it, from the oldest
         *     that is kept.
         */
        after?: string;
        /** @description Events on a page. */
        limit?: number;
        /** @description Only events of these types. */
        types?: string;
    };
    list_orders: {
        /** @description A page's `nextCursor`. */
        cursor?: string;
        /** @description Only orders of the buyer with this e-mail address; case is ignored. */
        email?: string;
        /** @description Only orders placed at this instant or later. */
        from?: string;
        /** @description Orders on a page. */
        limit?: number;
        /** @description Only orders of at most this amount, in the minor unit of their currency. */
        maxCents?: number;
        /** @description Only orders of at least this amount, in the minor unit of their currency. */
        minCents?: number;
        /** @description Only orders of this product. */
        productId?: string;
        /** @description Only orders with this status, or whose money is on its way. */
        status?: "pending" | "processing" | "disputed" | "paid" | "failed" | "refunded" | "expired";
        /** @description Only orders placed before this instant. */
        to?: string;
    };
    read_usage: {
        /** @description The user whose wallet's usage to read, instead of the project's. A session reads its own wallet's. */
        externalUserId?: string;
        /** @description The first instant; 30 intervals before `to` when left out. Cut down to the interval. */
        from?: string;
        /** @description Adds how much was used for each `meta.feature`, by each rate card, or for each value of the attribute `model`. */
        groupBy?: "feature" | "rateCard" | "attribute:model" | "member";
        /** @description `day` when left out. Hours are kept for 90 days, days for three years, months for good. */
        interval?: "hour" | "day" | "month";
        /** @description The product; may be left out where the project has exactly one that holds credits. */
        productId?: string;
        /** @description The first instant after; the end of the current interval when left out. Rounded up to the interval. */
        to?: string;
    };
    read_ledger: {
        /** @description A page's `nextCursor`. */
        cursor?: string;
        /** @description Only entries from this instant on. */
        from?: string;
        /** @description Entries on a page. */
        limit?: number;
        /** @description Only this product's entries. */
        productId?: string;
        /** @description Only entries with this reason. */
        reason?: "purchase" | "deduction" | "free_grant" | "manual" | "refund" | "expiry" | "reversal" | "forgiveness";
        /** @description Only entries before this instant. */
        to?: string;
    };
    read_limits: {
        /** @description The member whose use to count where a limit is about each. */
        member?: string;
    };
    open_portal: {
        /** @description The address that the portal leads back to. */
        returnUrl: string;
        /** @description The subscription whose customer's portal it is, by the `id` that the wallet shows; the current one without. */
        subscriptionId?: string;
    };
    read_external_wallet: {
        /** @description The user, unless it is the session's own. */
        externalUserId?: string;
    };
    read_auto_top_up: {
        /** @description The user, unless it is the session's own. */
        externalUserId?: string;
    };
    read_external_ledger: {
        /** @description A page's `nextCursor`. */
        cursor?: string;
        /** @description The user, unless it is the session's own. */
        externalUserId?: string;
        /** @description Only entries from this instant on. */
        from?: string;
        /** @description Entries on a page. */
        limit?: number;
        /** @description Only this product's entries. */
        productId?: string;
        /** @description Only entries with this reason. */
        reason?: "purchase" | "deduction" | "free_grant" | "manual" | "refund" | "expiry" | "reversal" | "forgiveness";
        /** @description Only entries before this instant. */
        to?: string;
    };
    read_external_limits: {
        /** @description The user, unless it is the session's own. */
        externalUserId?: string;
        /** @description The member whose use to count where a limit is about each. */
        member?: string;
    };
    remove_payment_method: {
        /** @description The user, unless it is the session's own. */
        externalUserId?: string;
    };
    stream_external_wallet: {
        /** @description The user, unless it is the session's own. */
        externalUserId?: string;
    };
}

/** The codes with which the service refuses. */
export type ServiceErrorCode =
    | "already_owned"
    | "already_refunded"
    | "already_reversed"
    | "already_subscribed"
    | "anonymous_wallets_disabled"
    | "balance_limit"
    | "body_too_large"
    | "conflicting_wallet"
    | "currency_mismatch"
    | "deduction_not_found"
    | "event_not_found"
    | "hold_closed"
    | "hold_not_found"
    | "hold_open"
    | "idempotency_key_reused"
    | "insufficient_credits"
    | "internal_error"
    | "invalid_api_key"
    | "invalid_discount_code"
    | "invalid_request"
    | "limit_exceeded"
    | "missing_api_key"
    | "no_purchase"
    | "order_not_found"
    | "overloaded"
    | "payment_method_confirmation_required"
    | "payment_method_required"
    | "permission_missing"
    | "price_not_found"
    | "product_not_found"
    | "product_required"
    | "project_archived"
    | "provider_error"
    | "provider_not_configured"
    | "rate_card_not_found"
    | "rate_limited"
    | "rate_not_found"
    | "redirect_not_allowed"
    | "secret_key_required"
    | "session_expired"
    | "session_forbidden"
    | "subscription_ambiguous"
    | "subscription_not_found"
    | "too_many_holds"
    | "too_many_invalid_codes"
    | "too_many_lots"
    | "too_many_pending_orders"
    | "too_many_scopes"
    | "unavailable"
    | "unsupported_media_type"
    | "wallet_creation_limit"
    | "wallet_frozen"
    | "wallet_not_found";

/** The HTTP status of each. */
export const statuses: Readonly<Record<string, number>> = {
    already_owned: 409,
    already_refunded: 409,
    already_reversed: 409,
    already_subscribed: 409,
    anonymous_wallets_disabled: 403,
    balance_limit: 409,
    body_too_large: 413,
    conflicting_wallet: 400,
    currency_mismatch: 409,
    deduction_not_found: 404,
    event_not_found: 404,
    hold_closed: 409,
    hold_not_found: 404,
    hold_open: 409,
    idempotency_key_reused: 409,
    insufficient_credits: 402,
    internal_error: 500,
    invalid_api_key: 401,
    invalid_discount_code: 400,
    invalid_request: 400,
    limit_exceeded: 403,
    missing_api_key: 401,
    no_purchase: 409,
    order_not_found: 404,
    overloaded: 503,
    payment_method_confirmation_required: 409,
    payment_method_required: 409,
    permission_missing: 403,
    price_not_found: 404,
    product_not_found: 404,
    product_required: 400,
    project_archived: 403,
    provider_error: 502,
    provider_not_configured: 409,
    rate_card_not_found: 404,
    rate_limited: 429,
    rate_not_found: 404,
    redirect_not_allowed: 403,
    secret_key_required: 403,
    session_expired: 401,
    session_forbidden: 403,
    subscription_ambiguous: 409,
    subscription_not_found: 404,
    too_many_holds: 409,
    too_many_invalid_codes: 429,
    too_many_lots: 409,
    too_many_pending_orders: 409,
    too_many_scopes: 409,
    unavailable: 503,
    unsupported_media_type: 415,
    wallet_creation_limit: 429,
    wallet_frozen: 403,
    wallet_not_found: 404,
};

/** The types of events that an endpoint may ask for. */
export type DescribedEventType =
    | "order.paid"
    | "order.failed"
    | "order.expired"
    | "order.refunded"
    | "order.disputed"
    | "order.dispute_closed"
    | "subscription.started"
    | "subscription.renewed"
    | "subscription.updated"
    | "subscription.past_due"
    | "subscription.canceled"
    | "wallet.created"
    | "wallet.credited"
    | "wallet.balance_low"
    | "wallet.depleted"
    | "wallet.owing"
    | "wallet.repaid"
    | "wallet.frozen"
    | "wallet.thawed"
    | "limit.alert"
    | "limit.reached"
    | "features.changed"
    | "top_up.succeeded"
    | "top_up.failed"
    | "top_up.suspended"
    | "top_up.action_required";

/** Formats of usage objects, with their marks: an object has the first format of which it has one mark of each list. */
export const usageShapes: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    ["ai-sdk",[["inputTokens.total","inputTokens.noCache","outputTokens.total","outputTokens.text"]]],
    ["ai-sdk",[["inputTokens","outputTokens"]]],
    ["gemini",[["promptTokenCount","candidatesTokenCount","prompt_token_count","candidates_token_count"]]],
    ["openai.chat",[["prompt_tokens","completion_tokens"]]],
    ["openai.responses",[["input_tokens","output_tokens"],["input_tokens_details","total_tokens"]]],
    ["anthropic",[["input_tokens","output_tokens"]]],
];
