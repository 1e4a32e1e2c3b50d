// The chat as it is started, against the service itself.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Scrip } from '@scrip-wallet/browser';
import { ScripServer } from '@scrip-wallet/server';
import { chromium } from '../../../clients/node_modules/playwright-core/index.mjs';

let chat;
let data;
let url;
let scrip;

before(async () => {
  data = await mkdtemp(join(tmpdir(), 'scrip-chat-'));
  chat = spawn(process.execPath, [fileURLToPath(new URL('../start.mjs', import.meta.url))], {
    env: { ...process.env, CHAT_DATA_DIR: data, CHAT_SCRIP_LISTEN: '127.0.0.1:0', CHAT_PORT: '0', CHAT_DELAY_MS: '10' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let baseUrl;
  [url, baseUrl] = await new Promise((resolve, reject) => {
    let said = '';
    chat.stdout.on('data', (chunk) => {
      const found = /open: (http\S+)\/\nScrip is at (http\S+),/.exec((said += chunk));
      if (found) resolve([found[1], found[2]]);
    });
    chat.once('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
  const { secret_key: secretKey } = JSON.parse(await readFile(join(data, 'dev.json'), 'utf8'));
  scrip = new ScripServer({ baseUrl, secretKey });
});
after(async () => {
  chat?.removeAllListeners('exit');
  if (chat?.kill('SIGTERM')) {
    const [code] = await once(chat, 'exit');
    assert.equal(code, 0);
  }
  await rm(data, { recursive: true, force: true });
});

const visitor = () => {
  const user = `u-${randomUUID().slice(0, 8)}`;
  const headers = { cookie: `user=${user}`, 'content-type': 'application/json' };
  const post = (path, value, more) => fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(value), ...more });
  return {
    user,
    post,
    account: async () => (await fetch(`${url}/account`, { headers })).json(),
    ask: (prompt, more = {}, id = randomUUID()) => post('/ask', { prompt, id }, more),
    holdings: async () => (await scrip.wallet({ externalUserId: user })).balances[0],
  };
};
const lines = async (answer) => (await answer.text()).trim().split('\n').map(JSON.parse);

test('a port in use is a sentence, and leaves no Scrip behind', async () => {
  const other = await mkdtemp(join(tmpdir(), 'scrip-chat-'));
  const second = spawn(process.execPath, [fileURLToPath(new URL('../start.mjs', import.meta.url))], {
    env: { ...process.env, CHAT_DATA_DIR: other, CHAT_SCRIP_LISTEN: '127.0.0.1:0', CHAT_PORT: new URL(url).port },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  second.stderr.on('data', (chunk) => (errors += chunk));
  // Scrip writes its errors to the same pipe, which is closed once it has ended, too.
  const [code] = await once(second, 'close', { signal: AbortSignal.timeout(30_000) });
  assert.deepEqual([code, errors], [1, `Port ${new URL(url).port} is in use: name another in CHAT_PORT.\n`]);
  await rm(other, { recursive: true, force: true });
});

test('an answer streams, and costs as many credits as it has tokens', async () => {
  const { user, account, ask, holdings } = visitor();
  assert.equal((await account()).balance, 500);
  const answer = await ask('What is a hold?');
  assert.equal(answer.status, 200);
  const said = await lines(answer);
  const { charged, balance } = said.pop();
  assert.equal(charged, said.length + 4);
  assert.equal(balance, 500 - charged);
  assert.deepEqual([(await holdings()).balance, (await holdings()).held ?? 0], [balance, 0]);
  const [entry] = (await account()).entries;
  assert.deepEqual([entry.delta, entry.meta], [-charged, { feature: 'chat' }]);
  assert.deepEqual(entry.rate.quantities, { input: 4, output: charged - 4, request: 1 });
  assert.equal((await scrip.wallet({ externalUserId: user })).externalUserId, user);
});

test('tokens arrive while the answer is still being made, with the credits set aside', async () => {
  const { account, ask, holdings } = visitor();
  await account();
  const reader = (await ask('What is a hold? Slowly')).body.getReader();
  await reader.read();
  const { balance, held } = await holdings();
  assert.deepEqual([balance, held], [435, 65]);
  await reader.cancel();
  while ((await holdings()).held);
});

test('a reader who leaves in the middle pays for what was streamed until then', async () => {
  const { account, ask, holdings } = visitor();
  await account();
  const leave = new AbortController();
  const reader = (await ask('What is a hold? Slowly', { signal: leave.signal })).body.getReader();
  await reader.read();
  leave.abort();
  // Until the server has noticed.
  let now = await holdings();
  while (now.held) now = await holdings();
  // The question, what they received, and what was on its way: far from all of it.
  assert.ok(now.balance < 495 && now.balance > 480, `${now.balance} left`);
  // And can be read what it came to.
  assert.equal((await account()).entries[0].delta, now.balance - 500);
});

test('a model that fails costs nothing', async () => {
  const { account, ask, holdings } = visitor();
  await account();
  const answer = await ask('please fail');
  assert.equal(answer.status, 502);
  assert.match((await answer.json()).message, /cost nothing/);
  assert.deepEqual([(await holdings()).balance, (await holdings()).held ?? 0], [500, 0]);
});

test('a question that is sent twice is answered once', async () => {
  const { account, ask, holdings } = visitor();
  await account();
  const id = randomUUID();
  const answers = await Promise.all([ask('Hello there', {}, id), ask('Hello there', {}, id)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const { charged } = (await lines(answers.find(({ status }) => status === 200))).pop();
  assert.equal((await holdings()).balance, 500 - charged);
});

test('a user without enough credits is shown prices, buys, and asks again', async () => {
  const { user, account, ask, post } = visitor();
  const { balance } = await account();
  await scrip.deduct({ externalUserId: user, amount: balance - 10 });
  const refused = await ask('What is a hold?');
  assert.equal(refused.status, 402);
  const { shortfall, prices } = await refused.json();
  assert.equal(shortfall, 54);
  const page = new Scrip({ baseUrl: (await account()).baseUrl, session: async () => (await post('/session', {})).json() });
  const { url: checkout } = await page.checkout({ priceId: prices[0].id });
  assert.equal((await fetch(`${checkout}/pay`, { method: 'POST' })).status, 200);
  assert.equal((await account()).balance, 1010);
  assert.equal((await page.wallet()).externalUserId, user);
  await assert.rejects(page.deduct({ productId: 'prod_1', amount: 1 }), { code: 'session_forbidden' });
  assert.equal((await ask('What is a hold?')).status, 200);
});

test('the page shows what each answer costs, what a stopped one came to, and sells in place', async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
  try {
    const context = await browser.newContext({ viewport: { width: 700, height: 400 } });
    const { user } = visitor();
    await context.addCookies([{ name: 'user', value: user, url }]);
    const page = await context.newPage();
    const wrong = [];
    page.on('pageerror', (error) => wrong.push(error.message));
    await page.goto(url);
    const balance = page.locator('#balance');
    await balance.filter({ hasText: '500 credits' }).waitFor();
    const question = page.getByLabel('Your question');
    const answers = page.locator('.answer');
    const ask = async (words) => {
      await question.fill(words);
      await page.getByRole('button', { name: 'Ask' }).click();
    };
    await ask('What is a hold?');
    await answers.first().getByText(/^64 credits$/).waitFor();
    await balance.filter({ hasText: '436 credits' }).waitFor();

    await ask('Slowly, please');
    await answers.nth(1).getByText(/^A hold/).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await answers.nth(1).getByText(/^Stopped\. \d+ credits for what was said\.$/).waitFor();

    const { balances } = await scrip.wallet({ externalUserId: user });
    await scrip.deduct({ externalUserId: user, amount: balances[0].balance - 10 });
    await balance.filter({ hasText: /^10 credits$/ }).waitFor();
    await ask('What is a hold?');
    // What recurs says so, and all of it can be seen where the question was asked.
    const offer = page.getByRole('button', { name: 'Subscribe to Starter for €9.00 a month' });
    await offer.waitFor();
    assert.ok(await offer.evaluate((button) => button.getBoundingClientRect().bottom <= document.querySelector('form').getBoundingClientRect().top));
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Buy 1,000 credits for €9.00' }).click()]);
    await popup.getByLabel(/email/i).fill('ann@mail.example');
    await popup.getByRole('button', { name: /^pay(?! later)/i }).click();
    // Asked again by itself.
    await answers.nth(3).getByText(/^64 credits$/).waitFor();
    await balance.filter({ hasText: '946 credits' }).waitFor();
    assert.deepEqual(wrong, []);
  } finally {
    await browser.close();
  }
});

test('nonsense is refused plainly', async () => {
  const { post } = visitor();
  const statuses = [];
  for (const value of [{}, { prompt: '' }, { prompt: 'x', id: '../..' }, { prompt: 'x'.repeat(3_000), id: randomUUID() }, null, []]) statuses.push((await post('/ask', value)).status);
  assert.deepEqual(new Set(statuses), new Set([400]));
  assert.equal((await fetch(`${url}/ask`, { method: 'POST', body: '{' })).status, 415);
  assert.equal((await fetch(`${url}/session`, { method: 'POST', headers: { origin: 'https://evil.example' } })).status, 403);
  assert.equal((await fetch(`${url}/scrip/nothing.js`)).status, 404);
  assert.match(await (await fetch(`${url}/scrip/index.js`)).text(), /export \{[^}]*Scrip/);
  assert.equal((await fetch(`${url}/nothing`)).status, 404);
  assert.match(await (await fetch(url)).text(), /Metered chat/);
});
