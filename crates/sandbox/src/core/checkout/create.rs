//! Creates sessions as strictly as Stripe does.

use url::Url;

use super::options::{options, trial};
use crate::core::{
    api::{
        payments::future_usage,
        prices::{inline_price, interval},
    },
    prelude::*,
};

const MAX_LINES: usize = 10;
const MAX_QUANTITY: i64 = 999_999;
const MINUTE: i64 = 60;
const MIN_LIFETIME: i64 = 30 * MINUTE;
const MAX_LIFETIME: i64 = 24 * 60 * MINUTE;
/// Tolerated difference between the shop's clock and ours.
const LEEWAY: i64 = 5 * MINUTE;

pub(crate) fn create(db: &mut Database, params: &Params) -> Result<Session> {
    let mode = need(params.choice("mode")?, "mode")?;
    let (customer, customer_email) = buyer(db, params)?;
    let has_customer = customer.is_some();
    let inner_path = inner(params, mode)?;
    let mut session = Session {
        mode,
        customer,
        customer_email,
        success_url: need(address(params, "success_url")?, "success_url")?,
        cancel_url: address(params, "cancel_url")?,
        always_customer: always_customer(params, mode, has_customer)?,
        expires_at: expires_at(params, db.now)?,
        reference: params.bounded("client_reference_id", 200)?,
        metadata: params.metadata("metadata")?,
        inner: params.metadata(&format!("{inner_path}[metadata]"))?,
        description: params.bounded(&format!("{inner_path}[description]"), 500)?,
        codes_allowed: params.flag("allow_promotion_codes")? == Some(true),
        trial: trial(params, mode, db.now)?,
        options: options(params, mode, has_customer)?,
        ..Session::default()
    };
    if mode == Mode::Payment {
        session.future_usage = future_usage(params, "payment_intent_data[setup_future_usage]")?;
    }
    without_effect(params, mode)?;
    if mode == Mode::Setup {
        return setup(db, params, session);
    }
    let basket = basket(db, params, mode)?;
    session.head = db.secret_head("cs_test_");
    session.currency = basket.currency;
    session.lines = basket.lines;
    one_currency(db, &session)?;
    discount(db, params, &mut session)?;
    params.finish()?;
    if mode == Mode::Payment {
        money::chargeable(session.total(), &session.currency)?;
    }
    for (price, product) in basket.inline {
        db.put(product);
        db.put(price);
    }
    Ok(db.stored(session))
}

/// A session on which a card is entered without a payment.
fn setup(db: &mut Database, params: &Params, mut session: Session) -> Result<Session> {
    const TYPES: &str = "allowed_payment_method_types";
    let message = "You can not pass `line_items` in `setup` mode.";
    Refusal::param("line_items", message).when(!params.below("line_items").is_empty())?;
    let currency = params.text("currency")?;
    Refusal::missing("currency").when(currency.is_none() && params.below(TYPES).is_empty())?;
    params.finish()?;
    let entry = SetupIntent {
        head: db.head("seti_"),
        customer: session.customer.clone(),
        description: session.description.clone(),
        metadata: session.inner.clone(),
        ..SetupIntent::default()
    };
    session.head = db.secret_head("cs_test_");
    session.payment_status = PaymentStatus::NoPaymentRequired;
    session.setup_intent = Some(entry.head.id.clone());
    db.put_and_emit("setup_intent.created", &entry);
    Ok(db.stored(session))
}

/// Whether a new buyer always becomes a customer.
fn always_customer(params: &Params, mode: Mode, has_customer: bool) -> Result<bool> {
    const PATH: &str = "customer_creation";
    let message = match params.word(PATH, &["always", "if_required"])? {
        Some(_) if mode == Mode::Subscription => {
            "`customer_creation` can only be used in `payment` and `setup` mode."
        }
        Some(_) if has_customer => {
            "You may only specify one of these parameters: customer, customer_creation."
        }
        word => return Ok(word == Some("always")),
    };
    Err(Refusal::param(PATH, message))
}

fn without_effect(params: &Params, mode: Mode) -> Result<()> {
    let words = ["auto", "book", "donate", "pay", "subscribe"];
    params.word("submit_type", &words)?;
    params.word("ui_mode", &["hosted", "hosted_page"])?;
    params.list("allowed_payment_method_types")?;
    if mode == Mode::Payment {
        params.text("payment_intent_data[receipt_email]")?;
        params.bounded("payment_intent_data[statement_descriptor_suffix]", 22)?;
    }
    Ok(())
}

/// A customer pays for all subscriptions in one currency.
pub(super) fn one_currency(db: &Database, session: &Session) -> Result<()> {
    let customer = session.customer.as_ref();
    let Some(customer) = customer.filter(|_| session.mode == Mode::Subscription) else {
        return Ok(());
    };
    let other = db.all::<Subscription>().find(|subscription| {
        subscription.customer == *customer
            && subscription.ended_at.is_none()
            && subscription.currency != session.currency
    });
    other.map_or(Ok(()), |other| {
        Err(Refusal::invalid(format!(
            "You cannot combine currencies on a single customer. This customer has an active \
             subscription, subscription schedule, discount, quote, or invoice item with currency {}.",
            other.currency
        )))
    })
}

/// An absolute URL that a browser can be sent to.
pub(crate) fn address(params: &Params, path: &str) -> Result<Option<String>> {
    let Some(text) = params.text(path)? else {
        return Ok(None);
    };
    let parsed = Url::parse(&text).ok();
    if parsed.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        return Ok(Some(text));
    }
    let message = "Not a valid URL: an absolute http or https URL is expected";
    Err(Refusal::param(path, message).with_code("url_invalid"))
}

fn buyer(db: &Database, params: &Params) -> Result<(Option<String>, Option<String>)> {
    let customer = params.text("customer")?;
    let email = params.bounded("customer_email", 512)?;
    match (&customer, &email) {
        (Some(_), Some(_)) => {
            return Err(Refusal::exclusive("customer", "customer, customer_email"));
        }
        (Some(id), None) => {
            db.named::<Customer>(id, "customer")?;
        }
        (None, Some(text)) => email::checked(text, "customer_email")?,
        _ => {}
    }
    Ok((customer, email))
}

fn expires_at(params: &Params, now: i64) -> Result<i64> {
    let Some(at) = params.integer::<i64>("expires_at")? else {
        return Ok(now.saturating_add(MAX_LIFETIME));
    };
    let open = at.saturating_sub(now);
    let message = "The `expires_at` timestamp must be at least 30 minutes from Checkout Session \
                   creation.";
    Refusal::param("expires_at", message).when(open < MIN_LIFETIME.saturating_sub(LEEWAY))?;
    let message = "The `expires_at` timestamp must be less than 24 hours from Checkout Session \
                   creation.";
    Refusal::param("expires_at", message).when(open > MAX_LIFETIME + LEEWAY)?;
    Ok(at)
}

/// The metadata parameter for what the session creates; those of other modes are refused.
fn inner(params: &Params, mode: Mode) -> Result<&'static str> {
    let data = |of: Mode| match of {
        Mode::Payment => "payment_intent_data",
        Mode::Subscription => "subscription_data",
        Mode::Setup => "setup_intent_data",
    };
    for other in [Mode::Payment, Mode::Subscription, Mode::Setup] {
        let (theirs, name) = (data(other), other.word());
        let message = format!("You can not pass `{theirs}` in a mode other than `{name}`.");
        Refusal::param(theirs, message).when(other != mode && !params.below(theirs).is_empty())?;
    }
    Ok(data(mode))
}

/// Applies the requested discount, a coupon or a promotion code, to a session.
fn discount(db: &Database, params: &Params, session: &mut Session) -> Result<()> {
    const COUPON: &str = "discounts[0][coupon]";
    let sent = params.below("discounts");
    let Some(first) = sent.first() else {
        return Ok(());
    };
    let codes_allowed = params.flag("allow_promotion_codes")?.is_some();
    Refusal::exclusive("allow_promotion_codes", "allow_promotion_codes, discounts")
        .when(codes_allowed)?;
    let message = "You may only specify one discount.";
    Refusal::param("discounts", message).when(sent.len() > 1)?;
    let coupon = params.text(&format!("discounts[{first}][coupon]"))?;
    let code = params.text(&format!("discounts[{first}][promotion_code]"))?;
    let (applied, param) = match (coupon, code) {
        (Some(coupon), None) => (promotions::apply_coupon(db, session, &coupon), COUPON),
        (None, Some(code)) => {
            let code = db.find::<PromotionCode>(&code);
            let applied = code.and_then(|code| promotions::apply_code(db, session, &code));
            (applied, "discounts[0][promotion_code]")
        }
        (Some(_), Some(_)) => return Err(Refusal::exclusive(COUPON, "coupon, promotion_code")),
        (None, None) => return Err(Refusal::missing(COUPON)),
    };
    applied.map_err(|refusal| refusal.of_param(param))
}

#[derive(Default)]
struct Basket {
    currency: String,
    lines: Vec<CheckoutLine>,
    /// Recurring prices that were described inline: renewals need them.
    inline: Vec<(Price, Product)>,
}

fn basket(db: &mut Database, params: &Params, mode: Mode) -> Result<Basket> {
    let names = params.below("line_items");
    Refusal::missing("line_items").when(names.is_empty())?;
    let message = format!("The sandbox takes up to {MAX_LINES} line items.");
    Refusal::param("line_items", message).when(names.len() > MAX_LINES)?;
    let mut basket = Basket::default();
    for name in names {
        let path = format!("line_items[{name}]");
        let (line, currency) = line(db, params, &path, &mut basket)?;
        let message = match mode {
            Mode::Payment | Mode::Setup => {
                "You specified `payment` mode but passed a recurring price. Either switch to \
                 `subscription` mode or use only one-time prices."
            }
            Mode::Subscription => {
                "You must provide at least one recurring price in `subscription` mode when using \
                 prices."
            }
        };
        Refusal::param(&path, message)
            .when((mode == Mode::Subscription) != line.interval.is_some())?;
        let message = "All line items must have the same currency.";
        Refusal::param(&path, message)
            .when(!basket.lines.is_empty() && currency != basket.currency)?;
        let first = basket.lines.first();
        let message = "All items of a subscription in the sandbox must have one interval.";
        Refusal::param(&path, message)
            .when(first.is_some_and(|first| first.interval != line.interval))?;
        basket.currency = currency;
        basket.lines.push(line);
    }
    money::amount(subtotal(&basket.lines), "line_items")?;
    Ok(basket)
}

fn line(
    db: &mut Database,
    params: &Params,
    path: &str,
    basket: &mut Basket,
) -> Result<(CheckoutLine, String)> {
    let quantity_path = format!("{path}[quantity]");
    let quantity = need(params.integer(&quantity_path)?, &quantity_path)?;
    Refusal::not_positive(&quantity_path).when(!(1..=MAX_QUANTITY).contains(&quantity))?;
    let price_path = format!("{path}[price]");
    let data_path = format!("{path}[price_data]");
    let inline = !params.below(&data_path).is_empty();
    let id = db.ids.usual("li_");
    let (price, name) = match params.text(&price_path)? {
        Some(_) if inline => {
            return Err(Refusal::exclusive(&price_path, "price, price_data"));
        }
        Some(price) => {
            let price: Price = db.named(&price, &price_path)?;
            let message = "The price specified is inactive. This field only accepts active prices.";
            Refusal::param(&price_path, message).when(!price.active)?;
            let product = db.get::<Product>(&price.product);
            let message = format!(
                "The price specified belongs to the product {}, which is not active.",
                price.product
            );
            Refusal::param(&price_path, message)
                .when(product.is_some_and(|product| !product.active))?;
            let name = db.product_name(&price.product);
            (price, name)
        }
        None if inline => {
            let every = interval(params, &format!("{data_path}[recurring]"))?;
            let (price, product) = inline_price(db, params, &data_path, every)?;
            let name = product.name.clone();
            if every.is_some() {
                basket.inline.push((price.clone(), product));
            }
            (price, name)
        }
        None => return Err(Refusal::missing(price_path)),
    };
    let line = CheckoutLine {
        id,
        name,
        price: price.head.id,
        product: price.product,
        unit_amount: price.unit_amount,
        quantity,
        interval: price.interval,
    };
    Ok((line, price.currency))
}
