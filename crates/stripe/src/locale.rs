//! The languages of Stripe's page, chosen by a language tag (BCP 47).

/// Locales that Checkout supports. Source: Stripe, "Create a Checkout Session", `locale`.
const SUPPORTED: [&str; 41] = [
    "auto", "bg", "cs", "da", "de", "el", "en", "en-GB", "es", "es-419", "et", "fi", "fil", "fr",
    "fr-CA", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "ms", "mt", "nb", "nl", "pl", "pt",
    "pt-BR", "ro", "ru", "sk", "sl", "sv", "th", "tr", "vi", "zh", "zh-HK", "zh-TW",
];

/// Regions with Latin American Spanish (CLDR, parent locales of `es-419`).
const LATIN_AMERICA: &str = "419 AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE";

/// The supported locale nearest to a language tag; `None` if there is none, and the page follows the browser.
pub(crate) fn nearest(tag: &str) -> Option<&'static str> {
    let subtags: Vec<&str> = tag.split('-').collect();
    let language = subtags.first()?.to_ascii_lowercase();
    // A subtag of one letter begins an extension, which names no place.
    let named = || subtags.iter().skip(1).take_while(|part| part.len() > 1);
    let has = |wanted: &str| named().any(|part| part.eq_ignore_ascii_case(wanted));
    let region = named().find(|part| part.len() == 2 || part.len() == 3 && is_number(part));
    let language = match language.as_str() {
        // Checkout has one of Norwegian's written forms; the others are older names or close relatives.
        "no" | "nn" => "nb",
        "tl" => "fil",
        "in" => "id",
        "cmn" => "zh",
        "yue" if !has("Hans") => return supported("zh-HK"),
        "yue" => "zh",
        other => other,
    };
    let place = region.map(|region| region.to_ascii_uppercase());
    match (language, place.as_deref()) {
        ("zh", _) if has("Hans") => supported("zh"),
        ("zh", Some("HK" | "MO")) => supported("zh-HK"),
        ("zh", _) if has("Hant") => supported("zh-TW"),
        ("es", Some(place)) if LATIN_AMERICA.split(' ').any(|of| of == place) => {
            supported("es-419")
        }
        (language, Some(place)) => {
            supported(&format!("{language}-{place}")).or_else(|| supported(language))
        }
        (language, None) => supported(language),
    }
}

fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

fn supported(tag: &str) -> Option<&'static str> {
    SUPPORTED.into_iter().find(|of| *of == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_speaks_is_passed_on_as_it_is() {
        for tag in SUPPORTED {
            assert_eq!(nearest(tag), Some(tag));
        }
    }

    #[test]
    fn what_it_does_not_speak_is_the_nearest() {
        for (tag, near) in [
            ("en-US", "en"),
            ("en-gb", "en-GB"),
            ("DE-at", "de"),
            ("de-DE-1996", "de"),
            ("zh-CN", "zh"),
            ("zh-Hans-SG", "zh"),
            ("zh-Hans-HK", "zh"),
            ("zh-Hant", "zh-TW"),
            ("zh-Hant-HK", "zh-HK"),
            ("zh-MO", "zh-HK"),
            ("yue", "zh-HK"),
            ("pt-PT", "pt"),
            ("fr-CH", "fr"),
            ("fr-CA", "fr-CA"),
            ("es-ES", "es"),
            ("es-MX", "es-419"),
            ("es-us", "es-419"),
            ("no", "nb"),
            ("nn-NO", "nb"),
            ("tl-PH", "fil"),
            ("en-u-hc-h12", "en"),
            ("fr-x-CA", "fr"),
        ] {
            assert_eq!(nearest(tag), Some(near), "{tag}");
        }
        for tag in ["sr-Latn-RS", "eu", "x-klingon", "", "i-mingo"] {
            assert_eq!(nearest(tag), None, "{tag}");
        }
    }
}
