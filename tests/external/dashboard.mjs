// An operator with a browser: signs in by a link, makes a project, a product and a price, replays a delivery,
// finds the wallet, grants credits, and looks around. Each page passes all of axe-core's rules; the pictures go to
// PICTURES. Prints what was seen.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const { BASE, LINK, TOKEN, WALLET_USER, PICTURES, PHONE } = process.env;
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const phone = PHONE === '1';
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
  const complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));

  /** Nothing is wider than the screen, and everything is accessible. */
  const judge = async (name) => {
    const inner = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(inner <= page.viewportSize().width, `${name} is ${inner} wide`);
    // Through the debugger, which the page's policy does not bind.
    await page.evaluate((await import('node:fs')).readFileSync(axe, 'utf8'));
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const listed = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    assert.deepEqual(listed, [], name);
    // What the documentation shows is no longer than a screen or two.
    if (PICTURES && !phone) await page.screenshot({ path: `${PICTURES}/dashboard-${name}.png`, fullPage: true, caret: 'initial', clip: { x: 0, y: 0, width: 1200, height: { overview: 1400, order: 1400, delivery: 1700 }[name] ?? 1130 } });
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/whole-${name}${phone ? '-phone' : ''}.png`, fullPage: true, caret: 'initial' });
  };
  /** Clicks what opens a page, and waits until it is there: a click alone is done while the page before is still shown. */
  const follow = async (target) => {
    await page.waitForLoadState();
    await Promise.all([page.waitForEvent('load'), target.click()]);
  };
  const press = (name) => follow(page.getByRole('button', { name, exact: true }));
  const go = (name) => follow(page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name, exact: true }));

  await page.goto(`${BASE}/dashboard`);
  await page.getByLabel('Administrator token').waitFor();
  await judge('token');
  await page.goto(LINK);
  await judge('link');
  await press('Sign in');
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  const cookie = (await context.cookies()).find(({ name }) => name !== 'scrip_time_zone');
  assert.ok(cookie.httpOnly && cookie.sameSite === 'Lax' && cookie.path === '/', JSON.stringify(cookie));
  await judge('projects');

  await page.getByLabel('Name').fill(phone ? 'My <i>shop</i>' : 'Pixel shop');
  await press('Create project');
  await page.getByRole('heading', { name: 'Copy now' }).waitFor();
  const [publishable, secret] = await page.locator('code.key').allInnerTexts();
  await judge('keys');
  const fits = await page.getByRole('region', { name: 'Keys' }).evaluate((it) => it.scrollWidth <= it.clientWidth);
  assert.ok(phone || fits, 'the buttons of the keys are within reach');
  // What is shown once is not shown again.
  await page.reload();
  assert.equal(await page.locator('code.key').count(), 0);

  await go('Settings');
  await judge('settings');
  await page.getByLabel('Provider').selectOption('sandbox');
  await press('Save provider');
  await page.getByText('Saved.').waitFor();

  await go('Catalog');
  await follow(page.getByRole('link', { name: 'New product' }));
  await judge('product-new');
  await page.getByLabel('Name').fill('Images');
  await page.getByLabel('Credit unit').fill('images');
  await page.getByLabel('Credits per period').fill('many');
  await press('Create product');
  await page.getByText('This must be a whole number.').waitFor();
  await judge('product-refused');
  await page.getByLabel('Credits per period').fill('25');
  await press('Create product');
  await follow(page.getByRole('link', { name: 'New price' }));
  await page.getByLabel('Label').fill('1,000 images');
  await page.getByLabel('Amount').fill('9.50');
  await page.getByLabel('Credits', { exact: true }).fill('1000');
  await judge('price-new');
  await press('Create price');
  await page.getByText('9.50 EUR').waitFor();
  await judge('product');
  await go('Catalog');
  await judge('catalog');

  const [, project] = page.url().match(/projects\/([^/]+)/);
  const admin = async (path, body, method = body ? 'POST' : 'GET') => {
    const answer = await fetch(`${BASE}/api/admin/v1/projects/${project}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.clone().text()}`);
    return answer.json();
  };
  // What models cost, and what changed.
  const { products: [{ id: productId }] } = await admin('/products');
  const rates = (factor) => [
    { match: { model: 'claude-sonnet-4*' }, per: 1_000_000, unitPrices: { input: `${3 * factor}`, cachedInput: `0.${3 * factor}`, cacheWrite: '3.75', output: '15' }, above: [{ unit: 'input', from: 200_000, unitPrices: { input: '6', output: '22.5' } }] },
    { match: { model: 'a-model-whose-name-is-so-long-that-no-telephone-shows-it-in-one-line', region: 'eu-central' }, per: 1000, unitPrices: { input: '0.000000001' } },
    { match: { model: factor > 1 ? 'whisper-2' : 'whisper-1' }, unitPrices: { second: '0.13' }, minimum: '1' },
    { match: { model: 'llama-local' }, free: true },
  ];
  for (const factor of [1, 2]) await admin('/rate-cards/ai', { productId, rates: rates(factor) }, 'PUT');
  await admin('/rate-cards/ai', { productId, rates: rates(3), effectiveFrom: '2099-01-01T00:00:00Z' }, 'PUT');
  await follow(page.getByRole('link', { name: 'Rate cards' }));
  await judge('rate-cards');
  await follow(page.getByRole('link', { name: 'ai', exact: true }));
  await judge('rate-card');
  const calculator = page.locator('#calculator');
  await calculator.getByLabel('model').fill('claude-sonnet-4-5');
  await calculator.getByLabel('Format').selectOption('anthropic');
  await calculator.getByLabel('Usage').fill('{"input_tokens": 1200, "cache_read_input_tokens": 8000');
  await press('Calculate');
  await page.getByText('This must be a usage object, as JSON.').waitFor();
  await judge('rate-card-refused');
  assert.equal(await calculator.getByLabel('model').inputValue(), 'claude-sonnet-4-5');
  await calculator.getByLabel('Usage').fill('{"input_tokens": 1200, "cache_read_input_tokens": 8000, "output_tokens": 310}');
  await press('Calculate');
  await page.getByText('credits, rounded up').waitFor();
  await judge('rate-card-estimate');
  await follow(page.getByRole('link', { name: '3 versions' }));
  for (const changes of await page.locator('summary').all()) await changes.click();
  await judge('rate-card-versions');
  await follow(page.getByRole('link', { name: '2', exact: true }));
  await judge('rate-card-version');

  // It is sent the same events again.
  const deliveries = [];
  const receiver = createServer((request, response) => {
    deliveries.push(request.headers['webhook-id']);
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json', server: 'Pixel shop' }).end('{"received": true}'));
  });
  await new Promise((done) => receiver.listen(0, '127.0.0.1', done));
  await go('Webhooks');
  await page.getByLabel('Address').fill(`http://127.0.0.1:${receiver.address().port}/hooks`);
  await judge('webhooks');
  await press('Create endpoint');
  await page.getByRole('heading', { name: 'Copy now' }).waitFor();

  // The project's own server makes a wallet, uses some, sells some.
  const call = async (path, body, key = secret) => {
    const answer = await fetch(`${BASE}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.clone().text()}`);
    return answer.json();
  };
  await call('/wallets/external', { externalUserId: WALLET_USER });
  for (const [feature, amount] of [['upscale', 7], ['draw', 3], ['draw', 4]]) {
    await call('/wallets/external/deduct', { externalUserId: WALLET_USER, amount, idempotencyKey: `${feature}${amount}`, meta: { feature } });
  }
  await call('/wallets/external/deduct', { externalUserId: WALLET_USER, rateCard: 'ai', attributes: { model: 'claude-sonnet-4-5' }, quantities: { input: 120_000, cachedInput: 8000, output: 9310 }, idempotencyKey: 'chat' });
  const { products: [{ prices: [price] }] } = await call('/products', null, publishable);
  const { url, orderId } = await call('/checkout', { externalUserId: WALLET_USER, priceId: price.id, customerEmail: 'ann@mail.example' });
  assert.ok((await fetch(`${url}/pay`, { method: 'POST' })).ok);

  await go('Webhooks');
  await follow(page.getByRole('region', { name: 'Endpoints' }).getByRole('link'));
  await page.waitForFunction(() => (document.querySelector('tbody tr') ? true : (location.reload(), false)), null, { polling: 300 });
  await judge('deliveries');
  const before = deliveries.length;
  await follow(page.getByRole('region', { name: 'Deliveries' }).getByRole('button', { name: 'Send again' }).first());
  await page.getByText('It will be sent again.').waitFor();
  for (const end = Date.now() + 20_000; deliveries.length <= before; await new Promise((next) => setTimeout(next, 50))) {
    assert.ok(Date.now() < end, 'nothing was sent again');
  }
  await follow(page.getByRole('region', { name: 'Deliveries' }).getByRole('link', { name: 'order.paid' }).first());
  await page.getByRole('heading', { name: 'order.paid' }).waitFor();
  assert.match(await page.getByRole('region', { name: 'Body of the request' }).innerText(), /"status": "paid"/);
  assert.equal(await page.getByRole('region', { name: 'Body of the response' }).innerText(), '{"received": true}');
  await judge('delivery');

  await go('Wallets');
  await judge('wallets');
  await page.keyboard.press('/');
  await page.keyboard.type(orderId);
  await press('Find');
  await page.waitForURL(`**/orders/${orderId}`);
  await page.getByRole('searchbox').fill(WALLET_USER.toUpperCase());
  await press('Find');
  await page.getByRole('heading', { name: WALLET_USER }).waitFor();
  assert.match(await page.locator('main').innerText(), /1,011 images to spend/);
  const grant = page.locator('section', { has: page.getByRole('heading', { name: 'Grant credits' }) });
  await grant.getByLabel('Credits', { exact: true }).fill('500');
  await grant.getByLabel('Reason').fill('For the trouble');
  await follow(grant.getByRole('button'));
  await page.getByRole('heading', { name: `Grant 500 Images to ${WALLET_USER}?` }).waitFor();
  await judge('grant');
  await press(`Grant 500 Images to ${WALLET_USER}`);
  await page.getByText('The credits were granted.').waitFor();
  assert.match(await page.locator('main').innerText(), /1,511 images to spend/);
  await page.getByText('Where they come from').click();
  await page.getByText('by ai').click();
  await judge('wallet');
  await follow(page.getByRole('link', { name: 'What was spent' }));
  await judge('spending');
  await page.goBack();
  // htmx puts the ledger's part in place; nothing else of the page goes.
  await page.getByLabel('Reason').first().selectOption('deduction');
  await page.locator('#ledger').getByRole('button', { name: 'Show' }).click();
  await page.waitForFunction(() => !document.querySelector('#ledger').innerText.includes('Manual grant\t'));
  assert.equal(await page.locator('#ledger tbody tr').count(), 4);

  // Two weeks go by on the shop's own clock: what is sold and used, and one who wants some money back.
  const people = ['bea', 'cyd', 'dan', 'eve', 'fay'];
  const known = new Set();
  let last = orderId;
  for (let day = 1; day <= 14; day += 1) {
    await admin('/sandbox/advance', { seconds: 86_400 });
    for (const [place, externalUserId] of people.slice(0, 2 + (day % 4)).entries()) {
      await call('/wallets/external', { externalUserId });
      if (!known.has(externalUserId) || (day + place) % 5 === 0) {
        const begun = await call('/checkout', { externalUserId, priceId: price.id, customerEmail: `${externalUserId}@mail.example` });
        // Who was here before may look and leave.
        if (!known.has(externalUserId) || (day + place) % 3 > 0) {
          assert.ok((await fetch(`${begun.url}/pay`, { method: 'POST' })).ok);
          last = begun.orderId;
        }
      }
      known.add(externalUserId);
      const amount = 25 + ((day * 37 + place * 53) % 70);
      await call('/wallets/external/deduct', { externalUserId, amount, idempotencyKey: `${day}`, meta: { feature: ['draw', 'upscale', 'remove background'][(day + place) % 3] } });
    }
  }
  await call(`/orders/${last}/refund`, { amountCents: 400, idempotencyKey: 'sorry' });
  receiver.close();

  await go('Orders');
  await judge('orders');
  await page.goto(`${BASE}/dashboard/projects/${project}/orders/${last}`);
  await press('Refresh from the sandbox');
  await page.getByText(/Refreshed/).waitFor();
  await page.getByText('4.00 EUR refunded').waitFor();
  await judge('order');
  await go('Overview');
  await page.locator('.uplot canvas').first().waitFor();
  assert.match(await page.locator('main').innerText(), /Active wallets\s+6\b/);
  assert.match(await page.locator('main').innerText(), /Refunded\s+4\.00 EUR/);
  await judge('overview');
  for (const table of await page.getByText('As a table').all()) await table.click();
  await judge('overview-table');
  await page.getByText('Deductions a second now').waitFor();
  await go('Orders');
  await follow(page.getByRole('link', { name: /^Unfulfilled payments/ }));
  await judge('unfulfilled');
  await page.goto(`${BASE}/dashboard/projects/${project}/search?query=mail.example`);
  await judge('search');
  for (const name of ['Audit log', 'People', 'System']) {
    await follow(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }));
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    if (name === 'System') await page.locator('.uplot canvas').first().waitFor();
    await judge(name.toLowerCase().replace(' ', '-'));
  }
  await follow(page.getByRole('link', { name: 'Administrator' }));
  await judge('account');
  await press('Sign out');
  await page.getByLabel('Administrator token').waitFor();
  await page.goto(`${BASE}/dashboard/audit`);
  await page.getByLabel('Administrator token').waitFor();
  assert.deepEqual(complaints.filter((text) => !/status of 40[04]/.test(text)), []);
  console.log('the operator is content');
} finally {
  await browser.close();
}
