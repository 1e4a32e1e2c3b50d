// A reader with a browser, on a desktop or a phone: axe-core judges the pages, nothing is wider than the screen, nothing
// is loaded from elsewhere, the menu opens, the search is used by keyboard, and an error's link leads to its entry.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const { BASE, PHONE } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const phone = PHONE === '1';
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage({
    viewport: phone ? { width: 360, height: 740 } : { width: 1200, height: 850 },
    colorScheme: phone ? 'dark' : 'light',
  });
  const wrong = [];
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('request', (request) => request.url().startsWith(BASE) || wrong.push(request.url()));
  await page.goto(`${BASE}/docs`);
  if (phone) await page.getByText('Menu', { exact: true }).click();
  const links = page.getByRole('navigation').getByRole('link');
  const pages = new Set(await links.evaluateAll((all) => all.map((link) => new URL(link.href).pathname)));
  assert.ok(pages.size > 15, [...pages].join(' '));
  for (const path of pages) {
    await page.goto(`${BASE}${path}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= page.viewportSize().width, `${path} is ${width} wide`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    const listed = serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(' ')}`);
    assert.deepEqual(listed, [], path);
  }
  await page.keyboard.press('/');
  await page.keyboard.type('hold closed');
  await page.getByRole('option', { name: /hold_closed/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator(':target', { hasText: 'hold_closed' }).waitFor();
  await page.goto(`${BASE}/docs/api#deduct_external`);
  await page.locator('#deduct_external').getByText('Python', { exact: true }).click();
  await page.locator('#deduct_external').getByText('httpx.post').waitFor();
  await page.locator('#deduct_external pre:visible').first().getByRole('button', { name: 'Copy' }).waitFor({ state: 'attached' });
  const refused = await page.request.get(`${BASE}/api/v1/me`);
  await page.goto(`${BASE}${(await refused.json()).docs}`);
  await page.locator(':target', { hasText: 'missing_api_key' }).waitFor();
  assert.deepEqual(wrong, []);
  console.log('the reader is content');
} finally {
  await browser.close();
}
