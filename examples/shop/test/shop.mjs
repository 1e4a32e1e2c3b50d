// A visitor with a browser: looks at the prices, buys, prints a poster, sees where the credits went, and goes on
// with the same credits on a phone. axe-core judges each page; the pictures go to PICTURES.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const { PICTURES } = process.env;
const LARGEST = 150_000;
const root = fileURLToPath(new URL('..', import.meta.url));
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Starts it as anybody would; its two addresses, and how to end it. */
async function open() {
  const data = await mkdtemp(join(tmpdir(), 'scrip-shop-'));
  const env = { ...process.env, SHOP_PORT: '0', SHOP_SCRIP_LISTEN: '127.0.0.1:0', SHOP_DATA_DIR: data };
  const child = spawn('./run', { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('exit', done));
  const [, shop, scrip] = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
      const found = /is open: (\S+)\s+Scrip is at (http[^\s,]+)/.exec(said);
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error(`it ended: ${said}`)));
  });
  const close = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  return { shop, scrip, close };
}

const { shop, scrip, close } = await open();
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const complaints = [];

/** A device of somebody's. */
async function device(viewport) {
  const context = await browser.newContext({ viewport, colorScheme: 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  // That a refusal is a refusal is not for the console to say.
  page.on('console', (message) => message.type() === 'error' && !/status of 40\d/.test(message.text()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(shop);
  await page.getByRole('button', { name: /^Buy / }).first().waitFor();
  return page;
}

/** Nothing is wider than the screen, and nothing keeps anybody out. */
async function judge(page, name, options = {}) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= page.viewportSize().width, `${name} is ${wide} wide`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`), [], name);
  const picture = await page.screenshot(options);
  assert.ok(picture.length < LARGEST, `${name}.png has ${picture.length} bytes`);
  if (PICTURES) await writeFile(join(PICTURES, `shop-${name}.png`), picture);
}

const badge = (page, words) => page.locator('header').getByText(words, { exact: true }).waitFor();
const show = (page, id) => page.evaluate((id) => document.getElementById(id).scrollIntoView(), id);

async function pay(page, button) {
  await page.getByRole('button', { name: button }).first().click();
  await page.waitForURL((url) => url.origin === new URL(scrip).origin);
  const email = page.getByLabel(/email/i);
  if ((await email.count()) && !(await email.inputValue())) await email.fill('ann@mail.example');
  await page.getByRole('button', { name: /^pay(?! later)/i }).click();
  await page.waitForURL((url) => url.origin === new URL(shop).origin);
  await page.getByText(/Payment received, thank you/).waitFor();
}

try {
  const desk = await device({ width: 1200, height: 860 });
  await badge(desk, '0 credits');
  await judge(desk, 'studio');
  await show(desk, 'prices');
  await judge(desk, 'prices');

  await pay(desk, 'Buy 40 posters for €12.00');
  await badge(desk, '200 credits');
  const code = await desk.locator('.thanks code').innerText();
  assert.match(code, /^[A-Z]{4,6}(-[0-9A-Z]{4}){3}$/);
  await judge(desk, 'paid');
  // What was paid for is there, and so it is after a reload, which thanks no more.
  await desk.reload();
  await badge(desk, '200 credits');
  assert.equal(await desk.getByText(/Payment received/).count(), 0);

  for (const [words, style, palette] of [['Slow mornings', 'Suns', 'Poppy'], ['North by ferry', 'Waves', 'Harbour'], ['Quince & pear', 'Blocks', 'Orchard'], ['After the rain', 'Waves', 'Dusk']]) {
    await desk.getByLabel('The words').fill(words);
    await desk.getByLabel(style, { exact: true }).check();
    await desk.getByLabel(palette, { exact: true }).check();
    await desk.getByRole('button', { name: 'Print it for 5 credits' }).click();
    await desk.getByRole('img', { name: `Poster: ${words}` }).waitFor();
  }
  await badge(desk, '180 credits');
  await desk.evaluate(() => document.getElementById('printed').scrollIntoView());
  await judge(desk, 'printed');
  await show(desk, 'wallet');
  const newest = desk.getByRole('row').nth(1);
  await newest.getByText('Poster “After the rain”').waitFor();
  assert.match(await newest.innerText(), /-5\s+180 credits/);
  await judge(desk, 'ledger');

  // A colour that has to be bought first, once.
  await desk.getByLabel('Gold', { exact: true }).check();
  await desk.getByText('Upgrade to use this.').waitFor();
  await show(desk, 'studio');
  await judge(desk, 'gold');
  await pay(desk, 'Buy Gold ink for €6.00');
  await desk.getByLabel('Gold', { exact: true }).check();
  await desk.getByRole('button', { name: 'Print it for 5 credits' }).click();
  await badge(desk, '175 credits');

  // Another device, on which there is nothing yet.
  const phone = await device({ width: 390, height: 844 });
  await phone.getByRole('button', { name: 'Print it for 5 credits' }).click();
  const refused = phone.getByRole('alert');
  await refused.getByText('Not enough credits: 0 available, 5 requested.').waitFor();
  await refused.getByRole('button', { name: '10 posters for €4.00' }).waitFor();
  await refused.scrollIntoViewIfNeeded();
  await judge(phone, 'refused');
  await phone.getByRole('textbox', { name: 'Recovery code' }).fill(code.toLowerCase());
  await phone.getByRole('button', { name: 'Open wallet' }).click();
  await badge(phone, '175 credits');
  await show(phone, 'wallet');
  await phone.getByText('Poster “After the rain”').waitFor();
  await judge(phone, 'phone');
  await phone.getByRole('button', { name: 'Print it for 5 credits' }).click();
  await badge(phone, '170 credits');

  assert.deepEqual(complaints, []);
  console.log('the shop sells: bought, printed, remembered, and opened on a phone');
} finally {
  await browser.close();
  await close();
}
