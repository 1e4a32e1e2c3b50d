// Amounts as people read them. Money comes in the minor units that payment providers count in, which are not
// always those that Intl knows: a krona of Iceland is sent as 100.
import { en, fill, type Messages } from './messages/en';

const WHOLE = new Set(
  'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '),
);
const THOUSANDTHS = new Set('BHD JOD KWD OMR TND'.split(' '));

/** How many minor units there are in one, as a power of ten. */
function decimals(currency: string): number {
  if (WHOLE.has(currency)) return 0;
  return THOUSANDTHS.has(currency) ? 3 : 2;
}

/** `900, 'EUR'` as `€9.00`. */
export function formatMoney(amountCents: number, currency: string, locale?: string): string {
  const code = currency.toUpperCase();
  const digits = decimals(code);
  const amount = amountCents / 10 ** digits;
  try {
    const style = { style: 'currency', currency: code } as const;
    const usual = new Intl.NumberFormat(locale, style).resolvedOptions().maximumFractionDigits ?? digits;
    // What people do not write is left out only where nothing is lost by it: ISK 500, not ISK 500.00.
    const shown = Number.isInteger(amount * 10 ** usual) ? usual : digits;
    const fraction = { minimumFractionDigits: shown, maximumFractionDigits: shown };
    return new Intl.NumberFormat(locale, { ...style, ...fraction }).format(amount);
  } catch {
    // A currency that is no ISO code.
    return `${amount.toFixed(digits)} ${currency}`;
  }
}

/** `900, 'EUR'` as `9.00`, for a field that takes numbers. */
export function formatAmount(amountCents: number, currency: string): string {
  const digits = decimals(currency.toUpperCase());
  return (amountCents / 10 ** digits).toFixed(digits);
}

/** What such a field says, in minor units; undefined where it says no amount. */
export function parseAmount(text: string, currency: string): number | undefined {
  const cents = Math.round(Number(text) * 10 ** decimals(currency.toUpperCase()));
  return text.trim() && Number.isSafeInteger(cents) ? cents : undefined;
}

/** `1234, 'images'` as `1,234 images`. */
export function formatCredits(amount: number, unit?: string | null, locale?: string): string {
  const number = new Intl.NumberFormat(locale).format(amount);
  return unit ? `${number} ${unit}` : number;
}

/** The same with a sign before it. */
export function formatDelta(amount: number, locale?: string): string {
  return new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' }).format(amount);
}

/** How often a price is paid: `a month`; nothing for what is paid once. */
export function formatInterval(interval: string, messages: Messages = en): string {
  if (interval === 'one_time') return '';
  return interval === 'month' || interval === 'year' ? messages[interval] : interval;
}

/** A price with its interval, as every offer shows it: `€9.00 a month`. */
export function formatPrice(price: { amountCents: number; currency: string; interval: string }, locale?: string, messages: Messages = en): string {
  const money = formatMoney(price.amountCents, price.currency, locale);
  const interval = formatInterval(price.interval, messages);
  return interval ? fill(messages.pricePer, { price: money, interval }) : money;
}

/** `14` as `14 days`. */
export function formatDays(days: number, locale?: string): string {
  return new Intl.NumberFormat(locale, { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(days);
}

/** `2026-11-20T00:00:00.000Z` as that date, of UTC as the days of usage are. */
export function formatDay(instant: string, locale?: string): string {
  return dated(instant, locale, { timeZone: 'UTC' });
}

/** A feature's name made of its slug: `priority_support` as `Priority support`. */
export function formatFeature(slug: string): string {
  const words = slug.replace(/[-_.:]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const BRANDS: Record<string, string> = { amex: 'American Express', diners: 'Diners Club', jcb: 'JCB', unionpay: 'UnionPay', cartes_bancaires: 'Cartes Bancaires' };

/** A card's network as people write it: `visa` as `Visa`. */
export function formatBrand(brand: string): string {
  return BRANDS[brand] ?? formatFeature(brand);
}

/** `2026-11-20T21:33:08.271Z` as a date and a time, where the reader is unless a zone is named. */
export function formatInstant(instant: string, locale?: string, timeZone?: string): string {
  return dated(instant, locale, { timeStyle: 'short', timeZone });
}

function dated(instant: string, locale: string | undefined, more: Intl.DateTimeFormatOptions): string {
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? instant : new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...more }).format(date);
}
