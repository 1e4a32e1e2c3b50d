// Seven questions that customers ask, each answered in the dashboard from a project's overview, counting clicks; to look
// for something counts as one. axe-core judges each page that is an answer. Prints the clicks of each.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const { BASE, LINK, TOKEN, PICTURES, PHONE } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const phone = PHONE === '1';

const send = async (path, key, body) => {
  const answer = await fetch(`${BASE}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
};

// The shop, and what its customers did before they asked.
const project = await send('/api/admin/v1/projects', TOKEN, { name: 'Pixel shop' });
const admin = `/api/admin/v1/projects/${project.id}`;
const configured = await fetch(`${BASE}${admin}`, {
  method: 'PATCH',
  headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
  body: JSON.stringify({ provider: { kind: 'sandbox' } }),
});
assert.ok(configured.ok, await configured.text());
const images = await send(`${admin}/products`, TOKEN, { name: 'Images', type: 'credits', creditUnit: 'images' });
const pack = await send(`${admin}/products/${images.id}/prices`, TOKEN, {
  label: '60 images', amountCents: 2900, currency: 'EUR', creditsGranted: 60, interval: 'one_time',
});
const unlocks = await send(`${admin}/products`, TOKEN, { name: 'PDF export', type: 'one_time' });
const unlock = await send(`${admin}/products/${unlocks.id}/prices`, TOKEN, {
  label: 'PDF export', amountCents: 900, currency: 'EUR', features: ['export.pdf'], interval: 'one_time', repeatable: true,
});
const call = (path, body) => send(`/api/v1${path}`, project.secretKey, body);
const drive = async (url, what) => assert.ok((await fetch(`${url}/${what}`, { method: 'POST' })).ok, what);
const checkout = (externalUserId, price, customerEmail) => call('/checkout', { externalUserId, priceId: price.id, customerEmail });
const buy = async (...of) => {
  const begun = await checkout(...of);
  await drive(begun.url, 'pay');
  return begun;
};

const failed = await checkout('viktor', pack, 'viktor@mail.example');
await drive(failed.url, 'pay_later');
await drive(failed.url, 'fail');
const debit = await checkout('later', pack, 'later@mail.example');
await drive(debit.url, 'pay_later');
for (const _ of [1, 2]) await buy('twice', pack, 'twice@mail.example');
for (const _ of [1, 2]) await buy('unlocked', unlock, 'unlocked@mail.example');
for (const user of ['sorry_1', 'sorry_2', 'sorry_3']) await buy(user, pack, 'sorry@mail.example');
await buy('spender', pack, 'spender@mail.example');
for (const [feature, amount] of [['upscale', 7], ['draw', 5]]) {
  await call('/wallets/external/deduct', { externalUserId: 'spender', productId: images.id, amount, idempotencyKey: feature, meta: { feature } });
}
await buy('half', pack, 'half@mail.example');
const { code } = await call('/wallets', {});
await call('/credit', { code, productId: images.id, amount: 500, idempotencyKey: 'start' });

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const context = await browser.newContext({
    viewport: phone ? { width: 360, height: 740 } : { width: 1200, height: 850 },
    colorScheme: phone ? 'dark' : 'light',
  });
  const page = await context.newPage();
  const main = () => page.locator('main').innerText();
  const region = (name) => page.locator('section', { has: page.getByRole('heading', { name, exact: true }) });
  let clicks = 0;
  /** Opens a page by one click. */
  const click = async (target) => {
    clicks += 1;
    await page.waitForLoadState();
    await Promise.all([page.waitForEvent('load'), target.click()]);
  };
  const press = (name, within = page) => click(within.getByRole('button', { name, exact: true }));
  /** Looks for something in the box at the head of the page. */
  const find = async (text) => {
    await page.getByRole('searchbox').fill(text);
    await press('Find');
  };
  const asked = [];
  /** Answers a question from the overview. */
  const question = async (name, most, answer) => {
    await page.goto(`${BASE}/dashboard/projects/${project.id}`);
    clicks = 0;
    await answer();
    const { scrollWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth }));
    assert.ok(scrollWidth <= page.viewportSize().width, `${name}: ${scrollWidth} wide`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`), [], name);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/question-${asked.length + 1}${phone ? '-phone' : ''}.png`, fullPage: true, caret: 'initial' });
    assert.ok(clicks <= most, `${name}: ${clicks} clicks`);
    asked.push(`${name}: ${clicks}`);
  };

  await page.goto(LINK);
  await press('Sign in');

  await question('I paid but got no credits', 4, async () => {
    await find('viktor@mail.example');
    assert.match(await main(), /Failed/);
    // Another customer asks the same of a bank debit under way.
    const before = clicks;
    await find('LATER@mail.example');
    assert.match(await main(), /later@mail\.example/);
    if (!page.url().includes('/orders/')) await click(page.locator('a.cover').first());
    assert.match(await main(), /still moving the money/);
    clicks = Math.max(before, clicks - before);
  });

  await question('I was charged twice, for credits', 4, async () => {
    await find('twice');
    assert.equal(await region('Orders').getByText('29.00 EUR').count(), 2);
    assert.match(await region('Images').innerText(), /120 images/);
  });

  await question('I was charged twice, for an unlock', 4, async () => {
    await find('unlocked');
    assert.equal(await region('Orders').getByText('9.00 EUR').count(), 2);
  });

  await question('50 credits as an apology', 5, async () => {
    await find('sorry@mail.example');
    await click(page.getByRole('link', { name: 'sorry_2' }).first());
    const grant = region('Grant credits');
    await grant.getByLabel('Credits', { exact: true }).fill('50');
    await grant.getByLabel('Reason').fill('For the trouble');
    await click(grant.getByRole('button'));
    await press('Grant 50 Images to sorry_2');
    assert.match(await main(), /110 images to spend/);
  });

  await question('What did I spend last week?', 4, async () => {
    await find('spender');
    await click(page.getByRole('link', { name: 'What was spent' }));
    assert.match(await main(), /upscale\s+7/);
    assert.match(await main(), /draw\s+5/);
    assert.match(await main(), /Deduction\s+.*−12/);
  });

  await question('Give me back half of my last order', 4, async () => {
    await find('half');
    await click(region('Orders').getByRole('link').first());
    await page.getByLabel('Amount in EUR').fill('14.50');
    await click(page.getByRole('button', { name: /^Refund/ }));
    assert.match(await main(), /30 images/);
    await click(page.getByRole('button', { name: /^Refund/ }));
    await page.getByText('14.50 EUR refunded').waitFor();
  });

  await question('My recovery code leaked', 4, async () => {
    await find(code.toLowerCase().replaceAll('-', ' '));
    await click(page.getByRole('button', { name: 'Replace and show it…' }));
    await click(page.getByRole('button', { name: 'Replace the recovery code', exact: true }));
    const fresh = await page.locator('code', { hasText: /^[A-Z]{4,6}(-[0-9A-Z]{4}){3}$/ }).innerText();
    assert.notEqual(fresh, code);
    const [old, now] = await Promise.all([code, fresh].map((each) => fetch(`${BASE}/api/v1/wallets/code`, {
      headers: { authorization: `Bearer ${project.publishableKey}`, 'x-wallet-code': each },
    })));
    assert.deepEqual([old.status, now.status], [404, 200]);
    const before = clicks;
    await click(page.getByRole('link', { name: 'Go on' }));
    assert.ok(!(await main()).includes(fresh), 'shown on that page alone');
    clicks = before;
  });
  console.log(asked.join('\n'));
} finally {
  await browser.close();
}
