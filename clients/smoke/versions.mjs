// Clients and services of different versions: clients of an earlier commit against this service, and these against
// services of yesterday and of tomorrow (kit/other-version.mjs).
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { otherVersion } from '../kit/other-version.mjs';

/** The first commit whose clients speak the API as it is now. */
const EARLIER = '30821452';

const root = fileURLToPath(new URL('..', import.meta.url));
const binary = process.env.SCRIP_BINARY ?? join(root, '../target/debug/scrip');
const folder = mkdtempSync(join(tmpdir(), 'scrip-versions-'));

/** The packages in a folder of clients, as one module each. */
async function clients(from, name) {
  const load = async (one) => {
    const outfile = join(folder, `${name}-${one}.mjs`);
    const core = join(from, 'core/src/index.ts');
    await build({ entryPoints: [join(from, one, 'src/index.ts')], outfile, bundle: true, format: 'esm', platform: 'node', nodePaths: [join(root, 'node_modules')], alias: { '@scrip/core': core, '@scrip-wallet/core': core }, logLevel: 'error' });
    return import(pathToFileURL(outfile));
  };
  return { ...(await load('server')), ...(await load('browser')) };
}

/** What an application does in its first days. */
async function use({ ScripServer, Scrip, isScripError }, baseUrl, demo, press, isYesterdays = false) {
  const refusal = async (call) => {
    const error = await call.then(() => undefined, (thrown) => thrown);
    assert.ok(isScripError(error), String(error));
    return error;
  };
  const scrip = new ScripServer({ baseUrl, secretKey: demo.secret_key, retries: 0 });
  const externalUserId = `versions-${randomUUID()}`;
  const productId = demo.product;
  assert.ok((await scrip.me()).project);
  assert.ok((await scrip.products()).some(({ id }) => id === productId));
  assert.deepEqual((await scrip.wallet({ externalUserId })).balances, []);
  await scrip.ensureWallet(externalUserId);
  assert.equal((await scrip.credit({ externalUserId, productId, amount: 100, idempotencyKey: 'a' })).balance, 100);
  const deduction = { externalUserId, productId, amount: 10, idempotencyKey: 'b', meta: { feature: 'ocr' } };
  for (const _ of ['once', 'again']) assert.equal((await scrip.deduct(deduction)).balance, 90);
  const { code, status } = await refusal(scrip.deduct({ externalUserId, productId, amount: 1000 }));
  assert.deepEqual([code, status], ['insufficient_credits', 402]);
  const batch = await scrip.deductBatch([1, 2, 1000].map((amount) => ({ externalUserId, productId, amount, idempotencyKey: `c${amount}` })));
  assert.equal(batch.length, 3);
  // What the service does not have is a refusal like others.
  const lacks = async (call) => assert.equal((await refusal(call)).code, 'route_not_found');
  const { balance } = await scrip.withHold({ externalUserId, productId, amount: 40 }, async (hold) => {
    await (isYesterdays ? lacks(hold.draw(5)) : hold.draw(5));
    return { amount: 12, value: 'an answer' };
  });
  assert.equal(balance, 75);
  const { holdId } = await scrip.hold({ externalUserId, productId, amount: 7 });
  assert.equal((await scrip.getHold(holdId)).holdId, holdId);
  await scrip.release(holdId);
  assert.equal((await scrip.wallet({ externalUserId })).balances[0].balance, 75);
  const deltas = [];
  for await (const { delta } of scrip.ledgerEntries({ externalUserId })) deltas.push(delta);
  assert.ok(deltas.includes(100) && deltas.includes(-10), String(deltas));
  if (isYesterdays) {
    await lacks(scrip.usage({ productId }));
    await lacks(scrip.session({ externalUserId }));
  } else {
    assert.ok((await scrip.usage({ productId })).length > 0);
    assert.ok((await scrip.session({ externalUserId })).token);
  }
  let events = 0;
  for await (const { id } of scrip.allEvents()) events += id ? 1 : 0;
  assert.ok(events > 0);

  const { url, orderId } = await scrip.checkout({ priceId: demo.price, externalUserId, successUrl: 'http://shop.example/', cancelUrl: 'http://shop.example/' });
  await press(url, 'pay');
  assert.equal((await scrip.order(orderId)).status, 'paid');
  assert.ok((await scrip.orders({ limit: 5 })).items.some(({ id }) => id === orderId));
  assert.equal((await refusal(scrip.order('ord_none'))).status, 404);

  const visitor = new Scrip({ baseUrl, publishableKey: demo.publishable_key, retries: 0 });
  const wallet = await visitor.ensureWallet();
  await new Promise((resolve, reject) => {
    const states = [];
    const stop = visitor.live((holdings) => {
      states.push(holdings);
      const held = holdings.balances?.[0]?.balance ?? 0;
      if (!Array.isArray(holdings.balances)) reject(new Error(`no wallet: ${JSON.stringify(states)}`));
      if (held === 0 && states.length === 1) scrip.credit({ code: wallet.code, productId, amount: 5, idempotencyKey: 'live' }).catch(reject);
      if (held === 5) {
        stop();
        resolve();
      }
    });
  });
  assert.equal((await visitor.deduct({ productId, amount: 2 })).balance, 3);
}

const service = spawn(binary, ['dev', '--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data')], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
// An answer that does not come ends the test, too.
const limit = setTimeout(() => service.kill('SIGTERM') && process.exit(1), 120_000);
try {
  const listening = await new Promise((resolve, reject) => {
    let output = '';
    service.stdout.on('data', (chunk) => {
      const match = /listening on (http:\S+)[\s\S]*idempotencyKey/.exec((output += chunk));
      if (match) resolve(match[1]);
    });
    service.once('exit', (code) => reject(new Error(`scrip dev ended with ${code}: ${output}`)));
  });
  const demo = JSON.parse(readFileSync(join(folder, 'data/dev.json'), 'utf8'));
  const press = async (url, button) => assert.ok((await fetch(`${url}/${button}`, { method: 'POST' })).ok);
  const present = await clients(root, 'present');
  await use(present, listening, demo, press);
  for (const kind of ['yesterday', 'tomorrow']) {
    const proxy = await otherVersion(kind, listening);
    try {
      await use(present, proxy.url, demo, press, kind === 'yesterday');
    } finally {
      proxy.close();
    }
    console.log(`These clients: work with the service of ${kind}`);
  }
  let archive;
  try {
    archive = execFileSync('git', ['archive', EARLIER, 'clients/core', 'clients/server', 'clients/browser'], { cwd: join(root, '..'), stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 });
  } catch {
    console.log(`NOT CHECKED: clients of ${EARLIER}, which this clone does not have`);
  }
  if (archive) {
    execFileSync('tar', ['xf', '-'], { cwd: folder, input: archive });
    await use(await clients(join(folder, 'clients'), 'earlier'), listening, demo, press);
    console.log(`Clients of ${EARLIER}: work with this service`);
  }
} finally {
  clearTimeout(limit);
  service.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
