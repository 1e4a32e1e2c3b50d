import { describe, expect, it } from 'vitest';
import { formatCredits, formatDay, formatDelta, formatFeature, formatInstant, formatMoney } from '../src';

describe('money', () => {
  it.each([
    [900, 'EUR', '€9.00'],
    [5, 'EUR', '€0.05'],
    [0, 'USD', 'US$0.00'],
    [500, 'JPY', 'JP¥500'],
    [12_500, 'KRW', '₩12,500'],
    [1_250, 'KWD', 'KWD 1.250'],
    // Counted in hundredths though they are not written.
    [50_000, 'ISK', 'ISK 500'],
    [150, 'UGX', 'UGX 1.50'],
    [900, 'eur', '€9.00'],
    [-1_234, 'EUR', '-€12.34'],
    [Number.MAX_SAFE_INTEGER, 'JPY', 'JP¥9,007,199,254,740,991'],
    [900, 'no currency', '9.00 no currency'],
  ])('%i %s is %s', (cents, currency, words) => {
    expect(formatMoney(cents, currency, 'en-GB').replace(/\s/g, ' ')).toBe(words);
  });

  it('is written as people write it where they are', () => {
    expect(formatMoney(900, 'EUR', 'de-AT').replace(/\s/g, ' ')).toBe('€ 9,00');
    expect(formatMoney(123_456, 'CHF', 'fr-CH').replace(/\s/g, ' ')).toBe('1 234.56 CHF');
  });
});

it('credits have their unit, changes their sign', () => {
  expect(formatCredits(1_234, 'images', 'en')).toBe('1,234 images');
  expect(formatCredits(1_234, null, 'en')).toBe('1,234');
  expect([formatDelta(5, 'en'), formatDelta(-5, 'en'), formatDelta(0, 'en')]).toEqual(['+5', '-5', '0']);
});

it('an instant that is none is shown as it came', () => {
  expect(formatInstant('2026-11-20T21:33:08.271Z', 'en-GB')).toContain('20 Nov 2026');
  expect([formatInstant('soon', 'en-GB'), formatDay('soon', 'en-GB')]).toEqual(['soon', 'soon']);
});

it('a feature without a name of its own is read as words, not as a slug', () => {
  expect([formatFeature('history'), formatFeature('export.pdf_large')]).toEqual(['History', 'Export pdf large']);
});
