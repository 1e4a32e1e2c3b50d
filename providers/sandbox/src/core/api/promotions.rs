//! Coupons and promotion codes.

use super::read;
use crate::core::prelude::*;

/// `12.5` as hundredths of a percent, where it is one.
fn percent(text: &str) -> Option<i64> {
    let hundredths = money::decimal(text, 2)?;
    (1..=10_000).contains(&hundredths).then_some(hundredths)
}

fn off(params: &Params) -> Result<Off> {
    let amount = params.integer::<i64>("amount_off")?;
    match (params.text("percent_off")?, amount) {
        (Some(text), None) => percent(&text).map(Off::Percent).ok_or_else(|| {
            let message = "Invalid percent_off: more than 0 and at most 100";
            Refusal::param("percent_off", message)
        }),
        (None, Some(amount)) if amount > 0 => Ok(Off::Amount {
            amount: money::amount(amount, "amount_off")?,
            currency: money::currency(&params.required("currency")?, "currency")?,
        }),
        (None, Some(_)) => Err(Refusal::not_positive("amount_off")),
        _ => {
            let message = "You must pass exactly one of percent_off and amount_off.";
            Err(Refusal::param("percent_off", message))
        }
    }
}

pub(super) fn create_coupon(books: &mut Books, params: &Params) -> Result<Value> {
    let off = off(params)?;
    let months = params.integer::<u32>("duration_in_months")?;
    let duration = match params.word("duration", &["once", "forever", "repeating"])? {
        Some("repeating") => {
            let months = months.filter(|months| *months > 0);
            Duration::Months(need(months, "duration_in_months")?)
        }
        Some("forever") => Duration::Forever,
        _ => Duration::Once,
    };
    let name = params.bounded("name", 40)?;
    let max_redemptions = params.integer("max_redemptions")?;
    let redeem_by = params.integer("redeem_by")?;
    let metadata = params.metadata("metadata")?;
    let id = params.bounded("id", 100)?;
    params.finish()?;
    if let Some(id) = &id
        && (books.get::<Coupon>(id).is_some() || id.contains(['/', '_']))
    {
        let message = "Coupon already exists, or its id has a slash or an underscore.";
        return Err(Refusal::param("id", message).with_code("resource_already_exists"));
    }
    let id = id.unwrap_or_else(|| books.ids.usual(""));
    let coupon = Coupon {
        head: books.head_of(id),
        name,
        off,
        duration,
        max_redemptions,
        redeem_by,
        metadata,
        ..Coupon::default()
    };
    books.put(coupon.clone());
    Ok(coupon.view(books))
}

pub(super) fn create(books: &mut Books, params: &Params) -> Result<Value> {
    const MINIMUM_IN: &str = "restrictions[minimum_amount_currency]";
    need(
        params.word("promotion[type]", &["coupon"])?,
        "promotion[type]",
    )?;
    let coupon = params.required("promotion[coupon]")?;
    let code = params.bounded("code", 100)?;
    let customer = params.text("customer")?;
    let active = params.flag("active")?.unwrap_or(true);
    let expires_at = params.integer("expires_at")?;
    let max_redemptions = params.integer("max_redemptions")?;
    let first_time = params.flag("restrictions[first_time_transaction]")? == Some(true);
    let minimum = match params.integer::<i64>("restrictions[minimum_amount]")? {
        Some(amount) => {
            let currency = params.required(MINIMUM_IN)?;
            Some((amount, money::currency(&currency, MINIMUM_IN)?))
        }
        None => None,
    };
    let metadata = params.metadata("metadata")?;
    params.finish()?;
    books.named::<Coupon>(&coupon, "promotion[coupon]")?;
    if let Some(customer) = &customer {
        books.named::<Customer>(customer, "customer")?;
    }
    let code = code.unwrap_or_else(|| {
        let random = books.ids.usual("").to_ascii_uppercase();
        random.chars().take(8).collect()
    });
    let message = "A promotion code has letters, digits and dashes.";
    Refusal::param("code", message)
        .when(!code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))?;
    let now = books.now;
    let taken = books.all::<PromotionCode>().any(|other| {
        other.is_active(now) && other.customer == customer && other.code.eq_ignore_ascii_case(&code)
    });
    let message = format!("An active promotion code with `code: {code}` already exists.");
    Refusal::param("code", message).when(taken && active)?;
    let promotion = PromotionCode {
        head: books.head("promo_"),
        code,
        coupon,
        active,
        customer,
        expires_at,
        max_redemptions,
        first_time,
        minimum,
        metadata,
        ..PromotionCode::default()
    };
    books.put(promotion.clone());
    Ok(promotion.view(books))
}

pub(super) fn list(books: &Books, params: &Params) -> Result<Value> {
    let code = params.text("code")?;
    let active = params.flag("active")?;
    let rules = ["customer", "coupon"];
    read::some::<PromotionCode>(books, params, "promotion_codes", &rules, |promotion| {
        let same = |code: &String| promotion.code.eq_ignore_ascii_case(code);
        code.as_ref().is_none_or(same)
            && active.is_none_or(|active| promotion.is_active(books.now) == active)
    })
}
