// Gathered deductions against the service itself, over a network that loses answers.
import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripError, ScripServer, isScripError } from '../src/index.js';

let service: Service;
let scrip: ScripServer;
beforeAll(async () => {
  service = await startService();
  scrip = new ScripServer(service);
});
afterAll(() => service?.stop());

/** Users with this many credits each. */
const users = async (count: number, amount: number) => {
  const ids = Array.from({ length: count }, () => `user-${randomUUID()}`);
  for (const externalUserId of ids) await scrip.credit({ externalUserId, productId: service.product, amount, idempotencyKey: 'first' });
  return ids;
};
const balance = async (externalUserId: string) => (await scrip.wallet({ externalUserId })).balances[0]?.balance ?? 0;

/** Passes bytes on, and cuts the connections of answers that it is asked to lose, once the service has sent them. */
async function startProxy(loses: () => boolean) {
  const { hostname, port } = new URL(service.baseUrl);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => void (loses() ? client.destroy() : client.write(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** A client that counts its requests, and meets these troubles at its first batches. */
const watched = (troubles: Response[] = [], baseUrl = service.baseUrl) => {
  const asked = { batches: 0, singles: 0 };
  const watch: typeof fetch = (input, init) => {
    const isBatch = String(input).endsWith('/batch');
    asked[isBatch ? 'batches' : 'singles']++;
    const trouble = isBatch ? troubles.shift() : undefined;
    return trouble ? Promise.resolve(trouble) : fetch(input, init);
  };
  return { asked, client: new ScripServer({ ...service, baseUrl, fetch: watch }) };
};
const answer = (status: number, code: string, headers: Record<string, string> = {}) => new Response(JSON.stringify({ code, message: 'No.' }), { status, headers });

it('ten thousand callers at once are each served once, in a few requests', async () => {
  const ids = await users(50, 1_000);
  const { asked, client } = watched();
  const calls = Array.from({ length: 10_000 }, (_, n) => client.deduct({ externalUserId: ids[n % 50] as string, amount: 1, meta: { n } }));
  const answers = await Promise.all(calls);
  expect(answers.every(({ deducted }) => deducted)).toBe(true);
  // In the order of the calls, for each wallet.
  for (const [at] of ids.entries()) expect(answers.filter((_, n) => n % 50 === at).map((each) => each.balance)).toEqual(Array.from({ length: 200 }, (_, n) => 999 - n));
  expect(asked.batches + asked.singles).toBeLessThan(20);
});

it('answers that are lost take nothing twice and lose nothing', async () => {
  const ids = await users(20, 10_000);
  let answers = 0;
  const proxy = await startProxy(() => answers++ % 3 === 1);
  const { asked, client } = watched([], proxy.baseUrl);
  let taken = 0;
  const worker = async (at: number) => {
    for (let n = 0; n < 25; n++) {
      const amount = 1 + ((at + n) % 7);
      const input = { externalUserId: ids[at % 20] as string, amount, idempotencyKey: `${at}-${n}` };
      // Where its attempts were too few, the key finds out.
      await client.deduct(input).catch((error: unknown) => {
        if (!isScripError(error, 'network_error')) throw error;
        return scrip.deduct(input);
      });
      taken += amount;
    }
  };
  await Promise.all(Array.from({ length: 100 }, (_, at) => worker(at)));
  proxy.close();
  const left = (await Promise.all(ids.map(balance))).reduce((sum, each) => sum + each, 0);
  expect(left + taken).toBe(20 * 10_000);
  expect(asked.batches).toBeGreaterThan(0);
  const entries = (await scrip.ledger({ externalUserId: ids[0] as string }, { reason: 'deduction', limit: 100 })).items;
  expect(new Set(entries.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(entries.length);
});

it('callers who give up take nothing along', async () => {
  const [externalUserId = '', other = ''] = await users(2, 1_000);
  const { client } = watched();
  const stop = new AbortController();
  const kept = [];
  const left = [];
  for (let n = 0; n < 200; n++) {
    const [input, signal] = [{ externalUserId, amount: 1, idempotencyKey: `${n}` }, stop.signal];
    if (n % 2) kept.push(client.deduct({ ...input, externalUserId: n % 4 === 1 ? externalUserId : other }));
    else left.push(client.deduct(input, { signal }).catch((error: ScripError) => error.code));
  }
  stop.abort();
  expect(new Set(await Promise.all(left))).toEqual(new Set(['aborted']));
  expect((await Promise.all(kept)).every(({ deducted }) => deducted)).toBe(true);
  expect([await balance(externalUserId), await balance(other)]).toEqual([950, 950]);
});

it('troubles of a batch are met as those of single deductions', async () => {
  const gateway = new Response('<h1>Request entity too large</h1>', { status: 413 });
  const troubles = {
    limited: [answer(429, 'rate_limited', { 'retry-after': '0' })],
    stopping: [answer(503, 'unavailable'), answer(503, 'overloaded')],
    large: [gateway],
    old: [answer(404, 'not_found')],
    older: [answer(405, 'method_not_allowed')],
    short: [answer(400, 'invalid_request')],
  };
  for (const [name, responses] of Object.entries(troubles)) {
    const ids = await users(10, 100);
    const { asked, client } = watched(responses);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => client.deduct({ externalUserId: ids[n % 10] as string, amount: 1 })));
    expect([name, answers.every(({ deducted }) => deducted), await Promise.all(ids.map(balance))]).toEqual([name, true, ids.map(() => 90)]);
    expect(asked.batches).toBeGreaterThan(0);
  }
});

it('each has the answer and the error that it has by itself', async () => {
  const [externalUserId = ''] = await users(1, 10);
  const { code } = await scrip.createWallet();
  await scrip.credit({ code, productId: service.product, amount: 10, idempotencyKey: 'first' });
  const inputs = [
    { externalUserId, amount: 1, idempotencyKey: 'once' },
    { externalUserId, amount: 1, idempotencyKey: 'once' },
    { externalUserId, amount: 2, idempotencyKey: 'once' },
    { externalUserId, amount: 100 },
    { externalUserId, amount: 100, onShortfall: 'drain' },
    { externalUserId, amount: 0 },
    { externalUserId, amount: 1, productId: 'prod_none' },
    { externalUserId, amount: 1, meta: { note: 'x'.repeat(5_000) } },
    { externalUserId: `new-${randomUUID()}`, amount: 5 },
    { code: code.toLowerCase(), productId: service.product, amount: 4 },
    { code: 'OLIVE-0000-0000-0000', productId: service.product, amount: 4 },
    { code, amount: 4 },
  ] as Parameters<ScripServer['deduct']>[0][];
  const of = (client: ScripServer) => Promise.all(inputs.map((input) => client.deduct(input).catch((error: ScripError) => error)));
  const results = await of(scrip);
  expect(results).toMatchObject([
    { balance: 9, deducted: true },
    { deducted: false },
    { code: 'idempotency_key_reused', status: 409, idempotencyKey: 'once', docs: '/docs/errors#idempotency_key_reused' },
    { code: 'insufficient_credits', status: 402, balance: 9, shortfall: 91, prices: expect.anything() },
    { balance: 0, deducted: true, charged: 9, uncovered: 91 },
    { code: 'invalid_request', status: 400, param: 'amount' },
    { code: 'product_not_found', status: 404 },
    { code: 'invalid_request', status: 400, param: 'meta' },
    { code: 'insufficient_credits', status: 402 },
    { balance: 6, deducted: true },
    { code: 'wallet_not_found', status: 404 },
    { code: 'invalid_request', status: 400, param: 'productId' },
  ]);
  for (const each of results) if (each instanceof ScripError) expect([each.requestId, each.idempotencyKey]).toEqual([expect.stringMatching(/^req_/), expect.any(String)]);
});

it('holds, draws, settlements and grants go together, too, over a network that loses answers', async () => {
  const ids = Array.from({ length: 10 }, () => `user-${randomUUID()}`);
  let answers = 0;
  const proxy = await startProxy(() => answers++ % 4 === 1);
  const { asked, client } = watched([], proxy.baseUrl);
  /** A hundred calls at once, each tried until it has an answer. */
  const all = async <T>(call: (externalUserId: string, n: number) => Promise<T>) => {
    const until = async (ask: () => Promise<T>): Promise<T> => ask().catch((error: unknown) => (isScripError(error, 'network_error') ? until(ask) : Promise.reject(error)));
    const before = asked.batches;
    const results = await Promise.all(Array.from({ length: 100 }, (_, n) => until(() => call(ids[n % 10] as string, n))));
    expect(asked.batches).toBeGreaterThan(before);
    return results;
  };
  await all((externalUserId, n) => client.credit({ externalUserId, productId: service.product, amount: 20, idempotencyKey: `${n}` }));
  const placed = await all((externalUserId, n) => client.hold({ externalUserId, amount: 7, idempotencyKey: `h${n}` }));
  expect(new Set(placed.map(({ holdId }) => holdId)).size).toBe(100);
  await all((_, n) => client.draw(placed[n]?.holdId ?? '', { amount: 2, idempotencyKey: `d${n}` }));
  await all((_, n) => client.settle(placed[n]?.holdId ?? '', { amount: n < 50 ? 5 : 0 }));
  proxy.close();
  expect(await Promise.all(ids.map(balance))).toEqual(ids.map(() => 200 - 5 * 5));
  const holdId = placed[0]?.holdId ?? '';
  const results = [
    scrip.settle(holdId, { amount: 5 }),
    scrip.settle(holdId, { amount: 6 }),
    scrip.draw(holdId, { amount: 1 }),
    scrip.draw(holdId, { amount: 0 }),
    scrip.settle('hold_none', { amount: 1 }),
    scrip.hold({ externalUserId: ids[0] as string, amount: 1_000 }),
    scrip.credit({ externalUserId: ids[0] as string, productId: 'prod_none', amount: 1, idempotencyKey: 'x' }),
  ].map((call) => call.catch((error: ScripError) => error));
  expect(await Promise.all(results)).toMatchObject([
    { balance: 175, deducted: false },
    { code: 'hold_closed' },
    { code: 'hold_closed' },
    { code: 'invalid_request', param: 'amount' },
    { code: 'hold_not_found' },
    { code: 'insufficient_credits', shortfall: 825 },
    { code: 'product_not_found' },
  ]);
});

it('is left out where it is not wanted, and once a client was closed', async () => {
  const ids = await users(5, 100);
  const plain = watched();
  const single = new ScripServer({ ...service, gather: false, fetch: (...given) => (plain.asked.singles++, fetch(...given)) });
  const each = (client: ScripServer) => Promise.all(ids.map((externalUserId) => client.deduct({ externalUserId, amount: 1 })));
  await each(single);
  expect(plain.asked).toEqual({ batches: 0, singles: 5 });
  const { asked, client } = watched();
  const calls = each(client);
  await client.close();
  expect(asked).toEqual({ batches: 1, singles: 0 });
  expect((await calls).map((each) => each.balance)).toEqual([98, 98, 98, 98, 98]);
  await each(client);
  expect(asked).toEqual({ batches: 1, singles: 5 });
});
