//! A wallet's life through every change that there is, and a catalog with every kind of document.

use std::collections::BTreeSet;

use domain::{
    Amount, Timestamp,
    catalog::{
        Account, ApiKey, CheckoutSettings, Ciphertext, Document, Endpoint, EndpointStatus,
        FreeGrant, Interval, KeyKind, Mode, Price, Product, ProductType, Project, Provider,
        ProviderAccount, ProviderEpoch, Sandbox, Stripe, StripeAccount, WebhookSecret,
    },
    history::{DeductionRef, Reason, Record, RecordContent, Taker},
    id::{
        CodeHash, EndpointId, HoldId, KeyId, OrderSerial, PriceId, ProductId, ProjectId,
        PublicSubscriptionId, WalletId, WalletKey,
    },
    limit::{
        Count, Counted, Limit, LimitAlert, LimitSource, LimitState, LimitUnit, LimitWindow,
        ScopeKind, TimeZoneName,
    },
    terms::Terms,
    text::{
        CardId, CheckoutId, CustomerId, Email, Feature, FreezeReason, IdempotencyKey, InvoiceId,
        Member, Meta, PageUrl, PaymentId, SubscriptionId,
    },
    time::Period,
    top_up::{
        ActionPage, AttemptOutcome, CardBrand, CardDigits, Decline, DeclineCode, DeclineKind,
        SavedCard, Suspension, TopUpAttempt, TopUpChange, TopUpConsent, TopUpRule, TopUpSize,
    },
    wallet::{
        ArchivedOrder, Change, Charged, Created, DeductionReversed, Event, Instruction,
        InstructionRecord, InstructionStage, NamedSubscription, OrderKind, Owner, RefundPart,
        Reversal, Step, Subscription, SubscriptionStatus, TakenLot, TierSwitch, Wallet,
        event::{OrderClosed, OrderPaid, OrderPlaced, SubscriptionChanged, SubscriptionEvent},
        order::OrderErased,
        taken::LastLot,
    },
};

pub(super) const PROJECT: ProjectId = ProjectId(6);
const PAGES: ProductId = ProductId(0x0190_1234_5678_7abc_8def_0123_4567_89ab);
const CLUB: ProductId = ProductId(3);
const NOW: Timestamp = Timestamp(1_760_000_000_123);
const LATER: Timestamp = Timestamp(1_760_003_600_123);

/// A wallet's events, and what is left of them.
pub(super) struct Life {
    pub(super) key: WalletKey,
    pub(super) wallet: Wallet,
    pub(super) events: Vec<(Event, Option<Record>)>,
}

impl Life {
    pub(super) fn born(key: WalletKey, owner: Owner) -> Self {
        Self::called(WalletId(5), key, owner)
    }

    /// Like [`Self::born`], with another identifier.
    pub(super) fn called(id: WalletId, key: WalletKey, owner: Owner) -> Self {
        let event = Event {
            at: NOW,
            change: Change::Created(Box::new(Created {
                id,
                project: PROJECT,
                owner,
            })),
        };
        let mut wallet = None;
        let (_, applied) = Wallet::replay(&mut wallet, key, event.clone()).unwrap();
        Self {
            key,
            wallet: wallet.unwrap(),
            events: vec![(event, applied.record)],
        }
    }

    pub(super) fn tell(&mut self, change: Change) {
        let event = Event { at: NOW, change };
        let record = self.wallet.apply(event.clone()).unwrap().record;
        self.events.push((event, record));
    }

    pub(super) fn records(&self) -> Vec<Record> {
        let records = self.events.iter().filter_map(|(_, record)| record.clone());
        records.collect()
    }

    fn last_order(&self) -> ArchivedOrder {
        let record = self.records().pop().unwrap();
        record.order().unwrap().clone()
    }

    fn hold_id(&self, serial: u128) -> HoldId {
        HoldId {
            serial,
            wallet: self.key,
        }
    }

    fn hold(&mut self, serial: u128) {
        let hold = self.hold_id(serial);
        self.tell(Change::HoldPlaced {
            hold,
            product: PAGES,
            amount: amount(300).get(),
            expires_at: LATER,
            key: key(&format!("hold {serial}")),
            meta: meta(),
            publishable: serial % 2 == 1,
            rotations: 0,
            max_overrun: 0,
            rate: None,
            counted: None,
        });
    }

    pub(super) fn grant(&mut self, name: &str, product: ProductId, expires_at: Option<Timestamp>) {
        self.tell(Change::Granted {
            product,
            amount: amount(9_000_000_000),
            expires_at,
            key: key(name),
            meta: None,
        });
    }

    fn credits(&mut self) {
        self.tell(Change::FreeGranted {
            product: PAGES,
            credits: amount(100),
            period: Period::Daily,
            start: NOW,
            end: LATER,
        });
        self.tell(Change::FreeGranted {
            product: CLUB,
            credits: amount(1),
            period: Period::Once,
            start: Timestamp(i64::MIN),
            end: Timestamp::NEVER,
        });
        self.grant("grant", PAGES, None);
        self.deduct("deduction", meta());
        self.deduct("another", None);
        self.limits();
        self.top_up();
        self.grant("expiring", ProductId(2), Some(LATER));
        self.tell(Change::LotExpired {
            product: ProductId(2),
            lot: 0,
            amount: amount(9_000_000_000),
        });
    }

    fn deduct(&mut self, name: &str, meta: Option<Meta>) {
        self.tell(Change::Deducted {
            product: PAGES,
            amount: amount(7).get(),
            key: key(name),
            meta,
            rate: None,
            counted: None,
        });
    }

    /// A card, a rule, an attempt that failed; an address for mails.
    fn top_up(&mut self) {
        let order = OrderSerial(0x77);
        // Not of what is refunded later, which ends what it waits for.
        let terms = Terms {
            fills: ProductId(2),
            ..terms(Interval::OneTime)
        };
        let attempt = TopUpAttempt {
            number: 1,
            order,
            cents: 900,
            card: CardId::new("pm_1").unwrap(),
            customer: CustomerId::new("cus_1").unwrap(),
            at: NOW,
        };
        let decline = Decline {
            code: DeclineCode::new("insufficient_funds").unwrap(),
            kind: DeclineKind::Retryable,
        };
        let page = ActionPage {
            order,
            url: PageUrl::new("https://pay.example/1").unwrap(),
        };
        for change in [
            TopUpChange::CardSaved(SavedCard {
                customer: CustomerId::new("cus_1").unwrap(),
                id: CardId::new("pm_1").unwrap(),
                brand: CardBrand::new("visa").unwrap(),
                last4: CardDigits::new("4242").unwrap(),
                exp_month: 12,
                exp_year: 2031,
                saved_at: NOW,
            }),
            TopUpChange::Set(Some(Box::new(TopUpRule {
                terms,
                threshold: 500,
                size: TopUpSize::Target(900),
                monthly_limit_cents: 5_000_000,
                max_per_day: 3,
                consent: TopUpConsent {
                    text: "é".into(),
                    at: NOW,
                },
            }))),
            TopUpChange::Waits(Some(LATER)),
            TopUpChange::Begun(attempt),
            TopUpChange::Ended(1, AttemptOutcome::Failed(decline)),
            TopUpChange::Suspended(Suspension::ActionRequired(Box::new(page))),
            TopUpChange::Charged(500),
            TopUpChange::Resumed,
            TopUpChange::Waits(Some(LATER)),
        ] {
            self.tell(Change::TopUp(Box::new(change)));
        }
        self.tell(Change::EmailSet(Email::new("jo@mail.example").ok()));
    }

    /// A limit, a deduction that counts and alerts, and a refusal; then none is left.
    fn limits(&mut self) {
        let limit = Limit {
            scope: "member:*".parse().unwrap(),
            amount: 9,
            window: LimitWindow::Month,
            unit: LimitUnit::Credits,
            time_zone: TimeZoneName::new("Europe/Berlin").ok(),
            product: Some(PAGES),
            alerts_at: vec![50, 80],
        };
        let set = |limits| Change::LimitsSet {
            limits,
            others: Vec::new(),
        };
        self.tell(set(vec![limit.clone()]));
        let counted = |since, percent| {
            let state = LimitState {
                limit: limit.clone(),
                source: LimitSource::Wallet,
                used: 7,
                held: 0,
                starts_at: Some(NOW),
                resets_at: Some(LATER),
            };
            Box::new(Counted {
                member: Member::new("ann").ok(),
                feature: Some("chat".into()),
                key: Some(KeyId(5)),
                counts: vec![Count {
                    kind: ScopeKind::Member,
                    window: LimitWindow::Month,
                    unit: LimitUnit::Credits,
                    of_product: true,
                    since,
                    starts_at: NOW,
                    ends_at: LATER,
                }],
                is_operation: true,
                alerts: vec![LimitAlert {
                    state,
                    percent,
                    member: Member::new("ann").ok(),
                }],
            })
        };
        let since = self.wallet.version + 1;
        self.tell(Change::Deducted {
            product: PAGES,
            amount: 7,
            key: key("counted"),
            meta: None,
            rate: None,
            counted: Some(counted(since, Some(50))),
        });
        self.tell(Change::LimitRefused(counted(since, None), PAGES));
        self.tell(set(Vec::new()));
    }

    fn holds(&mut self) {
        for serial in 77..=82 {
            self.hold(serial);
        }
        let hold = |serial| HoldId {
            serial,
            wallet: self.key,
        };
        let changes = [
            Change::HoldExtended {
                hold: hold(77),
                expires_at: Timestamp(LATER.0 + 1),
            },
            Change::HoldSettled {
                hold: hold(77),
                amount: 250,
                owed: 0,
                uncovered: 0,
                meta: meta(),
                rate: None,
                counted: None,
            },
            Change::HoldSettled {
                hold: hold(78),
                amount: 0,
                owed: 0,
                uncovered: 0,
                meta: None,
                rate: None,
                counted: None,
            },
            Change::HoldReleased { hold: hold(79) },
            Change::HoldDrawn {
                hold: hold(80),
                amount: amount(40).get(),
                key: key("draw"),
                meta: meta(),
                rate: None,
                counted: None,
            },
            Change::HoldExpired { hold: hold(80) },
            Change::HoldDrawn {
                hold: hold(82),
                amount: amount(400).get(),
                key: key("another draw"),
                meta: None,
                rate: None,
                counted: None,
            },
        ];
        changes.into_iter().for_each(|change| self.tell(change));
        self.debts();
    }

    /// Nothing is owed in the end: a wallet without a user must not.
    fn debts(&mut self) {
        let charged = |name: &str, charged, owed| {
            Change::Charged(Box::new(Charged {
                product: PAGES,
                amount: 50,
                charged,
                owed,
                key: key(name),
                meta: meta(),
                lot: None,
                rate: None,
                counted: None,
                drawn_cost: domain::rate_card::Cost::default(),
            }))
        };
        let limit = |limit| Change::DebtLimitChanged {
            product: PAGES,
            limit,
        };
        let forgiven = |name: &str, requested: Option<i64>| Change::Forgiven {
            product: PAGES,
            requested: requested.map(amount),
            amount: amount(20),
            key: key(name),
            meta: meta(),
        };
        let changes = [
            limit(Some(60)),
            charged("short", 10, 40),
            charged("nothing", 0, 0),
            forgiven("part", Some(20)),
            forgiven("rest", None),
            Change::Charged(Box::new(Charged {
                product: PAGES,
                amount: -15,
                charged: -15,
                owed: 0,
                key: key("hold 80"),
                meta: meta(),
                lot: Some(LastLot {
                    number: 0,
                    ends_at: LATER,
                }),
                rate: None,
                counted: None,
                drawn_cost: domain::rate_card::Cost::default(),
            })),
            limit(None),
            Change::DeductionReversed(Box::new(DeductionReversed {
                deduction: DeductionRef { seq: 9, at: LATER },
                product: PAGES,
                requested: None,
                amount: amount(7),
                key: key("reversed"),
                meta: meta(),
                counted: None,
                lots: vec![TakenLot {
                    number: u64::MAX,
                    credits: 7,
                    source: Reason::Manual,
                    expires_at: LATER,
                    order: None,
                    cycle: None,
                    price: None,
                }],
            })),
            Change::ReversedInAll {
                of: Taker::Deduction(9),
                credits: amount(7),
            },
        ];
        changes.into_iter().for_each(|change| self.tell(change));
    }

    fn features(&mut self) {
        let feature = || Feature::new("export.pdf").unwrap();
        self.tell(Change::FeatureGranted { feature: feature() });
        self.tell(Change::FeatureRevoked { feature: feature() });
        self.tell(Change::SessionsRevoked);
        self.tell(Change::Frozen { reason: None });
        self.tell(Change::Unfrozen);
        self.tell(Change::Frozen {
            reason: FreezeReason::new("a stolen card").ok(),
        });
        let feature = Feature::new("kept").unwrap();
        self.tell(Change::FeatureGranted { feature });
    }

    fn place(&mut self, serial: u128, kind: OrderKind, terms: Terms) {
        let checkout = kind == OrderKind::Checkout;
        let session = format!("cs_{serial}");
        self.tell(Change::OrderPlaced(Box::new(OrderPlaced {
            order: OrderSerial(serial),
            project: PROJECT,
            kind,
            terms,
            checkout: checkout.then(|| CheckoutId::new(session).unwrap()),
            email: checkout.then(|| Email::new("Jo@mail.example").unwrap()),
            expires_at: LATER,
            quantity: domain::Quantity::new(3).unwrap(),
            metadata: domain::metadata::Metadata::new([("job".into(), "é".into())].into()).unwrap(),
            locale: None,
            names_code: false,
            rotations: 0,
        })));
    }

    fn pay(&mut self, serial: u128, credits: i64, subscription: Option<SubscriptionId>) {
        self.tell(Change::OrderPaid(Box::new(OrderPaid {
            order: OrderSerial(serial),
            project: PROJECT,
            kind: OrderKind::Checkout,
            expires_at: LATER,
            amount_cents: 999,
            credits,
            credits_expire_at: (credits > 0).then_some(LATER),
            payment: Some(PaymentId::new("pi_1").unwrap()),
            invoice: Some(InvoiceId::new("in_1").unwrap()),
            subscription,
            customer: Some(CustomerId::new("cus_1").unwrap()),
            email: Some(Email::new("Jo@mail.example").unwrap()),
            receipt: domain::wallet::Receipt {
                provider: Some(domain::wallet::ProviderKind::Stripe),
                livemode: true,
                receipt_url: Some(PageUrl::new("https://pay.example/r").unwrap()),
                invoice_url: Some(PageUrl::new("https://pay.example/i").unwrap()),
            },
        })));
    }

    fn reverse(&mut self, serial: u128, credits: i64, disputed_cents: i64) {
        self.tell(Change::OrderReversed {
            order: OrderSerial(serial),
            reversal: Reversal {
                refunded_cents: 500,
                disputed_cents,
                dispute: None,
                as_of: NOW,
            },
            credits,
        });
    }

    fn orders(&mut self) {
        let archive = |serial| Change::OrderArchived {
            order: OrderSerial(serial),
        };
        let closed = |serial| OrderClosed {
            order: OrderSerial(serial),
            project: PROJECT,
            expires_at: LATER,
        };
        // Bought, archived, and given back in part after that.
        self.place(1 << 100, OrderKind::Checkout, terms(Interval::OneTime));
        self.pay(1 << 100, 100, None);
        self.tell(archive(1 << 100));
        let archived = self.last_order();
        self.tell(Change::OrderRecalled(Box::new(archived)));
        self.reverse(1 << 100, -60, 499);
        self.reverse(1 << 100, 10, 0);
        self.tell(archive(1 << 100));
        // What it says of its buyer is erased.
        let archived = self.last_order();
        let email = archived.order.email.clone();
        self.tell(Change::OrderRecalled(Box::new(archived)));
        self.tell(Change::OrderErased(Box::new(OrderErased {
            order: OrderSerial(1 << 100),
            project: PROJECT,
            email,
        })));
        self.tell(archive(1 << 100));
        // Of an order that is not known yet.
        self.reverse(9, 0, 700);
        self.place(3, OrderKind::Checkout, terms(Interval::OneTime));
        self.tell(Change::OrderProcessing {
            order: OrderSerial(3),
            on_its_way: true,
        });
        self.tell(Change::OrderFailed(closed(3)));
        self.tell(archive(3));
        self.place(4, OrderKind::Checkout, terms(Interval::Year));
        self.tell(Change::OrderExpired(closed(4)));
        // Not archived, and pending.
        self.place(5, OrderKind::Checkout, terms(Interval::OneTime));
    }

    fn subscribed(&mut self, name: &str, status: SubscriptionStatus, data: SubscriptionEvent) {
        self.tell(Change::SubscriptionChanged(Box::new(SubscriptionChanged {
            project: ProjectId(6),
            former_end: Some(NOW),
            subscription_event: Some(data),
            subscription: Subscription {
                id: subscription(name),
                customer: Some(CustomerId::new("cus_1").unwrap()),
                paid_tier: terms(Interval::Month),
                tier_switch: Some(Box::new(TierSwitch {
                    order: OrderSerial(3),
                    terms: terms(Interval::Month),
                    at: NOW,
                    reversed: true,
                })),
                reported_tier: Some(Box::new(terms(Interval::Year))),
                status,
                open_invoice: Some(Box::new(domain::wallet::OpenInvoice {
                    amount_cents: 900,
                    currency: domain::wallet::Currency::new("EUR").unwrap(),
                    url: PageUrl::new("https://pay.example/i").unwrap(),
                    next_attempt_at: Some(LATER),
                })),
                collection_paused: true,
                cycle_start: NOW,
                cycle_end: LATER,
                current_period_end: LATER,
                cancel_at_period_end: true,
                past_due_since: (status == SubscriptionStatus::PastDue).then_some(NOW),
                grace_ends_at: (status == SubscriptionStatus::PastDue).then_some(LATER),
                order: Some(OrderSerial(2)),
                reversed: true,
                steps: vec![Step {
                    order: OrderSerial(3),
                    product: CLUB,
                    from: 100,
                    to: 250,
                    at: NOW,
                    until: LATER,
                    reversed: false,
                }],
                reported_at: NOW,
                cycles_ended: 0,
                cycle_ended_at: None,
            },
        })));
    }

    fn subscriptions(&mut self) {
        self.place(2, OrderKind::Renewal, terms(Interval::Month));
        self.pay(2, 100, Some(subscription("sub_1")));
        self.subscribed(
            "sub_1",
            SubscriptionStatus::PastDue,
            SubscriptionEvent::PastDue,
        );
        self.tell(Change::CycleEnded {
            subscription: subscription("sub_1"),
            ends_at: LATER,
        });
        self.subscribed(
            "sub_2",
            SubscriptionStatus::Active,
            SubscriptionEvent::Started,
        );
        self.subscribed(
            "sub_2",
            SubscriptionStatus::Canceled,
            SubscriptionEvent::Canceled,
        );
        self.tell(Change::SubscriptionGone {
            subscription: subscription("sub_2"),
        });
        // It ended before its payment was reported.
        self.tell(Change::SubscriptionGone {
            subscription: subscription("sub_3"),
        });
    }

    fn instructions(&mut self) {
        let refund = |requested, cents| Instruction::Refund {
            order: OrderSerial(2),
            requested,
            cents,
            parts: vec![RefundPart {
                payment: PaymentId::new("pi_2").unwrap(),
                cents,
            }],
            round: 1,
        };
        let cancel = Instruction::Cancel {
            subscription: subscription("sub_1"),
            named: NamedSubscription::Of(CLUB),
            at_period_end: true,
        };
        let resume = Instruction::Resume {
            subscription: subscription("sub_1"),
            named: NamedSubscription::Id(PublicSubscriptionId(5), Some(CLUB)),
        };
        for (name, instruction, stage) in [
            ("part", refund(Some(400), 400), InstructionStage::Requested),
            ("part", refund(Some(400), 400), InstructionStage::Done),
            ("rest", refund(None, 99), InstructionStage::Requested),
            ("rest", refund(None, 99), InstructionStage::REFUSED),
            ("é", cancel, InstructionStage::Requested),
            ("é", resume, InstructionStage::Done),
        ] {
            self.tell(Change::Instructed(Box::new(InstructionRecord {
                key: key(name),
                instruction,
                stage,
            })));
        }
    }
}

fn amount(credits: i64) -> Amount {
    Amount::new(credits).unwrap()
}

fn key(name: &str) -> IdempotencyKey {
    IdempotencyKey::new(name).unwrap()
}

fn meta() -> Option<Meta> {
    Some(Meta::new(r#"{"job":"é"}"#).unwrap())
}

fn subscription(name: &str) -> SubscriptionId {
    SubscriptionId::new(name).unwrap()
}

fn terms(interval: Interval) -> Terms {
    Terms {
        price: PriceId(4),
        product: PAGES,
        fills: CLUB,
        credits: 100,
        expire_after_days: Some(30),
        rollover: false,
        repeatable: false,
        features: BTreeSet::from([Feature::new("export").unwrap()]),
        interval,
        trial_days: Some(14),
        trial_credits: 3,
        label: Some("Pro".into()),
        amount_cents: 999,
        currency: "EUR".into(),
    }
}

/// Every kind of change, in a wallet that still has something of everything.
pub(super) fn whole(key: WalletKey) -> Life {
    let owner = Owner::Code {
        hash: CodeHash(key.0),
        sealed: Box::new([1, 2, 3]),
    };
    let mut life = Life::born(key, owner);
    life.tell(Change::CodeRotated {
        hash: CodeHash([9; 16]),
        sealed: Box::new([4, 200]),
        former: Some(CodeHash(key.0)),
    });
    life.credits();
    life.holds();
    life.features();
    life.orders();
    life.subscriptions();
    life.instructions();
    life
}

/// Every kind of document, the second provider another project's.
pub(super) fn documents() -> Vec<Document> {
    let mut project = Project::new(PROJECT, "Ünder".into(), Mode::ExternalUsers, NOW);
    project.allowed_origins = vec!["https://example.com".into()];
    project.wallet_creation_limit = None;
    let key = ApiKey {
        id: KeyId(1),
        project: PROJECT,
        kind: KeyKind::Publishable,
        can: BTreeSet::new(),
        name: Some("Wörker".into()),
        first: "pay_pk_aTb9".into(),
        last: "7xYz".into(),
        hash: [3; 32],
        public: Some("pay_pk_x".into()),
        created_at: NOW,
        expires_at: Some(LATER),
        revoked_at: Some(LATER),
    };
    let product = Product {
        id: PAGES,
        project: PROJECT,
        name: "Pages".into(),
        description: None,
        kind: ProductType::Subscription,
        credit_unit: Some("page".into()),
        free_grant: Some(FreeGrant {
            credits: amount(3),
            period: Period::Monthly,
        }),
        low_balance: Some(10),
        debt_limit: 500,
        limits: Vec::new(),
        active: true,
        created_at: NOW,
    };
    let price = Price {
        id: PriceId(4),
        project: PROJECT,
        product: PAGES,
        label: Some("Pro".into()),
        amount_cents: 999,
        currency: "EUR".into(),
        credits_granted: 1000,
        credits_product: None,
        credits_expire_after_days: Some(30),
        rollover: true,
        features: [Feature::new("export").unwrap()].into(),
        interval: Interval::Month,
        trial_days: Some(14),
        trial_credits: 3,
        repeatable: false,
        limits: Vec::new(),
        active: true,
        created_at: NOW,
    };
    let secret = |byte, until| WebhookSecret {
        secret: Ciphertext(Box::new([byte, 200])),
        until,
    };
    let stripe = Provider {
        project: PROJECT,
        account: Account::Stripe(Stripe {
            secret_key: Ciphertext(Box::new([1, 2, 3])),
            webhook_secrets: vec![secret(4, None), secret(5, Some(LATER))],
            verified: true,
        }),
        sandbox: Sandbox {
            ahead_millis: 86_400_000,
            delay_seconds: 5,
            duplicates: 2,
            shuffle: true,
        },
        epoch: ProviderEpoch {
            number: 2,
            account: Some(ProviderAccount::Stripe(Some(StripeAccount {
                id: "acct_1".into(),
                livemode: true,
            }))),
            leaving: true,
        },
    };
    let endpoint = Endpoint {
        id: EndpointId(8),
        project: PROJECT,
        url: "https://example.com/hooks".into(),
        events: Some(vec!["order.paid".into(), "wallet.depleted".into()]),
        secrets: vec![secret(6, None), secret(7, Some(LATER))],
        events_after: 77,
        status: EndpointStatus::Failing,
        created_at: NOW,
    };
    let mut other = Project::new(ProjectId(7), "Other".into(), Mode::CreditCodes, NOW);
    other.subscription_grace_days = 0;
    other.checkout = CheckoutSettings {
        automatic_tax: true,
        invoices: true,
        ..CheckoutSettings::NONE
    };
    let sandbox = Provider {
        project: ProjectId(7),
        account: Account::Sandbox,
        sandbox: Sandbox::default(),
        epoch: ProviderEpoch {
            account: Some(ProviderAccount::Sandbox),
            ..ProviderEpoch::default()
        },
    };
    vec![
        Document::Project(project),
        Document::Key(key),
        Document::Product(product),
        Document::Price(price),
        Document::Provider(stripe),
        Document::Project(other),
        Document::Provider(sandbox),
        Document::Endpoint(endpoint),
    ]
}

/// A change's number, which is stored. A new change does not compile without one.
pub(super) const fn number(change: &Change) -> u8 {
    match change {
        Change::Created(_) => 0,
        Change::CodeRotated { .. } => 1,
        Change::FreeGranted { .. } => 2,
        Change::LotExpired { .. } => 3,
        Change::Granted { .. } => 4,
        Change::Deducted { .. } => 5,
        Change::HoldPlaced { .. } => 6,
        Change::HoldExtended { .. } => 7,
        Change::HoldSettled { .. } => 8,
        Change::HoldReleased { .. } => 9,
        Change::HoldExpired { .. } => 10,
        Change::FeatureGranted { .. } => 11,
        Change::FeatureRevoked { .. } => 12,
        Change::OrderPlaced(_) => 13,
        Change::OrderPaid(_) => 14,
        Change::OrderFailed(_) => 15,
        Change::OrderExpired(_) => 16,
        Change::OrderReversed { .. } => 17,
        Change::SubscriptionChanged(_) => 18,
        Change::SubscriptionGone { .. } => 19,
        Change::CycleEnded { .. } => 20,
        Change::OrderArchived { .. } => 21,
        Change::OrderRecalled(_) => 22,
        Change::Instructed(_) => 23,
        Change::OrderProcessing { .. } => 24,
        Change::SessionsRevoked => 25,
        Change::HoldDrawn { .. } => 26,
        Change::Charged(_) => 27,
        Change::Forgiven { .. } => 28,
        Change::DebtLimitChanged { .. } => 29,
        Change::Frozen { .. } => 30,
        Change::Unfrozen => 31,
        Change::DeductionReversed(_) => 32,
        Change::ReversedInAll { .. } => 33,
        Change::OrderErased(_) => 34,
        Change::LimitsSet { .. } => 35,
        Change::LimitRefused(..) => 36,
        Change::TopUp(_) => 37,
        Change::EmailSet(_) => 38,
    }
}

pub(super) const CHANGES: u8 = 39;

pub(super) const fn fact_number(fact: &RecordContent) -> u8 {
    match fact {
        RecordContent::Entry(_) => 0,
        RecordContent::HoldPlaced(..) => 1,
        RecordContent::HoldSettled(..) => 2,
        RecordContent::Order(_) => 3,
        RecordContent::SubscriptionOver(_) => 4,
        RecordContent::Instructed(_) => 5,
        RecordContent::HoldEnded(_) => 6,
        RecordContent::HoldDrawn(..) => 7,
        RecordContent::Charged(..) => 8,
        RecordContent::Forgiven(..) => 9,
        RecordContent::Deducted(..) => 10,
        RecordContent::Reversed(..) => 11,
        RecordContent::ReversedInAll(..) => 12,
    }
}

pub(super) const FACTS: u8 = 13;
