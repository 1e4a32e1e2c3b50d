//! Coupons and the codes for them: whether one may be used, what it takes off, and the two that
//! every sandbox begins with.

use crate::core::prelude::*;

/// Codes that people can try: what they type, hundredths of a percent, what it is called.
const SEEDED: [(&str, i64, &str); 2] = [
    ("SANDBOX20", 2_000, "20% off"),
    ("SANDBOX100", 10_000, "100% off"),
];

/// Puts the seeded codes in where they are not yet.
pub(crate) fn seed(books: &mut Books) {
    for (code, hundredths, name) in SEEDED {
        let lower = code.to_ascii_lowercase();
        if books.get::<Coupon>(&lower).is_some() {
            continue;
        }
        let (coupon, promotion) = (lower.clone(), format!("promo_{lower}"));
        let head = books.head_of(coupon);
        books.put(Coupon {
            head,
            name: Some(name.into()),
            off: Off::Percent(hundredths),
            ..Coupon::default()
        });
        let head = books.head_of(promotion);
        books.put(PromotionCode {
            head,
            code: code.into(),
            coupon: lower,
            active: true,
            ..PromotionCode::default()
        });
    }
}

/// The code that a buyer means: their own, else everybody's.
pub(crate) fn typed(books: &Books, text: &str, customer: Option<&str>) -> Option<PromotionCode> {
    let mut found = books.copies::<PromotionCode>(|code| {
        code.code.eq_ignore_ascii_case(text.trim())
            && code.is_active(books.now)
            && (code.customer.is_none() || code.customer.as_deref() == customer)
    });
    found.sort_by_key(|code| code.customer.is_none());
    found.into_iter().next()
}

/// Puts a code on a session.
pub(crate) fn apply_code(books: &Books, session: &mut Session, code: &PromotionCode) -> Result<()> {
    let invalid = |message: &str| Err(Refusal::invalid(message));
    if !code.is_active(books.now) {
        return invalid("This promotion code is not active.");
    }
    if code.customer.is_some() && code.customer != session.customer {
        return invalid("This promotion code cannot be used by this customer.");
    }
    if let Some((minimum, currency)) = &code.minimum
        && (*currency != session.currency || session.subtotal() < *minimum)
    {
        return invalid("This purchase is below the promotion code's minimum amount.");
    }
    if code.first_time
        && books.all::<Intent>().any(|intent| {
            intent.status == IntentStatus::Succeeded
                && intent.customer.is_some()
                && intent.customer == session.customer
        })
    {
        return invalid("This promotion code is for a first purchase only.");
    }
    apply_coupon(books, session, &code.coupon)?;
    session.code = Some(code.head.id.clone());
    Ok(())
}

/// Puts a coupon on a session.
pub(crate) fn apply_coupon(books: &Books, session: &mut Session, coupon: &str) -> Result<()> {
    let coupon: Coupon = books.find(coupon)?;
    Refusal::invalid("This coupon can no longer be used.").when(!coupon.is_valid(books.now))?;
    if let Off::Amount { currency, .. } = &coupon.off
        && *currency != session.currency
    {
        return Err(Refusal::invalid("This coupon is for another currency."));
    }
    session.discount = coupon.off.of(session.subtotal());
    session.coupon = Some(coupon.head.id);
    session.code = None;
    Ok(())
}

/// Counts that a session's discount was used.
pub(crate) fn redeem(books: &mut Books, session: &Session) {
    let code = session.code.as_ref();
    if let Some(mut code) = code.and_then(|id| books.get::<PromotionCode>(id)).cloned() {
        code.times_redeemed = code.times_redeemed.saturating_add(1);
        books.put(code);
    }
    let coupon = session.coupon.as_ref();
    if let Some(mut coupon) = coupon.and_then(|id| books.get::<Coupon>(id)).cloned() {
        coupon.times_redeemed = coupon.times_redeemed.saturating_add(1);
        books.put(coupon);
    }
}
