// Against the service itself.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripError, ScripServer, isScripError, type ScripEvent, type UserWallet, type Wallet } from '../src/index.js';

let service: Service;
let scrip: ScripServer;
beforeAll(async () => {
  service = await startService();
  scrip = new ScripServer(service);
});
afterAll(() => service?.stop());

const collect = async <T>(from: AsyncIterable<T>) => {
  const all: T[] = [];
  for await (const each of from) all.push(each);
  return all;
};
const refusal = async (call: Promise<unknown>): Promise<ScripError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isScripError(error)) throw new Error(`not refused: ${String(error)}`);
  return error;
};
/** A user with this many credits. */
const user = async (amount: number) => {
  const externalUserId = `user-${randomUUID()}`;
  if (amount > 0) await scrip.credit({ externalUserId, productId: service.product, amount, idempotencyKey: 'first' });
  else await scrip.ensureWallet(externalUserId);
  return externalUserId;
};
/** A client that never receives the first answers of an address. */
const losing = (address: RegExp, times: number) => {
  let lost = 0;
  return new ScripServer({
    ...service,
    fetch: async (...given) => {
      const response = await fetch(...given);
      if (address.test(String(given[0])) && lost++ < times) throw new TypeError('connection reset');
      return response;
    },
  });
};
const balance = async (externalUserId: string) => (await scrip.wallet({ externalUserId })).balances[0]?.balance ?? 0;

describe('a key', () => {
  it('has to be a secret one, and stays out of what is said', () => {
    for (const secretKey of ['pay_pk_1234567890', 'sk_live_x']) {
      const make = () => new ScripServer({ baseUrl: service.baseUrl, secretKey });
      expect(make).toThrow(expect.objectContaining({ code: 'invalid_options' }));
      expect(make).not.toThrow(secretKey);
    }
  });

  it('that is not set is no fault where nothing is asked, as in a build', async () => {
    const fetch = vi.fn();
    expect(await refusal(new ScripServer({ baseUrl: service.baseUrl, secretKey: process.env['NO_SUCH_KEY'], fetch }).me())).toMatchObject({ code: 'invalid_options' });
    // Nor is a missing address tried four times before somebody says so.
    expect(await refusal(new ScripServer({ baseUrl: '', secretKey: 'pay_sk_1', fetch }).me())).toMatchObject({ code: 'invalid_options' });
    expect(fetch).not.toHaveBeenCalled();
  });

  it('does not show when a client is printed', () => {
    expect(JSON.stringify(scrip)).not.toContain(service.secretKey);
  });

  it('is not used in a browser', () => {
    Object.assign(globalThis, { window: {}, document: {} });
    try {
      expect(() => new ScripServer(service)).toThrow(expect.objectContaining({ code: 'invalid_options' }));
    } finally {
      Reflect.deleteProperty(globalThis, 'window');
      Reflect.deleteProperty(globalThis, 'document');
    }
  });

  it('that is unknown is a typed refusal', async () => {
    const stranger = new ScripServer({ ...service, secretKey: 'pay_sk_00000000000000000000000000000000' });
    expect(await refusal(stranger.me())).toMatchObject({ code: 'invalid_api_key', status: 401, requestId: expect.stringMatching(/^req_/) });
  });
});

describe('a wallet', () => {
  it("is a user's, once made", async () => {
    const externalUserId = `user-${randomUUID()}`;
    expect(await scrip.wallet({ externalUserId })).toEqual({ externalUserId, walletId: null, balances: [], features: [], subscriptions: [] });
    expect(await scrip.ledger({ externalUserId })).toEqual({ items: [], nextCursor: null });
    const made = await scrip.ensureWallet(externalUserId);
    expect(await scrip.ensureWallet(externalUserId)).toEqual(made);
    expect(await scrip.wallet({ externalUserId })).toEqual(made);
    expect(made).toMatchObject({ externalUserId, balances: [], walletId: expect.stringMatching(/^wal_/) });
  });

  it('is opened by a code, replaced when it leaked', async () => {
    const { code } = await scrip.createWallet();
    expect((await scrip.wallet({ code })).code).toBe(code);
    const next = await scrip.rotate(code, { idempotencyKey: 'leaked' });
    expect(await scrip.rotate(code, { idempotencyKey: 'leaked' })).toBe(next);
    expect(await refusal(scrip.wallet({ code }))).toMatchObject({ code: 'wallet_not_found' });
    expect((await scrip.wallet({ code: ` ${next.toLowerCase().replaceAll('-', ' – ')}.` })).code).toBe(next);
  });

  it('has the type of how it is named', () => {
    expectTypeOf(() => scrip.wallet({ code: 'x' })).returns.resolves.toEqualTypeOf<Wallet>();
    expectTypeOf(() => scrip.wallet({ externalUserId: 'x' })).returns.resolves.toEqualTypeOf<UserWallet>();
    // @ts-expect-error: a wallet has to be named.
    void (() => scrip.wallet({}));
  });

  it('is one wallet', async () => {
    const both = { code: 'A-B-C-D', externalUserId: 'ann' } as unknown as { code: string };
    expect(await refusal(scrip.wallet(both))).toMatchObject({ code: 'conflicting_wallet' });
    // A code out of somebody's input names no other endpoint.
    for (const code of ['..', 'x/../external', 'external?externalUserId=ann', ''])
      expect(await refusal(scrip.wallet({ code }))).toMatchObject({ code: 'invalid_request' });
  });
});

describe('credits', () => {
  it('are given and taken once for each key', async () => {
    const externalUserId = await user(0);
    const grant = { externalUserId, productId: service.product, amount: 100, idempotencyKey: 'welcome' };
    expect(await scrip.credit(grant)).toEqual({ balance: 100, credited: true });
    expect(await scrip.credit(grant)).toEqual({ balance: 100, credited: false });
    const use = { externalUserId, amount: 3, idempotencyKey: 'image-1', meta: { feature: 'image' } };
    expect(await scrip.deduct(use)).toEqual({ balance: 97, deducted: true });
    expect(await scrip.deduct(use)).toEqual({ balance: 97, deducted: false });
    expect(await refusal(scrip.deduct({ ...use, amount: 4 }))).toMatchObject({ code: 'idempotency_key_reused', idempotencyKey: 'image-1' });
    // Without a key each call is a new deduction.
    await scrip.deduct({ externalUserId, amount: 1 });
    expect(await scrip.deduct({ externalUserId, amount: 1 })).toEqual({ balance: 95, deducted: true });
  });

  it('of a code wallet go by its code, which the body does not repeat', async () => {
    const { code } = await scrip.createWallet();
    await scrip.credit({ code, productId: service.product, amount: 10, idempotencyKey: 'grant-1' });
    expect(await scrip.deduct({ code, productId: service.product, amount: 4 })).toEqual({ balance: 6, deducted: true });
    const { items } = await scrip.ledger({ code }, { reason: 'manual' });
    expect(items.map(({ delta }) => delta)).toEqual([10]);
    // @ts-expect-error: a code wallet's product has to be named.
    expect(await refusal(scrip.deduct({ code, amount: 1 }))).toMatchObject({ code: 'invalid_request', param: 'productId' });
  });

  it('that are missing are a refusal that says what would cover them', async () => {
    const externalUserId = await user(5);
    const error = await refusal(scrip.deduct({ externalUserId, amount: 500 }));
    if (!isScripError(error, 'insufficient_credits')) throw error;
    expectTypeOf(error.shortfall).toEqualTypeOf<number>();
    expect(error.docs).toBe('/docs/errors#insufficient_credits');
    expect([error.status, error.balance, error.requested, error.shortfall, error.productId]).toEqual([402, 5, 500, 495, service.product]);
    expect(error.prices.map(({ id }) => id)).toContain(service.price);
    expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('that a user who never bought lacks are the same refusal, and free ones are there at first sight', async () => {
    const externalUserId = `user-${randomUUID()}`;
    const error = await refusal(scrip.deduct({ externalUserId, amount: 5 }));
    expect([error.status, isScripError(error, 'insufficient_credits') && error.prices.length > 0]).toEqual([402, true]);
    const held = await refusal(scrip.withHold({ externalUserId: `user-${randomUUID()}`, amount: 5 }, async () => ({ amount: 1 })));
    expect(held.code).toBe('insufficient_credits');
    const project = await service.admin<{ id: string; secretKey: string }>('POST', '/projects', { name: 'Sketches' });
    await service.admin('POST', `/projects/${project.id}/products`, { name: 'Sketches', type: 'credits', creditUnit: 'sketches', freeGrant: { credits: 3, period: 'once' } });
    const generous = new ScripServer({ ...service, secretKey: project.secretKey });
    expect(await generous.deduct({ externalUserId: 'ann', amount: 2 })).toEqual({ balance: 1, deducted: true });
    expect(await generous.hold({ externalUserId: 'bob', amount: 2 })).toMatchObject({ amount: 2, balance: 1 });
    const batch = await generous.deductBatch([1, 2].map((amount) => ({ externalUserId: 'eve', amount, idempotencyKey: `${amount}` })));
    expect(batch).toEqual([{ balance: 2, deducted: true }, { balance: 0, deducted: true }]);
  });

  it('of a code that opens nothing stay a refusal', async () => {
    expect(await refusal(scrip.deduct({ code: 'OLIVE-0000-0000-0000', productId: service.product, amount: 5 }))).toMatchObject({ code: 'wallet_not_found' });
  });

  it('are not taken under a misspelled key, which would be a new one each time', async () => {
    const externalUserId = await user(5);
    const typo = { externalUserId, amount: 1, idempotncyKey: 'image-1' };
    expect(await refusal(scrip.deduct(typo))).toMatchObject({ code: 'invalid_request', param: 'idempotncyKey' });
    expect(await refusal(scrip.hold(typo))).toMatchObject({ param: 'idempotncyKey' });
    expect(await refusal(scrip.withHold(typo, async () => ({ amount: 1 })))).toMatchObject({ param: 'idempotncyKey' });
    expect(await balance(externalUserId)).toBe(5);
  });

  it('that were taken though the answer was lost are reported as taken', async () => {
    const externalUserId = await user(5);
    const lossy = losing(/deduct$/, 2);
    expect(await lossy.deduct({ externalUserId, amount: 2 })).toEqual({ balance: 3, deducted: true });
    // With a key of one's own another run may have been served.
    const again = losing(/deduct$/, 1);
    expect(await again.deduct({ externalUserId, amount: 2, idempotencyKey: 'image-1' })).toEqual({ balance: 1, deducted: false });
  });

  it('that are no whole number are always refused', async () => {
    const externalUserId = await user(5);
    for (const amount of [0, -1, 1.5, NaN, Infinity, 2 ** 53, 1e300, '5'])
      expect(await refusal(scrip.deduct({ externalUserId, amount: amount as number }))).toMatchObject({ code: 'invalid_request', param: 'amount' });
    expect(await refusal(scrip.deduct({ externalUserId, amount: 5n as unknown as number }))).toMatchObject({ code: 'invalid_request' });
    expect(await refusal(scrip.credit({ externalUserId, productId: service.product, amount: Number.MAX_SAFE_INTEGER, idempotencyKey: 'all' }))).toMatchObject({
      code: 'balance_limit',
    });
    expect(await balance(externalUserId)).toBe(5);
  });

  it('are given back, and put out of reach', async () => {
    const externalUserId = await user(5);
    await scrip.deduct({ externalUserId, amount: 4 });
    const [taken] = (await scrip.ledger({ externalUserId }, { reason: 'deduction' })).items;
    const given = await scrip.reverseDeduction(taken!.id, { amount: 3, idempotencyKey: 'failed', note: 'The picture was black.' });
    expect(given).toEqual({ balance: 4, reversed: true, amount: 3 });
    expect((await scrip.ledger({ externalUserId })).items[0]).toMatchObject({ reason: 'reversal', reverses: taken!.id });
    expect(await refusal(scrip.reverseDeduction(taken!.id, { amount: 2, idempotencyKey: 'more' }))).toMatchObject({ code: 'already_reversed' });
    expect((await scrip.freeze({ externalUserId, frozen: true, reason: 'A leak.' })).frozenReason).toBe('A leak.');
    expect(await refusal(scrip.deduct({ externalUserId, amount: 1 }))).toMatchObject({ code: 'wallet_frozen' });
    await scrip.freeze({ externalUserId, frozen: false });
    expect(await scrip.deduct({ externalUserId, amount: 1 })).toMatchObject({ balance: 3 });
  });

  it('go as a batch, each item on its own', async () => {
    const externalUserId = await user(5);
    const results = await scrip.deductBatch([
      { externalUserId, amount: 4, idempotencyKey: 'a' },
      { externalUserId, amount: 4, idempotencyKey: 'b' },
      { externalUserId: 'nobody', amount: 1, idempotencyKey: 'c' },
    ]);
    expect(results[0]).toEqual({ balance: 1, deducted: true });
    const [, short, unknown] = results;
    if (!isScripError(short?.error, 'insufficient_credits')) throw new Error('not short');
    expect([short.error.shortfall, short.error.idempotencyKey]).toEqual([3, 'b']);
    expect([short.error.status, unknown?.error?.status]).toEqual([402, 402]);
    // Who has no wallet gets one, as with a single deduction.
    expect(unknown?.error).toMatchObject({ code: 'insufficient_credits', idempotencyKey: 'c' });
    expect((await scrip.wallet({ externalUserId: 'nobody' })).walletId).not.toBeNull();
    expect(await refusal(scrip.deductBatch([{ externalUserId, amount: 0, idempotencyKey: 'd' }]))).toMatchObject({ param: 'items[0].amount' });
  });

  it('are granted, held, drawn and settled in batches', async () => {
    const externalUserId = `user-${randomUUID()}`;
    const grant = { externalUserId, productId: service.product, amount: 10, idempotencyKey: 'a' };
    const granted = await scrip.creditBatch([grant, { ...grant, productId: 'prod_x' }]);
    expect(granted).toMatchObject([{ balance: 10, credited: true }, { error: { code: 'product_not_found', idempotencyKey: 'a' } }]);
    const [held, short, unknown] = await scrip.holdBatch([
      { externalUserId, amount: 6, idempotencyKey: 'a' },
      { externalUserId, amount: 6, idempotencyKey: 'b' },
      { externalUserId: `user-${randomUUID()}`, amount: 1, idempotencyKey: 'c' },
    ]);
    expect(held).toMatchObject({ amount: 6, balance: 4 });
    expect([short?.error?.code, unknown?.error?.code]).toEqual(['insufficient_credits', 'insufficient_credits']);
    const holdId = held?.holdId as string;
    const charged = await scrip.settleBatch([
      { holdId, amount: 2, keepOpen: true, idempotencyKey: 'd' },
      { holdId, amount: 5 },
      { holdId: 'hold_x', amount: 1 },
    ]);
    expect(charged).toMatchObject([{ drawn: 2, held: 4 }, { balance: 5, deducted: true }, { error: { code: 'hold_not_found' } }]);
  });
});

describe('a list', () => {
  it('of a ledger is read to its end, newest first', async () => {
    const externalUserId = await user(100);
    for (let n = 0; n < 6; n++) await scrip.deduct({ externalUserId, amount: 1, meta: { n } });
    const all = await collect(scrip.ledgerEntries({ externalUserId }, { limit: 3 }));
    expect(all.map(({ balanceAfter }) => balanceAfter)).toEqual([94, 95, 96, 97, 98, 99, 100]);
    const page = await scrip.ledger({ externalUserId }, { limit: 3, reason: 'deduction' });
    expect(page.items).toHaveLength(3);
    expect(await collect(scrip.ledgerEntries({ externalUserId }, { limit: 3, reason: 'deduction', cursor: page.nextCursor }))).toHaveLength(3);
    expect(await refusal(scrip.ledger({ externalUserId }, { limit: 101 }))).toMatchObject({ code: 'invalid_request', param: 'limit' });
    expect(await refusal(collect(scrip.ledgerEntries({ code: 'OLIVE-0000-0000-0000' })))).toMatchObject({ code: 'wallet_not_found' });
  });

  it('is asked for by the hundred', async () => {
    const asked: string[] = [];
    const watched = new ScripServer({ ...service, fetch: (...given) => (asked.push(String(given[0])), fetch(...given)) });
    await collect(watched.ledgerEntries({ externalUserId: await user(1) }));
    await collect(watched.allOrders());
    await collect(watched.allEvents({ types: ['order.disputed'] }));
    expect(asked.map((url) => new URL(url).searchParams.get('limit'))).toEqual(['100', '100', '100']);
  });
});

describe('a purchase', () => {
  it('goes from checkout to refund', async () => {
    const externalUserId = await user(0);
    const checkout = await scrip.checkout({ externalUserId, priceId: service.price, successUrl: 'https://shop.example/', metadata: { cart: '7' } });
    expect(await scrip.order(checkout.orderId)).toMatchObject({ status: 'pending', metadata: { cart: '7' } });
    await service.press(checkout.url, 'pay', { email: 'ann@mail.example' });
    const paid = await scrip.order(checkout.checkoutId);
    expect(paid).toMatchObject({ id: checkout.orderId, status: 'paid', balance: 1000, customerEmail: 'ann@mail.example' });
    expect(paid.payment?.provider).toBe('sandbox');
    expect((await scrip.orders({ limit: 1 })).items.map(({ id }) => id)).toEqual([paid.id]);
    const second = await scrip.checkout({ externalUserId, priceId: service.price });
    expect((await collect(scrip.allOrders({ limit: 1 }))).slice(0, 2).map(({ id }) => id)).toEqual([second.orderId, paid.id]);
    expect((await scrip.portal({ externalUserId, returnUrl: 'https://shop.example/' })).url).toMatch(/^http/);
    const refunded = await scrip.refund(paid.id, { amountCents: 90, idempotencyKey: 'ticket-7' });
    expect(refunded).toMatchObject({ status: 'paid', refundedCents: 90 });
    expect(await balance(externalUserId)).toBe(900);
    const error = await refusal(scrip.refund(paid.id, { amountCents: 100_000, idempotencyKey: 'ticket-8' }));
    if (!isScripError(error, 'already_refunded')) throw error;
    expect(error.refundableCents).toBe(paid.amountCents - 90);
  });

  it('of a subscription is ended and goes on', async () => {
    const externalUserId = await user(0);
    const { url } = await scrip.checkout({ externalUserId, priceId: service.tier });
    await service.press(url, 'pay');
    const [subscription] = (await scrip.wallet({ externalUserId })).subscriptions;
    const productId = subscription?.productId ?? '';
    expect(await scrip.cancelSubscription({ externalUserId, productId, idempotencyKey: 'leaves' })).toMatchObject({ cancelAtPeriodEnd: true });
    const subscriptionId = subscription?.id ?? '';
    const going = await scrip.resumeSubscription({ externalUserId, subscriptionId, idempotencyKey: 'stays' });
    expect([going.status, going.cancelAtPeriodEnd]).toEqual(['active', false]);
    expect((await scrip.wallet({ externalUserId })).subscriptions[0]).toMatchObject({ id: subscriptionId, cancelAtPeriodEnd: false });
    const returnUrl = 'https://shop.example/';
    expect((await scrip.portal({ externalUserId, subscriptionId, returnUrl })).url).toContain('/portal/');
    expect(await refusal(scrip.portal({ externalUserId, subscriptionId: 'sub_1', returnUrl }))).toMatchObject({ code: 'subscription_not_found' });
    expect(await refusal(scrip.checkout({ externalUserId, priceId: service.tier }))).toMatchObject({ code: 'already_subscribed', status: 409 });
  });

  it('unlocks features, as does a grant by hand', async () => {
    const externalUserId = await user(0);
    expect(await scrip.grantFeature({ externalUserId, feature: 'beta' })).toEqual(['beta']);
    expect(await scrip.revokeFeature({ externalUserId, feature: 'beta' })).toEqual([]);
    const { code } = await scrip.createWallet();
    expect(await scrip.grantFeature({ code, feature: 'beta' })).toEqual(['beta']);
    expect(await refusal(scrip.portal({ code, returnUrl: 'https://shop.example/' }))).toMatchObject({ code: 'no_purchase' });
  });
});

describe('what happened', () => {
  it('is counted', async () => {
    const externalUserId = await user(50);
    await scrip.deduct({ externalUserId, amount: 7, meta: { feature: 'sketch' } });
    const buckets = await scrip.usage({ interval: 'hour', groupBy: 'feature' });
    const sketches = buckets.flatMap(({ features }) => features ?? []).filter(({ feature }) => feature === 'sketch');
    expect(sketches).toEqual([{ feature: 'sketch', credits: 7, deductions: 1 }]);
  });

  it('lists events from a cursor on, and then new ones', async () => {
    const before = (await collect(scrip.allEvents())).at(-1)?.id ?? null;
    const externalUserId = await user(20);
    const listed = await collect(scrip.allEvents({ after: before, limit: 1 }));
    expect(listed.map(({ type }) => type)).toEqual(['wallet.created', 'wallet.credited']);
    const stop = new AbortController();
    const seen: ScripEvent[] = [];
    const polling = (async () => {
      const types = ['wallet.depleted', 'wallet.credited'];
      for await (const event of scrip.pollEvents({ after: listed.at(-1)?.id ?? null, types, intervalMs: 5, signal: stop.signal })) {
        seen.push(event);
        if (seen.length === 2) stop.abort();
      }
    })();
    await scrip.credit({ externalUserId, productId: service.product, amount: 5, idempotencyKey: 'more' });
    await scrip.deduct({ externalUserId, amount: 25 });
    await polling;
    expect(seen.map(({ type }) => type)).toEqual(['wallet.credited', 'wallet.depleted']);
  });
});
