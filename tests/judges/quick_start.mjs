// A reader of the quick start with the page of its third part open: buys, pays, comes back, and spends one
// credit.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const [, , shop] = process.argv;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage();
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  await page.goto(shop);
  await page.getByRole('button', { name: /buy 1,000 credits/i }).click();
  await page.getByLabel(/email/i).fill('ann@mail.example');
  await page.getByRole('button', { name: /^pay(?! later)/i }).click();
  await page.waitForURL((url) => url.origin === new URL(shop).origin);
  await page.getByText(/1,000 credits/).first().waitFor();
  const balance = page.locator('.scrip-balance');
  await balance.getByText('1,000').waitFor();
  await page.getByRole('button', { name: /draw/i }).click();
  await balance.getByText('999').waitFor();
  assert.deepEqual(wrong, []);
  console.log(`bought and drew: ${await balance.innerText()}`);
} finally {
  await browser.close();
}
