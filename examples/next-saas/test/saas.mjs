// The application as it is started and built, in a real browser: sign up, buy in the sandbox, spend, subscribe, cancel,
// and work in a team. Nothing is reloaded.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '../../../clients/node_modules/playwright-core/index.mjs';

const free = createServer().listen(0, '127.0.0.1');
await once(free, 'listening');
const { port } = free.address();
await new Promise((done) => free.close(done));

const data = await mkdtemp(join(tmpdir(), 'scrip-saas-'));
const env = { ...process.env, SAAS_DATA_DIR: data, SAAS_SCRIP_LISTEN: '127.0.0.1:0', SAAS_PORT: String(port) };
const app = spawn(process.execPath, [fileURLToPath(new URL('../start.mjs', import.meta.url))], { env, stdio: ['ignore', 'pipe', 'inherit'] });
let browser;
try {
  const [home, scrip] = await new Promise((resolve, reject) => {
    let said = '';
    app.stdout.on('data', (chunk) => {
      const found = /open: (http\S+)\/\nScrip is at (http\S+),/.exec((said += chunk));
      if (found) resolve(found.slice(1));
    });
    app.once('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
  // Nobody is signed in: no session of anybody's wallet, and another site gets none either.
  for (const origin of [home, 'https://evil.example']) {
    const { status } = await fetch(`${home}/api/auth/scrip/session`, { method: 'POST', headers: { origin, 'content-type': 'application/json' }, body: '{}' });
    assert.ok(status === 401 || status === 403, `${origin}: ${status}`);
  }

  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  const page = await browser.newPage();
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  await page.goto(home);
  await page.getByLabel('Email').fill('ann@mail.example');
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('button', { name: 'Sign in, or up' }).click();
  const balance = page.locator('.scrip-balance');
  const reads = (text) => balance.filter({ hasText: text }).waitFor();
  await reads(/^0 credits$/);
  // From here on the page itself is never left.
  await page.evaluate(() => (globalThis.stayed = true));

  const draw = page.getByRole('button', { name: 'Draw (5 credits)' });
  await draw.click();
  await page.getByText(/Not enough credits/).waitFor();

  const buy = async (name) => {
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name }).first().click()]);
    const pay = popup.getByRole('button', { name: /^(pay|subscribe)(?! later)/i }).first();
    await pay.waitFor();
    // A buyer who comes back is known.
    const email = popup.getByLabel(/email/i);
    if ((await email.count()) > 0) await email.fill('ann@mail.example');
    await pay.click();
  };
  await buy(/^Buy 1,000 credits for/);
  await reads(/^1,000 credits$/);
  // The refusal is over with it.
  await page.getByText(/Not enough credits/).waitFor({ state: 'detached' });
  await draw.click();
  await reads(/^995 credits$/);
  await page.getByAltText('A drawing').waitFor();
  await page.getByText('Used: drawing').waitFor();

  await buy(/^Subscribe to Starter for €9\.00 a month$/);
  await reads(/^1,495 credits$/);
  await page.getByText(/^Starter, renews on/).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText(/^Starter, until/).waitFor();

  // A team has a wallet of its own, and one's own is still there.
  await page.getByRole('button', { name: 'Work in a team' }).click();
  await reads(/^0 credits$/);
  // Each member may use five credits a day of what the team has.
  const demo = JSON.parse(await readFile(join(data, 'dev.json'), 'utf8'));
  const ask = async (method, path, body) => {
    const headers = { authorization: `Bearer ${demo.secret_key}`, 'content-type': 'application/json' };
    const reply = await fetch(`${scrip}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    assert.equal(reply.status, 200);
    return reply.json();
  };
  let externalUserId;
  for (let looks = 0; !externalUserId && looks < 100; looks += 1) {
    const { events } = await ask('GET', '/events?types=wallet.created');
    externalUserId = events.map(({ data }) => data.externalUserId).find((user) => user?.startsWith('team-'));
    if (!externalUserId) await page.waitForTimeout(100);
  }
  await ask('PUT', '/wallets/external/limits', { externalUserId, limits: [{ scope: 'member:*', amount: 5, window: 'day' }] });
  await ask('POST', '/credit', { externalUserId, productId: demo.product, amount: 100, idempotencyKey: 'team' });
  await reads(/^100 credits$/);
  await page.getByText(/^5 of 5 credits left until/).waitFor();
  await draw.click();
  await page.getByText(/^0 of 5 credits left until/).waitFor();
  await draw.click();
  await page.getByRole('alert').getByText(/limit/).waitFor();
  await reads(/^95 credits$/);
  await page.getByRole('button', { name: 'Work alone' }).click();
  await reads(/^1,495 credits$/);
  assert.equal(await page.evaluate(() => globalThis.stayed), true);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in, or up' }).waitFor();
  assert.deepEqual(wrong, []);
  console.log('signed up, bought, spent, cancelled, in a team with a limit and out of it, without a reload');
} finally {
  await browser?.close();
  app.removeAllListeners('exit');
  if (app.exitCode === null && app.kill('SIGTERM')) await once(app, 'exit');
  await rm(data, { recursive: true, force: true });
}
