// @vitest-environment node
// The colours as a real browser mixes them, on pages of any colour.
import { readFileSync } from 'node:fs';
import { openBrowser } from '@scrip-wallet/kit/browser';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const css = readFileSync(new URL('../styles.css', import.meta.url), 'utf8');

const BODY = `<div class="scrip">
  <p class="text">Text</p>
  <p class="scrip-muted">Muted</p>
  <p class="scrip-current">Yours already</p>
  <button class="scrip-button">Manage billing</button>
  <button class="scrip-button scrip-primary">Buy</button>
  <div class="scrip-price"><p class="scrip-muted">In a card</p></div>
  <div class="scrip-field"><input value="OLIVE"></div>
  <div role="alert" class="scrip-error"><p class="text">An error</p><p class="scrip-muted">Reference</p><button class="scrip-button">Try again</button></div>
</div>`;

/** The contrast of each element that has a text of its own against what is behind it, as WCAG reckons it. */
const contrasts = (page: Page) =>
  page.evaluate(() => {
    type Colour = [number, number, number, number];
    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    if (!paint) throw new Error('no canvas');
    const read = (colour: string): Colour => {
      paint.clearRect(0, 0, 1, 1);
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
      const [r = 0, g = 0, b = 0, a = 0] = paint.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a]: Colour, [R, G, B]: Colour): Colour => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const bare = document.body.appendChild(document.createElement('i'));
    bare.style.background = 'Canvas';
    const canvas = read(getComputedStyle(bare).backgroundColor);
    const ground = (element: Element | null): Colour =>
      element ? over(read(getComputedStyle(element).backgroundColor), ground(element.parentElement)) : canvas;
    const luminance = (colour: Colour) => {
      const [r = 0, g = 0, b = 0] = colour.slice(0, 3).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const own = [...document.querySelectorAll('.scrip p, .scrip button, .scrip input')];
    return own.map((element) => {
      const back = ground(element);
      const [dark = 0, light = 0] = [luminance(back), luminance(over(read(getComputedStyle(element).color), back))].sort((a, b) => a - b);
      return { what: element.textContent || 'input', ratio: (light + 0.05) / (dark + 0.05) };
    });
  });

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

describe.each([
  ['a page that says nothing', '', 'light'],
  ['a page that says nothing, in a dark system', '', 'dark'],
  ['a page that follows the system, by day', ':root { color-scheme: light dark }', 'light'],
  ['a page that follows the system, by night', ':root { color-scheme: light dark }', 'dark'],
  ['a dark page in a light system', ':root { color-scheme: dark }', 'light'],
  ['a page that is dark by its own colours alone', 'body { background: #14171c; color: #e9ecf1 }', 'light'],
  ['a page that is cream', 'body { background: #fbf5e6; color: #33291a }', 'dark'],
] as const)('%s', (_, page, colorScheme) => {
  it('can be read', async () => {
    const view = await browser.newPage({ colorScheme });
    try {
      await view.setContent(`<!doctype html><style>${page}</style><style>${css}</style>${BODY}`);
      const all = await contrasts(view);
      expect(all).toHaveLength(10);
      expect(all.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
      // The page's own text, not one that a system would like, in a face of the system's where the page names none.
      const [text, body, face] = await view.evaluate(() => {
        const style = getComputedStyle(document.querySelector('.text') ?? document.body);
        return [style.color, getComputedStyle(document.body).color, style.fontFamily];
      });
      expect([text, face]).toEqual([body, 'system-ui, sans-serif']);
    } finally {
      await view.close();
    }
  });
});

it('a page may have its own face everywhere', async () => {
  const view = await browser.newPage();
  try {
    await view.setContent(`<!doctype html><style>${css}</style><style>body { --scrip-font: initial; font-family: Georgia, serif }</style>${BODY}`);
    expect(await view.evaluate(() => getComputedStyle(document.querySelector('.text') ?? document.body).fontFamily)).toBe('Georgia, serif');
  } finally {
    await view.close();
  }
});

it('no rule weighs more than one of the shop’s own would', () => {
  const selectors = css.replace(/\/\*[\s\S]*?\*\//g, '').match(/^[^@\s{}][^{}]*(?=\{)/gm) ?? [];
  expect(selectors.length).toBeGreaterThan(20);
  expect(selectors.filter((selector) => !/^:where\([\s\S]*\)\s*$/.test(selector))).toEqual([]);
});
