// @vitest-environment node
// A user who is signed in, in a real browser: enters a card on the provider's page, switches automatic top-up on, buys, and
// sees the balance rise by itself when it is spent. axe-core judges the page; its picture goes to PICTURES.
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBrowser, serveSite, type Site } from '@scrip-wallet/kit/browser';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openShop, type Shop } from './shop';

const root = fileURLToPath(new URL('..', import.meta.url));
const baseUrl = inject('baseUrl');
const { PICTURES } = process.env;

const PAGE = `
import { createRoot } from 'react-dom/client';
import { AutoTopUp, BalanceBadge, PaymentMethod, PricingTable, ScripProvider } from './src';
createRoot(document.querySelector('main')).render(
  <ScripProvider baseUrl="${baseUrl}" session={() => window.session()} locale="en-GB">
    <h1>Billing</h1>
    <p>You have <BalanceBadge /></p>
    <h2>Card</h2>
    <PaymentMethod />
    <h2>Automatic top-up</h2>
    <AutoTopUp seller="Atelier" />
    <PricingTable popup filter={({ interval }) => interval === 'one_time'} />
  </ScripProvider>,
);`;
const LOOKS = 'body { font-family: system-ui, sans-serif; margin: 1.5rem auto; max-width: 44rem } h1, h2 { margin: 1.2rem 0 0.6rem }';

let shop: Shop;
let browser: Browser;
let site: Site;
beforeAll(async () => {
  const stdin = { contents: PAGE, resolveDir: root, loader: 'tsx' } as const;
  const define = { 'process.env.NODE_ENV': '"production"' };
  const alias = { '@scrip-wallet/react': join(root, 'src/headless.ts') };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm', target: 'es2022', jsx: 'automatic', define, alias, logLevel: 'error' });
  const script = (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script');
  const css = await readFile(join(root, 'styles.css'), 'utf8');
  site = await serveSite(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Billing</title><style>${LOOKS}${css}</style><main></main><script type="module">${script}</script></html>`);
  [shop, browser] = await Promise.all([openShop(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  site?.close();
});

const secretly = async (path: string, body: object): Promise<unknown> => {
  const headers = { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' };
  const reply = await fetch(`${baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
};

async function judge(page: Page, name: string): Promise<void> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
  expect(found, name).toEqual([]);
  if (PICTURES) await writeFile(join(PICTURES, `auto-top-up-${name}.png`), await page.screenshot({ fullPage: true }));
}

it('a card is entered, top-up switched on, and the balance rises by itself', { timeout: 120_000 }, async () => {
  const externalUserId = `ann-${crypto.randomUUID()}`;
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(30_000);
  await context.exposeFunction('session', () => secretly('/sessions', { externalUserId }));
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(site.url);
  const balance = (text: string) => page.locator('.scrip-balance').filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
  await balance('0 images');
  await page.getByText('No card is on file.').waitFor();

  // What is in the form already is there again after the card.
  await page.getByLabel('Buy when you have fewer images than').fill('30');
  const enterCard = async (name: string) => {
    await page.getByRole('button', { name }).click();
    await page.waitForURL((url) => url.origin === new URL(baseUrl).origin);
    const owner = page.getByLabel(/email/i);
    if ((await owner.count()) > 0 && !(await owner.inputValue())) await owner.fill('ann@mail.example');
    await page.getByRole('button', { name: 'Save card' }).click();
    await page.waitForURL((url) => url.origin === new URL(site.url).origin);
  };
  await enterCard('Continue to the card');
  await page.getByText(/^Visa ending in 4242, valid until/).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.evaluate(() => Object.assign(globalThis, { stayed: true }));

  expect(await page.getByLabel('Buy when you have fewer images than').inputValue()).toBe('30');
  await page.getByLabel(/^At most in a month/).fill('25');
  await page.getByRole('checkbox', { name: /^I allow Atelier to charge my Visa ending in 4242 .* 100 images for €5\.00, .* €25\.00 in a calendar month/ }).check();
  await judge(page, 'form');
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('It is on: 100 images for €5.00, whenever fewer than 30 images are left.').waitFor();

  const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Buy 100 images for €5.00' }).click()]);
  const pay = popup.getByRole('button', { name: /^pay(?! later)/i });
  await pay.waitFor();
  const email = popup.getByLabel(/email/i);
  if ((await email.count()) > 0) await email.fill('ann@mail.example');
  await pay.click();
  await balance('100 images');
  await page.getByRole('button', { name: 'Buy 100 images for €5.00' }).waitFor();

  await secretly('/wallets/external/deduct', { externalUserId, productId: shop.productId, amount: 75, idempotencyKey: 'work' });
  await balance('125 images');
  await page.getByRole('meter', { name: '€5.00 of €25.00 charged this month' }).waitFor();
  await judge(page, 'on');
  expect(await page.evaluate(() => (globalThis as { stayed?: boolean }).stayed)).toBe(true);
  expect(complaints).toEqual([]);

  // Later a session alone may not have more charged: the card has to be there, too.
  await shop.admin('/sandbox/advance', { seconds: 1_900 });
  await page.reload();
  await page.getByRole('button', { name: 'Change…' }).click();
  await page.getByLabel(/^At most in a month/).fill('50');
  await page.getByRole('checkbox', { name: /€50\.00 in a calendar month/ }).check();
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('To keep your card safe, enter it once more.').waitFor();
  await enterCard('Enter the card');
  await page.getByRole('checkbox', { name: /€50\.00 in a calendar month/, checked: true }).waitFor();
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByRole('meter', { name: '€5.00 of €50.00 charged this month' }).waitFor();

  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByText('It is off.').waitFor();
  await page.getByRole('button', { name: 'Remove the card…' }).click();
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByText('No card is on file.').waitFor();
  await context.close();
});
