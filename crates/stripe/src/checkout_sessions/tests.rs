//! The forms that are sent, pair by pair, and how a session is read.

use domain::{
    Quantity,
    catalog::{Interval, Price, Product},
    id::{OrderId, OrderSerial, PriceId, ProjectId, WalletKey},
    text::ExternalUserId,
};
use payments_port::OrderReference;

use super::*;
use crate::{form::lines, tests};

const PROJECT: &str = "proj_00000000000000000000000001";
const PRICE: &str = "price_00000000000000000000000003";
const ORDER: &str = "ord_0000000000000000000000000200000000000000000000000000";
const ORDER_ID: OrderId = OrderId {
    serial: OrderSerial(2),
    wallet: WalletKey([0; 16]),
};

/// An owned `CheckoutRequest`.
#[derive(Clone)]
struct SessionRequest {
    product: Product,
    price: Price,
    customer: Option<CustomerId>,
    email: Option<Email>,
    discount: Discount,
    save_card: bool,
    asks: CheckoutSettings,
}

impl SessionRequest {
    fn form(&self) -> Form {
        let request = CheckoutRequest {
            reference: OrderReference {
                project: ProjectId(1),
                order: ORDER_ID,
                price: PriceId(3),
                user: None,
                quantity: Quantity::ONE,
            },
            product: &self.product,
            price: &self.price,
            customer: self.customer.clone(),
            email: self.email.as_ref(),
            discount: &self.discount,
            success_url: "https://shop.example/ok?s={CHECKOUT_SESSION_ID}",
            cancel_url: "https://shop.example/no",
            locale: None,
            save_card: self.save_card,
            asks: self.asks,
        };
        let tier = StripePriceId::new("price_pro").ok();
        let tier = tier.filter(|_| self.price.interval == Interval::Month);
        let code = match &self.discount {
            Discount::Code(code) => PromotionCodeId::new(code.as_str()).ok(),
            Discount::None | Discount::BuyerMayEnter => None,
        };
        form(&request, tier.as_ref(), code.as_ref())
    }
}

fn once(currency: &str, amount_cents: i64) -> SessionRequest {
    SessionRequest {
        product: tests::product("500 credits"),
        price: Price {
            currency: currency.into(),
            amount_cents,
            ..tests::price()
        },
        customer: None,
        email: None,
        discount: Discount::None,
        save_card: false,
        asks: CheckoutSettings::NONE,
    }
}

fn tier() -> SessionRequest {
    let mut tier = once("USD", 0);
    tier.price.interval = Interval::Month;
    tier
}

fn marks(prefix: &str) -> [String; 3] {
    [
        format!("{prefix}[scrip_project_id]={PROJECT}"),
        format!("{prefix}[scrip_order_id]={ORDER}"),
        format!("{prefix}[scrip_price_id]={PRICE}"),
    ]
}

/// The pairs of a form: these, then what every form ends with.
fn expected(first: &[&str], inner: &str) -> Vec<String> {
    let mut lines: Vec<String> = first.iter().map(|&line| line.into()).collect();
    lines.extend([
        "success_url=https://shop.example/ok?s={CHECKOUT_SESSION_ID}".into(),
        "cancel_url=https://shop.example/no".into(),
        format!("client_reference_id={ORDER}"),
    ]);
    lines.extend(marks("metadata"));
    lines.extend(marks(inner));
    lines
}

#[test]
fn a_new_buyer_pays_once() {
    let pairs = [
        "mode=payment",
        "line_items[0][price_data][currency]=usd",
        "line_items[0][price_data][unit_amount]=499",
        "line_items[0][price_data][product_data][name]=500 credits",
        "line_items[0][quantity]=1",
        "customer_creation=always",
    ];
    assert_eq!(
        lines(&once("USD", 499).form()),
        expected(&pairs, "payment_intent_data[metadata]")
    );
}

#[test]
fn a_currency_without_decimals_is_not_multiplied() {
    let lines = lines(&once("JPY", 500).form());
    assert!(lines.contains(&"line_items[0][price_data][currency]=jpy".into()));
    assert!(lines.contains(&"line_items[0][price_data][unit_amount]=500".into()));
}

#[test]
fn a_tier_is_named_by_its_stored_price() {
    let pairs = [
        "mode=subscription",
        "line_items[0][price]=price_pro",
        "line_items[0][quantity]=1",
    ];
    assert_eq!(
        lines(&tier().form()),
        expected(&pairs, "subscription_data[metadata]")
    );
}

#[test]
fn a_buyer_is_a_customer_or_an_email_and_never_both() {
    let email = Email::new("a@b.example").ok();
    let customer = CustomerId::new("cus_1").ok();
    let filled = "customer_email=a@b.example";
    let table: [(SessionRequest, _, _, &[&str]); 5] = [
        (
            once("USD", 1),
            None,
            &email,
            &["customer_creation=always", filled],
        ),
        (
            once("USD", 1),
            customer.clone(),
            &email,
            &["customer=cus_1"],
        ),
        (tier(), None, &None, &[]),
        (tier(), None, &email, &[filled]),
        (tier(), customer, &email, &["customer=cus_1"]),
    ];
    for (asked, customer, email, expected) in table {
        let email = email.clone();
        let asked = SessionRequest {
            customer,
            email,
            ..asked
        };
        let mut lines = lines(&asked.form());
        lines.retain(|line| line.starts_with("customer"));
        assert_eq!(lines, expected);
    }
}

#[test]
fn a_promotion_is_given_or_left_to_the_buyer_and_never_both() {
    let table: [(Discount, &[&str]); 3] = [
        (Discount::None, &[]),
        (Discount::BuyerMayEnter, &["allow_promotion_codes=true"]),
        (
            Discount::Code("promo_1".into()),
            &["discounts[0][promotion_code]=promo_1"],
        ),
    ];
    for (discount, expected) in table {
        for asked in [once("USD", 1), tier()] {
            let discount = discount.clone();
            let mut lines = lines(&SessionRequest { discount, ..asked }.form());
            lines.retain(|line| line.starts_with("discounts") || line.starts_with("allow"));
            assert_eq!(lines, expected);
        }
    }
}

#[test]
fn a_card_is_kept_where_it_is_asked_for_and_can_be_charged_later() {
    let saving = |asked: SessionRequest| {
        let asked = SessionRequest {
            save_card: true,
            ..asked
        };
        let mut lines = lines(&asked.form());
        lines.retain(|line| line.contains("payment_method") || line.contains("future_usage"));
        lines
    };
    let kept = [
        "allowed_payment_method_types[0]=card",
        "payment_intent_data[setup_future_usage]=off_session",
    ];
    assert_eq!(saving(once("USD", 499)), kept);
    assert!(saving(tier()).is_empty(), "a subscription keeps its own");
}

#[test]
fn a_card_is_entered_without_a_payment() {
    let (email, user) = (Email::new("a@b.example").ok(), ExternalUserId::new("ann"));
    let user = user.unwrap();
    let setup = |customer: Option<&str>| {
        let request = CardSetupRequest {
            project: ProjectId(1),
            user: &user,
            customer: customer.and_then(|id| CustomerId::new(id).ok()),
            email: email.as_ref(),
            return_url: "https://shop.example/account",
            locale: Some("de"),
        };
        lines(&setup_form(&request))
    };
    let rest = [
        "success_url=https://shop.example/account".to_owned(),
        "cancel_url=https://shop.example/account".into(),
        "locale=de".into(),
        format!("metadata[scrip_project_id]={PROJECT}"),
        "metadata[scrip_external_user_id]=ann".into(),
    ];
    let with = |middle: &[&str]| {
        let first = ["mode=setup", "allowed_payment_method_types[0]=card"];
        let first = first.iter().chain(middle).map(|&line| line.to_owned());
        first.chain(rest.clone()).collect::<Vec<_>>()
    };
    let new = ["customer_creation=always", "customer_email=a@b.example"];
    assert_eq!(setup(None), with(&new));
    assert_eq!(setup(Some("cus_1")), with(&["customer=cus_1"]));
}

fn read(json: &str) -> Session {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_paid_session_is_read() {
    let session = read(&format!(
        r#"{{"id":"cs_test_1","object":"checkout.session","url":null,"status":"complete",
        "payment_status":"paid","mode":"payment","payment_intent":"pi_1","subscription":null,
        "invoice":null,"customer":"cus_1","customer_email":"old@b.example",
        "customer_details":{{"email":"a@b.example","name":"A"}},"amount_total":499,"currency":"usd",
        "client_reference_id":"{ORDER}","metadata":{{"scrip_order_id":"{ORDER}","x":"y"}},
        "expires_at":1754086340,"presentment_details":{{"presentment_amount":1}}}}"#
    ));
    assert!(session.is_paid());
    assert_eq!(session.email(), Some("a@b.example"));
    assert_eq!(session.metadata.order, Some(ORDER_ID));
    let intent = session.payment_intent.as_ref().map(Expandable::id);
    assert_eq!(intent.map(|intent| intent.as_str()), Some("pi_1"));
    assert_eq!(session.amount_total, Some(499));
}

#[test]
fn only_a_complete_session_whose_money_is_there_or_not_needed_is_paid() {
    for (status, payment, paid) in [
        ("complete", "paid", true),
        ("complete", "no_payment_required", true),
        ("complete", "unpaid", false),
        ("complete", "something_new", false),
        ("open", "unpaid", false),
        ("open", "no_payment_required", false),
        ("expired", "unpaid", false),
        ("something_new", "paid", false),
    ] {
        let session = read(&format!(
            r#"{{"id":"cs_1","status":"{status}","payment_status":"{payment}","mode":"payment"}}"#
        ));
        assert_eq!(session.is_paid(), paid, "{status} {payment}");
        assert_eq!((session.email(), &session.customer), (None, &None));
    }
}

const ALL: CheckoutSettings = CheckoutSettings {
    automatic_tax: true,
    collect_tax_ids: true,
    collect_billing_address: true,
    invoices: true,
    terms_of_service: true,
};

/// The names of a form that ask for something besides the payment.
fn asked(session: &SessionRequest) -> Vec<String> {
    let prefixes = [
        "automatic_tax",
        "billing_address_collection",
        "consent_collection",
        "customer_update",
        "invoice_creation",
        "tax_id_collection",
    ];
    let is_asked = |line: &String| prefixes.iter().any(|prefix| line.starts_with(prefix));
    lines(&session.form())
        .into_iter()
        .filter(is_asked)
        .collect()
}

#[test]
fn a_page_asks_beside_the_money_for_what_is_set_and_nothing_else() {
    assert!(asked(&once("USD", 499)).is_empty());
    let all = SessionRequest {
        asks: ALL,
        ..once("USD", 499)
    };
    assert_eq!(
        asked(&all),
        [
            "automatic_tax[enabled]=true",
            "tax_id_collection[enabled]=true",
            "billing_address_collection=required",
            "invoice_creation[enabled]=true",
            "consent_collection[terms_of_service]=required",
        ]
    );
    let terms = SessionRequest {
        asks: CheckoutSettings {
            terms_of_service: true,
            ..CheckoutSettings::NONE
        },
        ..tier()
    };
    assert_eq!(
        asked(&terms),
        ["consent_collection[terms_of_service]=required"]
    );
}

#[test]
fn a_subscription_has_invoices_without_being_asked() {
    let all = SessionRequest {
        asks: ALL,
        ..tier()
    };
    assert!(!asked(&all).iter().any(|line| line.contains("invoice")));
}

#[test]
fn what_a_known_buyer_enters_is_kept_where_tax_needs_it() {
    let known = |asks| SessionRequest {
        customer: CustomerId::new("cus_1").ok(),
        asks,
        ..once("USD", 499)
    };
    let updates = |asks| {
        let mut asked = asked(&known(asks));
        asked.retain(|line| line.starts_with("customer_update"));
        asked
    };
    assert_eq!(
        updates(ALL),
        [
            "customer_update[address]=auto",
            "customer_update[name]=auto"
        ]
    );
    let only_invoices = CheckoutSettings {
        invoices: true,
        terms_of_service: true,
        ..CheckoutSettings::NONE
    };
    assert!(updates(only_invoices).is_empty());
}
