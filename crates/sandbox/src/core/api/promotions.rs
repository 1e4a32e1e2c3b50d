//! Coupons and promotion codes.

use super::read;
use crate::core::prelude::*;

/// A text like `12.5` in hundredths of a percent, if it is valid.
fn percent(text: &str) -> Option<i64> {
    let hundredths = money::decimal(text, 2)?;
    (1..=10_000).contains(&hundredths).then_some(hundredths)
}

fn off(params: &Params) -> Result<DiscountAmount> {
    let amount = params.integer::<i64>("amount_off")?;
    match (params.text("percent_off")?, amount) {
        (Some(text), None) => percent(&text).map(DiscountAmount::Percent).ok_or_else(|| {
            let message = "Invalid percent_off: more than 0 and at most 100";
            Refusal::param("percent_off", message)
        }),
        (None, Some(amount)) if amount > 0 => Ok(DiscountAmount::Amount {
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

pub(super) fn create_coupon(db: &mut Database, params: &Params) -> Result<Value> {
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
    let id = params.bounded("id", 100)?;
    let coupon = Coupon {
        name: params.bounded("name", 40)?,
        off,
        duration,
        max_redemptions: params.integer("max_redemptions")?,
        redeem_by: params.integer("redeem_by")?,
        metadata: params.metadata("metadata")?,
        ..Coupon::default()
    };
    params.finish()?;
    let taken = |id: &String| db.get::<Coupon>(id).is_some() || id.contains(['/', '_']);
    let message = "Coupon already exists, or its id has a slash or an underscore.";
    Refusal::param("id", message)
        .with_code("resource_already_exists")
        .when(id.as_ref().is_some_and(taken))?;
    let id = id.unwrap_or_else(|| db.ids.usual(""));
    let head = db.head_of(id);
    Ok(db.stored(Coupon { head, ..coupon }).view(db))
}

pub(super) fn create(db: &mut Database, params: &Params) -> Result<Value> {
    const MINIMUM_IN: &str = "restrictions[minimum_amount_currency]";
    need(
        params.word("promotion[type]", &["coupon"])?,
        "promotion[type]",
    )?;
    let coupon = params.object::<Coupon>(db, "promotion[coupon]")?;
    let code = params.bounded("code", 100)?;
    let mut promotion = PromotionCode {
        coupon: need(coupon, "promotion[coupon]")?.head.id,
        customer: params
            .object::<Customer>(db, "customer")?
            .map(|customer| customer.head.id),
        active: params.flag("active")?.unwrap_or(true),
        expires_at: params.integer("expires_at")?,
        max_redemptions: params.integer("max_redemptions")?,
        first_time: params.flag("restrictions[first_time_transaction]")? == Some(true),
        metadata: params.metadata("metadata")?,
        ..PromotionCode::default()
    };
    if let Some(amount) = params.integer::<i64>("restrictions[minimum_amount]")? {
        let currency = params.required(MINIMUM_IN)?;
        promotion.minimum = Some((amount, money::currency(&currency, MINIMUM_IN)?));
    }
    params.finish()?;
    promotion.code = code.unwrap_or_else(|| {
        let random = db.ids.usual("").to_ascii_uppercase();
        random.chars().take(8).collect()
    });
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    Refusal::param("code", "A promotion code has letters, digits and dashes.")
        .when(!promotion.code.bytes().all(plain))?;
    let taken = db.all::<PromotionCode>().any(|other| {
        other.is_active(db.now)
            && other.customer == promotion.customer
            && other.code.eq_ignore_ascii_case(&promotion.code)
    });
    let message = format!(
        "An active promotion code with `code: {}` already exists.",
        promotion.code
    );
    Refusal::param("code", message).when(taken && promotion.active)?;
    promotion.head = db.head("promo_");
    Ok(db.stored(promotion).view(db))
}

pub(super) fn list(db: &Database, params: &Params) -> Result<Value> {
    let code = params.text("code")?;
    let active = params.flag("active")?;
    let rules = ["customer", "coupon"];
    read::some::<PromotionCode>(db, params, "promotion_codes", &rules, |promotion| {
        let same = |code: &String| promotion.code.eq_ignore_ascii_case(code);
        code.as_ref().is_none_or(same)
            && active.is_none_or(|active| promotion.is_active(db.now) == active)
    })
}
