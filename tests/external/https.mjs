// An operator whose browser reaches the dashboard over TLS: signs in, and what is kept of that is a cookie that no
// other host can set or read. Prints what was seen.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const { BASE, TOKEN } = process.env;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, timezoneId: 'UTC' });
  const page = await context.newPage();
  const headers = [];
  page.on('response', async (response) => headers.push(...(await response.headersArray()).filter(({ name }) => name.toLowerCase() === 'set-cookie')));
  await page.goto(`${BASE}/dashboard`);
  await page.getByLabel('Administrator token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  const cookies = await context.cookies();
  assert.equal(cookies.length, 1, JSON.stringify(cookies));
  const [{ name, value, secure, httpOnly, sameSite, path, domain }] = cookies;
  assert.match(name, /^__Host-/);
  assert.deepEqual({ secure, httpOnly, sameSite, path, domain }, { secure: true, httpOnly: true, sameSite: 'Lax', path: '/', domain: 'localhost' });
  // Nothing names a domain: with one a browser would not take a cookie of this prefix.
  assert.ok(headers.length > 0 && headers.every(({ value }) => !/domain/i.test(value)), JSON.stringify(headers));
  assert.equal(await page.evaluate(() => document.cookie), '');
  // It is used, also with a form, and signing out takes it away.
  await page.getByLabel('Name').fill('Pixel shop');
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('heading', { name: 'Copy now' }).waitFor();
  // The same session under the name that a neighbouring host could set is nobody's.
  await context.clearCookies();
  await context.addCookies([{ name: 'scrip_dashboard', value, url: BASE }]);
  await page.goto(`${BASE}/dashboard`);
  await page.getByLabel('Administrator token').waitFor();
  await context.clearCookies();
  await context.addCookies(cookies);
  await page.goto(`${BASE}/dashboard`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Administrator token').waitFor();
  assert.deepEqual(await context.cookies(), []);
  console.log('the cookie is this host\'s alone');
} finally {
  await browser.close();
}
