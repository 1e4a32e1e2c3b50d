//! Every change that there is.

use std::collections::BTreeSet;

use domain::{
    Timestamp,
    catalog::Interval,
    history::{DeductionRef, Reason, Taker},
    id::{
        CodeHash, HoldId, KeyId, OrderSerial, PriceId, ProductId, ProjectId, PublicSubscriptionId,
        WalletId,
    },
    limit::{
        Count, Counted, Limit, LimitAlert, LimitSource, LimitState, LimitUnit, LimitWindow,
        ScopeKind, TimeZoneName,
    },
    rate_card::{Attributes, Carried, Cost, Quantities, Rate, RateCardSlug, RateTable, RatedUse},
    terms::Terms,
    text::{
        CardId, CheckoutId, CustomerId, Email, Feature, FreezeReason, IdempotencyKey, InvoiceId,
        Member, Meta, PaymentId, SubscriptionId,
    },
    time::Period,
    top_up::{CardBrand, CardDigits, SavedCard, TopUpChange},
    wallet::{
        Change, Charged, Created, DeductionReversed, Instruction, InstructionRecord,
        InstructionStage, NamedSubscription, OrderKind, Owner, RefundPart, Reversal, Step,
        Subscription, SubscriptionStatus, TakenLot, TierSwitch,
        event::{OrderClosed, OrderPaid, OrderPlaced, SubscriptionChanged, SubscriptionEvent},
        order::OrderErased,
        taken::LastLot,
    },
};

use super::{KEY, LATER, NOW, PRODUCT, amount};

const HOLD: HoldId = HoldId {
    serial: 77,
    wallet: KEY,
};
const OTHER_HOLD: HoldId = HoldId {
    serial: 78,
    wallet: KEY,
};
const PROJECT: ProjectId = ProjectId(6);

fn card() -> SavedCard {
    SavedCard {
        customer: CustomerId::new("cus_1").unwrap(),
        id: CardId::new("pm_1").unwrap(),
        brand: CardBrand::new("visa").unwrap(),
        last4: CardDigits::new("4242").unwrap(),
        exp_month: 12,
        exp_year: 2031,
        saved_at: NOW,
    }
}

fn text(key: &str) -> IdempotencyKey {
    IdempotencyKey::new(key).unwrap()
}

/// Every kind of change, in an order that a wallet can live through.
pub(super) fn changes() -> Vec<Change> {
    let mut changes = credits();
    changes.extend(orders());
    changes.extend(subscriptions());
    changes.extend(instructions());
    changes
}

pub(super) fn creations() -> [Change; 3] {
    let owners = [
        Owner::Code {
            hash: CodeHash([8; 16]),
            sealed: Box::new([1, 2, 3]),
        },
        Owner::External(domain::text::ExternalUserId::new("user-é").unwrap()),
        Owner::Order,
    ];
    owners.map(|owner| {
        Change::Created(Box::new(Created {
            id: WalletId(5),
            project: PROJECT,
            owner,
        }))
    })
}

/// A use of which half a credit is carried.
fn rated() -> Box<RatedUse> {
    let rates = r#"[{"match": {}, "unitPrices": {"input": "0.5"}}]"#;
    let table = RateTable::new(&serde_json::from_str::<Vec<Rate>>(rates).unwrap()).unwrap();
    let attributes = Attributes::new([("model".into(), "m".into())].into()).unwrap();
    let quantities = Quantities::new([("input".into(), 1)].into()).unwrap();
    let cost = table.cost(&attributes, &quantities).unwrap().cost;
    Box::new(RatedUse {
        card: RateCardSlug::new("chat").unwrap(),
        version: 2,
        attributes,
        quantities,
        cost,
        carried: Carried::ZERO.charge(cost, Cost::default()).1,
    })
}

fn limit() -> Limit {
    Limit {
        scope: "feature:chat".parse().unwrap(),
        amount: 300,
        window: LimitWindow::Month,
        unit: LimitUnit::Credits,
        time_zone: TimeZoneName::new("Europe/Berlin").ok(),
        product: Some(PRODUCT),
        alerts_at: vec![50, 80],
    }
}

/// A use that a limit counts and alerts of.
fn counted() -> Box<Counted> {
    let state = LimitState {
        limit: limit(),
        source: LimitSource::Product,
        used: 150,
        held: 1,
        starts_at: Some(NOW),
        resets_at: None,
    };
    let member = Member::new("é").ok();
    Box::new(Counted {
        member: member.clone(),
        feature: Some("chat".into()),
        key: Some(KeyId(5)),
        counts: vec![Count {
            kind: ScopeKind::Feature,
            window: LimitWindow::Month,
            unit: LimitUnit::Credits,
            of_product: true,
            since: 6,
            starts_at: NOW,
            ends_at: LATER,
        }],
        is_operation: true,
        alerts: vec![LimitAlert {
            state,
            percent: Some(50),
            member,
        }],
    })
}

fn credits() -> Vec<Change> {
    let meta = Some(Meta::new(r#"{"job":"é"}"#).unwrap());
    let feature = Feature::new("export.pdf").unwrap();
    let hold = |hold, key| Change::HoldPlaced {
        hold,
        product: PRODUCT,
        amount: 300,
        expires_at: LATER,
        key: text(key),
        meta: meta.clone(),
        publishable: true,
        rotations: 0,
        max_overrun: 0,
        rate: None,
        counted: None,
    };
    let owner = Owner::Code {
        hash: CodeHash(KEY.0),
        sealed: Box::new([1, 2, 3]),
    };
    vec![
        Change::Created(Box::new(Created {
            id: WalletId(5),
            project: PROJECT,
            owner,
        })),
        Change::CodeRotated {
            hash: CodeHash([9; 16]),
            sealed: Box::new([4, 5]),
            former: Some(CodeHash(KEY.0)),
        },
        Change::FreeGranted {
            product: PRODUCT,
            credits: amount(100),
            period: Period::Daily,
            start: NOW,
            end: LATER,
        },
        Change::Granted {
            product: PRODUCT,
            amount: amount(9_000_000_000_000),
            expires_at: None,
            key: text("grant"),
            meta: None,
        },
        Change::Deducted {
            product: PRODUCT,
            amount: 7,
            key: text("deduction"),
            meta: meta.clone(),
            rate: None,
            counted: Some(counted()),
        },
        Change::Deducted {
            product: PRODUCT,
            amount: 0,
            key: text("use"),
            meta: None,
            rate: Some(rated()),
            counted: None,
        },
        hold(HOLD, "hold"),
        Change::HoldExtended {
            hold: HOLD,
            expires_at: Timestamp(LATER.0 + 1),
        },
        Change::HoldSettled {
            hold: HOLD,
            amount: 250,
            owed: 0,
            uncovered: 10,
            meta: meta.clone(),
            rate: None,
            counted: None,
        },
        hold(OTHER_HOLD, "second hold"),
        Change::HoldReleased { hold: OTHER_HOLD },
        hold(
            HoldId {
                serial: 79,
                wallet: KEY,
            },
            "third hold",
        ),
        Change::HoldExpired {
            hold: HoldId {
                serial: 79,
                wallet: KEY,
            },
        },
        hold(
            HoldId {
                serial: 80,
                wallet: KEY,
            },
            "open hold",
        ),
        Change::HoldDrawn {
            hold: HoldId {
                serial: 80,
                wallet: KEY,
            },
            amount: 310,
            key: text("draw"),
            meta: meta.clone(),
            rate: None,
            counted: None,
        },
        Change::Charged(Box::new(Charged {
            product: PRODUCT,
            amount: 50,
            charged: 10,
            owed: 35,
            key: text("short"),
            meta: meta.clone(),
            lot: Some(LastLot {
                number: 1,
                ends_at: LATER,
            }),
            rate: None,
            counted: None,
            drawn_cost: Cost::default(),
        })),
        // Nothing is owed in the end: a wallet without a user must not.
        Change::Forgiven {
            product: PRODUCT,
            requested: Some(amount(40)),
            amount: amount(35),
            key: text("forgiven"),
            meta: meta.clone(),
        },
        Change::DebtLimitChanged {
            product: PRODUCT,
            limit: Some(60),
        },
        Change::DebtLimitChanged {
            product: PRODUCT,
            limit: None,
        },
        Change::FeatureGranted {
            feature: feature.clone(),
        },
        Change::FeatureRevoked { feature },
        Change::SessionsRevoked,
        Change::Unfrozen,
        Change::Frozen { reason: None },
        Change::Frozen {
            reason: FreezeReason::new("a stolen card").ok(),
        },
        Change::DeductionReversed(Box::new(DeductionReversed {
            deduction: DeductionRef { seq: 6, at: NOW },
            product: PRODUCT,
            requested: Some(amount(5)),
            amount: amount(5),
            key: text("reversed"),
            meta: meta.clone(),
            counted: Some(counted().kept()),
            lots: vec![TakenLot {
                number: 1,
                credits: 5,
                source: Reason::Manual,
                expires_at: Timestamp::NEVER,
                order: None,
                cycle: None,
                price: None,
            }],
        })),
        Change::LimitsSet {
            limits: vec![limit()],
            others: vec![limit()],
        },
        Change::LimitRefused(counted(), PRODUCT),
        Change::TopUp(Box::new(TopUpChange::CardSaved(card()))),
        Change::EmailSet(Email::new("jo@mail.example").ok()),
        Change::ReversedInAll {
            of: Taker::Deduction(6),
            credits: amount(5),
        },
        Change::FeatureGranted {
            feature: Feature::new("kept").unwrap(),
        },
        Change::Granted {
            product: ProductId(2),
            amount: amount(5),
            expires_at: Some(LATER),
            key: text("expiring"),
            meta: None,
        },
        Change::LotExpired {
            product: ProductId(2),
            lot: 0,
            amount: amount(5),
        },
    ]
}

fn terms() -> Terms {
    Terms {
        price: PriceId(4),
        product: PRODUCT,
        fills: ProductId(3),
        credits: 100,
        expire_after_days: Some(30),
        rollover: true,
        repeatable: true,
        features: BTreeSet::from([Feature::new("export").unwrap()]),
        interval: Interval::Month,
        trial_days: None,
        trial_credits: 0,
        label: Some("Pro".into()),
        amount_cents: 999,
        currency: "EUR".into(),
    }
}

fn subscription() -> SubscriptionId {
    SubscriptionId::new("sub_1").unwrap()
}

fn orders() -> Vec<Change> {
    let placed = |order, kind| {
        let checkout = kind == OrderKind::Checkout;
        Change::OrderPlaced(Box::new(OrderPlaced {
            order: OrderSerial(order),
            project: PROJECT,
            kind,
            terms: terms(),
            checkout: checkout.then(|| CheckoutId::new("cs_1").unwrap()),
            email: checkout.then(|| Email::new("Jo@mail.example").unwrap()),
            expires_at: LATER,
            quantity: domain::Quantity::new(3).unwrap(),
            metadata: domain::metadata::Metadata::new([("job".into(), "é".into())].into()).unwrap(),
            locale: None,
            names_code: false,
            rotations: 0,
        }))
    };
    let closed = |order| OrderClosed {
        order: OrderSerial(order),
        project: PROJECT,
        expires_at: LATER,
    };
    let paid = |order, credits| {
        Change::OrderPaid(Box::new(OrderPaid {
            order: OrderSerial(order),
            project: PROJECT,
            kind: OrderKind::Checkout,
            expires_at: LATER,
            amount_cents: 999,
            credits,
            credits_expire_at: (credits > 0).then_some(LATER),
            payment: Some(PaymentId::new("pi_1").unwrap()),
            invoice: Some(InvoiceId::new("in_1").unwrap()),
            subscription: Some(subscription()),
            customer: Some(CustomerId::new("cus_1").unwrap()),
            email: Some(Email::new("Jo@mail.example").unwrap()),
            receipt: domain::wallet::Receipt {
                provider: Some(domain::wallet::ProviderKind::Stripe),
                livemode: true,
                receipt_url: Some(domain::text::PageUrl::new("https://pay.example/r").unwrap()),
                invoice_url: Some(domain::text::PageUrl::new("https://pay.example/i").unwrap()),
            },
        }))
    };
    let reversed = |order, credits| Change::OrderReversed {
        order: OrderSerial(order),
        reversal: Reversal {
            refunded_cents: 500,
            disputed_cents: 300,
            dispute: Some(domain::wallet::Dispute {
                opened_at: NOW,
                amount_cents: 300,
                currency: domain::wallet::Currency::new("EUR").unwrap(),
                reason: domain::wallet::DisputeReason::named("fraudulent"),
                respond_by: Some(NOW),
                inquiry: false,
                won: None,
            }),
            as_of: NOW,
        },
        credits,
    };
    vec![
        placed(1 << 100, OrderKind::Checkout),
        paid(1 << 100, 100),
        reversed(1 << 100, -60),
        reversed(1 << 100, 10),
        // Of an order that is not known yet.
        reversed(9, 0),
        placed(2, OrderKind::Renewal),
        paid(2, 0),
        placed(3, OrderKind::Checkout),
        Change::OrderProcessing {
            order: OrderSerial(3),
            on_its_way: true,
        },
        Change::OrderFailed(closed(3)),
        Change::OrderErased(Box::new(OrderErased {
            order: OrderSerial(3),
            project: PROJECT,
            email: Email::new("kunde@beispiel.example").ok(),
        })),
        placed(4, OrderKind::Checkout),
        Change::OrderExpired(closed(4)),
        Change::OrderArchived {
            order: OrderSerial(1 << 100),
        },
    ]
}

fn subscriptions() -> Vec<Change> {
    vec![
        Change::SubscriptionChanged(Box::new(SubscriptionChanged {
            project: ProjectId(6),
            former_end: Some(NOW),
            subscription_event: Some(SubscriptionEvent::PastDue),
            subscription: Subscription {
                id: subscription(),
                customer: Some(CustomerId::new("cus_1").unwrap()),
                paid_tier: terms(),
                tier_switch: Some(Box::new(TierSwitch {
                    order: OrderSerial(3),
                    terms: terms(),
                    at: NOW,
                    reversed: true,
                })),
                reported_tier: Some(Box::new(terms())),
                status: SubscriptionStatus::PastDue,
                open_invoice: Some(Box::new(domain::wallet::OpenInvoice {
                    amount_cents: 900,
                    currency: domain::wallet::Currency::new("EUR").unwrap(),
                    url: domain::text::PageUrl::new("https://pay.example/i").unwrap(),
                    next_attempt_at: Some(LATER),
                })),
                collection_paused: true,
                cycle_start: NOW,
                cycle_end: LATER,
                current_period_end: LATER,
                cancel_at_period_end: true,
                past_due_since: Some(NOW),
                grace_ends_at: Some(LATER),
                order: Some(OrderSerial(1 << 100)),
                reversed: true,
                steps: vec![Step {
                    order: OrderSerial(3),
                    product: ProductId(3),
                    from: 100,
                    to: 250,
                    at: NOW,
                    until: LATER,
                    reversed: false,
                }],
                reported_at: NOW,
                cycles_ended: 2,
                cycle_ended_at: Some(NOW),
            },
        })),
        Change::CycleEnded {
            subscription: subscription(),
            ends_at: LATER,
        },
        Change::SubscriptionGone {
            subscription: SubscriptionId::new("sub_2").unwrap(),
        },
    ]
}

fn instructions() -> Vec<Change> {
    let instructed = |key, instruction: &Instruction, stage| {
        Change::Instructed(Box::new(InstructionRecord {
            key: text(key),
            instruction: instruction.clone(),
            stage,
        }))
    };
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
    let (part, rest) = (refund(Some(400), 400), refund(None, 599));
    let cancel = Instruction::Cancel {
        subscription: subscription(),
        named: NamedSubscription::Of(PRODUCT),
        at_period_end: true,
    };
    let resume = Instruction::Resume {
        subscription: subscription(),
        named: NamedSubscription::Id(PublicSubscriptionId(5), Some(PRODUCT)),
    };
    vec![
        instructed("part", &part, InstructionStage::Requested),
        instructed("part", &part, InstructionStage::Done),
        instructed("rest", &rest, InstructionStage::Requested),
        instructed("rest", &rest, InstructionStage::REFUSED),
        instructed("é", &cancel, InstructionStage::Requested),
        instructed("é", &resume, InstructionStage::Done),
    ]
}

/// A change's name, in the order of the log's numbers.
pub(super) const fn name(change: &Change) -> &'static str {
    match change {
        Change::Created(_) => NAMES[0],
        Change::CodeRotated { .. } => NAMES[1],
        Change::FreeGranted { .. } => NAMES[2],
        Change::LotExpired { .. } => NAMES[3],
        Change::Granted { .. } => NAMES[4],
        Change::Deducted { .. } => NAMES[5],
        Change::HoldPlaced { .. } => NAMES[6],
        Change::HoldExtended { .. } => NAMES[7],
        Change::HoldSettled { .. } => NAMES[8],
        Change::HoldReleased { .. } => NAMES[9],
        Change::HoldExpired { .. } => NAMES[10],
        Change::FeatureGranted { .. } => NAMES[11],
        Change::FeatureRevoked { .. } => NAMES[12],
        Change::OrderPlaced(_) => NAMES[13],
        Change::OrderPaid(_) => NAMES[14],
        Change::OrderFailed(_) => NAMES[15],
        Change::OrderExpired(_) => NAMES[16],
        Change::OrderReversed { .. } => NAMES[17],
        Change::SubscriptionChanged(_) => NAMES[18],
        Change::SubscriptionGone { .. } => NAMES[19],
        Change::CycleEnded { .. } => NAMES[20],
        Change::OrderArchived { .. } => NAMES[21],
        Change::OrderRecalled(_) => NAMES[22],
        Change::Instructed(_) => NAMES[23],
        Change::OrderProcessing { .. } => NAMES[24],
        Change::SessionsRevoked => NAMES[25],
        Change::HoldDrawn { .. } => NAMES[26],
        Change::Charged(_) => NAMES[27],
        Change::Forgiven { .. } => NAMES[28],
        Change::DebtLimitChanged { .. } => NAMES[29],
        Change::Frozen { .. } => NAMES[30],
        Change::Unfrozen => NAMES[31],
        Change::DeductionReversed(_) => NAMES[32],
        Change::ReversedInAll { .. } => NAMES[33],
        Change::OrderErased(_) => NAMES[34],
        Change::LimitsSet { .. } => NAMES[35],
        Change::LimitRefused(..) => NAMES[36],
        Change::TopUp(_) => NAMES[37],
        Change::EmailSet(_) => NAMES[38],
    }
}

/// All of them.
pub(super) const NAMES: [&str; 39] = [
    "Created",
    "CodeRotated",
    "FreeGranted",
    "LotExpired",
    "Granted",
    "Deducted",
    "HoldPlaced",
    "HoldExtended",
    "HoldSettled",
    "HoldReleased",
    "HoldExpired",
    "FeatureGranted",
    "FeatureRevoked",
    "OrderPlaced",
    "OrderPaid",
    "OrderFailed",
    "OrderExpired",
    "OrderReversed",
    "SubscriptionChanged",
    "SubscriptionGone",
    "CycleEnded",
    "OrderArchived",
    "OrderRecalled",
    "Instructed",
    "OrderProcessing",
    "SessionsRevoked",
    "HoldDrawn",
    "Charged",
    "Forgiven",
    "DebtLimitChanged",
    "Frozen",
    "Thawed",
    "DeductionReversed",
    "ReversedInAll",
    "OrderErased",
    "LimitsSet",
    "LimitRefused",
    "TopUp",
    "EmailSet",
];
