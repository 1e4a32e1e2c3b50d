//! Coupons and promotion codes: whether one may be used, its discount, and the two initial ones of every sandbox.

use crate::core::prelude::*;

/// Initial codes: the code, hundredths of a percent off, the coupon's name.
const SEEDED: [(&str, i64, &str); 2] = [
    ("SANDBOX20", 2_000, "20% off"),
    ("SANDBOX100", 10_000, "100% off"),
];

pub(crate) fn seed(db: &mut Database) {
    for (code, hundredths, name) in SEEDED {
        let lower = code.to_ascii_lowercase();
        if db.get::<Coupon>(&lower).is_some() {
            continue;
        }
        let (coupon, promotion) = (lower.clone(), format!("promo_{lower}"));
        let head = db.head_of(coupon);
        db.put(Coupon {
            head,
            name: Some(name.into()),
            off: DiscountAmount::Percent(hundredths),
            ..Coupon::default()
        });
        let head = db.head_of(promotion);
        db.put(PromotionCode {
            head,
            code: code.into(),
            coupon: lower,
            active: true,
            ..PromotionCode::default()
        });
    }
}

/// The promotion code with this text: the buyer's own, or else everybody's.
pub(crate) fn typed(db: &Database, text: &str, customer: Option<&str>) -> Option<PromotionCode> {
    let mut usable = db.copies::<PromotionCode>(|code| {
        code.code.eq_ignore_ascii_case(text.trim())
            && code.is_active(db.now)
            && (code.customer.is_none() || code.customer.as_deref() == customer)
    });
    usable.sort_by_key(|code| code.customer.is_none());
    usable.into_iter().next()
}

pub(crate) fn apply_code(db: &Database, session: &mut Session, code: &PromotionCode) -> Result<()> {
    Refusal::invalid("This promotion code is not active.").when(!code.is_active(db.now))?;
    Refusal::invalid("This promotion code cannot be used by this customer.")
        .when(code.customer.is_some() && code.customer != session.customer)?;
    let is_below = |(minimum, currency): &(i64, String)| {
        *currency != session.currency || session.subtotal() < *minimum
    };
    Refusal::invalid("This purchase is below the promotion code's minimum amount.")
        .when(code.minimum.as_ref().is_some_and(is_below))?;
    let bought = |intent: &PaymentIntent| {
        intent.status == IntentStatus::Succeeded
            && intent.customer.is_some()
            && intent.customer == session.customer
    };
    Refusal::invalid("This promotion code is for a first purchase only.")
        .when(code.first_time && db.all().any(bought))?;
    apply_coupon(db, session, &code.coupon)?;
    session.code = Some(code.head.id.clone());
    Ok(())
}

pub(crate) fn apply_coupon(db: &Database, session: &mut Session, coupon: &str) -> Result<()> {
    let coupon: Coupon = db.find(coupon)?;
    Refusal::invalid("This coupon can no longer be used.").when(!coupon.is_valid(db.now))?;
    let other = |off: &DiscountAmount| matches!(off, DiscountAmount::Amount { currency, .. } if *currency != session.currency);
    Refusal::invalid("This coupon is for another currency.").when(other(&coupon.off))?;
    session.discount = coupon.off.of(session.subtotal());
    session.coupon = Some(coupon.head.id);
    session.code = None;
    Ok(())
}

/// Counts that a session's discount was used.
pub(crate) fn redeem(db: &mut Database, session: &Session) {
    let id = |id: &Option<String>| id.clone().unwrap_or_default();
    if let Ok(mut code) = db.find::<PromotionCode>(&id(&session.code)) {
        code.times_redeemed = code.times_redeemed.saturating_add(1);
        db.put(code);
    }
    if let Ok(mut coupon) = db.find::<Coupon>(&id(&session.coupon)) {
        coupon.times_redeemed = coupon.times_redeemed.saturating_add(1);
        db.put(coupon);
    }
}
