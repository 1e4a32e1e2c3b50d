// Against the service itself; what needs a real browser is in chromium.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { Scrip, ScripError, browserStorage, isScripError, type CodeStorage, type OpenWallet, type ScripOptions, type Session, type Wallet } from '../src/index.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

/** A storage in memory, as two tabs share it. */
const storage = (kept: { code: string | null } = { code: null }): CodeStorage & { kept: { code: string | null } } => ({
  kept,
  get: () => kept.code,
  set: (code) => void (kept.code = code),
  remove: () => void (kept.code = null),
});
const client = (more: Partial<ScripOptions> = {}) => new Scrip({ ...service, storage: storage(), ...more });
const refusal = async (call: Promise<unknown>): Promise<ScripError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isScripError(error)) throw new Error(`not refused: ${String(error)}`);
  return error;
};
/** A client whose wallet has credits. */
const funded = async (amount: number, more: Partial<ScripOptions> = {}) => {
  const scrip = client(more);
  const { code } = await scrip.createWallet();
  await give(code, amount);
  return scrip;
};
const give = (code: string, amount: number) => server('POST', '/credit', { code, productId: service.product, amount, idempotencyKey: crypto.randomUUID() });
/** Asks as a server does. */
const server = async <T = unknown>(method: string, path: string, body: object): Promise<T> => {
  const headers = { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' };
  const reply = await fetch(`${service.baseUrl}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  expect(reply.status).toBe(200);
  return (await reply.json()) as T;
};

describe('a key', () => {
  it('has to be a publishable one: a secret one is refused at once', () => {
    for (const publishableKey of ['pay_sk_1234567890', 'pay_pk_?', ' pay_pk_1']) {
      const make = () => new Scrip({ baseUrl: service.baseUrl, publishableKey });
      expect(make).toThrow(expect.objectContaining({ code: 'invalid_options' }));
      expect(make).not.toThrow(publishableKey);
    }
  });

  it('that is not set is no fault where nothing is asked, as in a build', async () => {
    const fetch = vi.fn();
    const unset = new Scrip({ baseUrl: service.baseUrl, publishableKey: process.env['NO_SUCH_KEY'], fetch });
    expect(await refusal(unset.products())).toMatchObject({ code: 'invalid_options' });
    expect(fetch).not.toHaveBeenCalled();
  });

  it('says whose it is', async () => {
    expect(await client().me()).toMatchObject({ keyKind: 'publishable', mode: 'credit_codes', projectId: service.project });
    expect(await refusal(client({ publishableKey: 'pay_pk_0000000000000000000000000000' }).products())).toMatchObject({ code: 'invalid_api_key', status: 401 });
  });

  it('shows what is for sale', async () => {
    const products = await client().products();
    expect(products.flatMap(({ prices }) => prices).map(({ id }) => id)).toEqual(expect.arrayContaining([service.price, service.tier]));
  });
});

describe('a wallet', () => {
  it('is kept by its code, and opened again', async () => {
    const scrip = client();
    expect([await scrip.code(), await scrip.wallet()]).toEqual([null, null]);
    expect(await refusal(scrip.ledger())).toMatchObject({ code: 'no_wallet', status: 0 });
    const { code } = await scrip.createWallet();
    expect(await scrip.code()).toBe(code);
    expect((await scrip.wallet())?.code).toBe(code);
    const other = client();
    expect((await other.useCode(` ${code.toLowerCase()} `)).code).toBe(code);
    expect(await other.code()).toBe(code);
    await other.forget();
    expect(await other.wallet()).toBeNull();
  });

  it('whose code does not exist is not kept', async () => {
    const scrip = client();
    const { code } = await scrip.createWallet();
    expect(await refusal(scrip.useCode('OLIVE-0000-0000-0000'))).toMatchObject({ code: 'wallet_not_found', status: 404 });
    for (const typo of ['', '..', 'olive/7k2m', '<script>']) expect(await refusal(scrip.useCode(typo))).toMatchObject({ code: 'invalid_request', param: 'code' });
    expect(await scrip.code()).toBe(code);
  });

  it('whose code no longer works is checked once and then ignored', async () => {
    const asked: string[] = [];
    const kept = storage({ code: 'OLIVE-AAAA-BBBB-CCCC' });
    const scrip = client({ storage: kept, fetch: (...given) => (asked.push(new URL(String(given[0])).pathname), fetch(...given)) });
    expect(await scrip.wallet()).toBeNull();
    expect([await scrip.code(), await scrip.lostCode(), await scrip.wallet()]).toEqual([null, 'OLIVE-AAAA-BBBB-CCCC', null]);
    expect(asked.filter((path) => path.includes('OLIVE'))).toHaveLength(1);
    // Buying goes on, into a wallet that the payment makes.
    const { url, orderId } = await scrip.checkout({ priceId: service.price });
    await service.press(url, 'pay');
    expect(await scrip.waitForOrder(orderId)).toMatchObject({ status: 'paid', balance: 1000 });
    // So does starting over. The lost code is still reported, until it is forgotten.
    expect(await scrip.deduct({ productId: service.product, amount: 1 }).catch((error: ScripError) => error.code)).toBe('insufficient_credits');
    expect([kept.kept.code === 'OLIVE-AAAA-BBBB-CCCC', await scrip.lostCode()]).toEqual([false, 'OLIVE-AAAA-BBBB-CCCC']);
    const next = await scrip.code();
    await scrip.forgetLostCode();
    expect([await scrip.lostCode(), await scrip.code()]).toEqual([null, next]);
    expect(asked.filter((path) => path.includes('OLIVE'))).toHaveLength(1);
  });

  it('whose code opens nothing is found out by buying, too', async () => {
    const scrip = client({ storage: storage({ code: 'OLIVE-AAAA-BBBB-CCCC' }) });
    expect((await scrip.checkout({ priceId: service.price })).orderId).toMatch(/^ord_/);
    expect(await scrip.code()).toBeNull();
    // What is kept may be anything.
    expect(await client({ storage: storage({ code: '<script>' }) }).wallet()).toBeNull();
  });

  it('is tried again after a while: the service may have been wrong', async () => {
    const kept = storage();
    const { code } = await client({ storage: kept }).createWallet();
    let wrong = true;
    const body = JSON.stringify({ code: 'wallet_not_found', message: 'No such wallet.' });
    const scrip = client({ storage: kept, fetch: (...given) => (wrong ? Promise.resolve(new Response(body, { status: 404 })) : fetch(...given)) });
    expect(await scrip.wallet()).toBeNull();
    wrong = false;
    expect(await scrip.wallet()).toBeNull();
    vi.setSystemTime(Date.now() + 3_600_001);
    try {
      expect((await scrip.wallet())?.code).toBe(code);
    } finally {
      vi.useRealTimers();
    }
    expect((await client({ storage: kept }).useCode(code)).code).toBe(code);
  });

  it('is made once, however many ask', async () => {
    const scrip = client();
    const made = await Promise.all(Array.from({ length: 8 }, () => scrip.ensureWallet()));
    expect(new Set(made.map(({ code }) => code)).size).toBe(1);
    expect((await scrip.ensureWallet()).code).toBe(made[0]?.code);
    expectTypeOf(made).toEqualTypeOf<Wallet[]>();
    expectTypeOf(scrip.wallet).returns.resolves.toEqualTypeOf<OpenWallet | null>();
  });

  it('is made for the callers that still wait, though another went away', async () => {
    const scrip = client();
    const stop = new AbortController();
    const first = refusal(scrip.ensureWallet({ signal: stop.signal }));
    stop.abort();
    const [error, wallet] = await Promise.all([first, scrip.ensureWallet({ signal: new AbortController().signal })]);
    expect(error).toMatchObject({ code: 'aborted' });
    expect(await scrip.code()).toBe(wallet.code);
    expect(await refusal(scrip.ensureWallet({ signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' });
  });

  it('is made where a browser refuses locks', async () => {
    vi.stubGlobal('navigator', { locks: { request: () => Promise.reject(new DOMException('denied', 'SecurityError')) } });
    try {
      expect((await client().ensureWallet()).balances).toEqual([]);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('can be made again after the first attempt failed', async () => {
    let fails = true;
    const scrip = client({ retries: 0, fetch: (...given) => (fails ? Promise.reject(new TypeError('offline')) : fetch(...given)) });
    expect(await refusal(scrip.ensureWallet())).toMatchObject({ code: 'network_error' });
    fails = false;
    expect((await scrip.ensureWallet()).code).toMatch(/^[A-Z]+(-[0-9A-Z]{4}){3}$/);
  });

  it('lives as long as the page where storage is blocked', async () => {
    const blocked = () => {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    };
    const broken: CodeStorage[] = [
      { get: blocked, set: blocked, remove: blocked },
      { get: async () => blocked(), set: async () => blocked(), remove: async () => blocked() },
      { get: () => null, set: blocked, remove: () => undefined },
      // There is no localStorage here at all.
      browserStorage('scrip'),
    ];
    for (const each of broken) {
      const scrip = client({ storage: each });
      const { code } = await scrip.ensureWallet();
      expect((await scrip.ensureWallet()).code).toBe(code);
      await scrip.forget();
      expect(await scrip.code()).toBeNull();
    }
  });
});

describe('credits', () => {
  it('are taken once for each key', async () => {
    const scrip = await funded(10);
    const use = { productId: service.product, amount: 3, idempotencyKey: 'image-1', meta: { feature: 'image' } };
    expect(await scrip.deduct(use)).toEqual({ balance: 7, deducted: true });
    expect(await scrip.deduct(use)).toEqual({ balance: 7, deducted: false });
    expect(await scrip.deduct({ productId: service.product, amount: 3 })).toEqual({ balance: 4, deducted: true });
  });

  it('are taken once where the answer is lost on the way', async () => {
    let lost = 0;
    const lossy: typeof fetch = async (...given) => {
      const response = await fetch(...given);
      if (String(given[0]).endsWith('/deduct') && lost++ < 2) throw new TypeError('connection reset');
      return response;
    };
    const scrip = await funded(10, { fetch: lossy });
    expect(await scrip.deduct({ productId: service.product, amount: 3 })).toEqual({ balance: 7, deducted: true });
    // Where all attempts were lost the key goes on.
    const { code: wallet } = await (await funded(10)).ensureWallet();
    let drop = true;
    const dropping = client({
      retries: 0,
      fetch: async (...given) => {
        const response = await fetch(...given);
        if (drop && String(given[0]).endsWith('/deduct')) throw new TypeError('reset');
        return response;
      },
    });
    await dropping.useCode(wallet);
    const { code, idempotencyKey = '' } = await refusal(dropping.deduct({ productId: service.product, amount: 4 }));
    expect([code, idempotencyKey.length]).toEqual(['network_error', 36]);
    drop = false;
    expect(await dropping.deduct({ productId: service.product, amount: 4, idempotencyKey })).toEqual({ balance: 6, deducted: false });
  });

  it('of a first visitor are missing, not their wallet: it is made', async () => {
    const scrip = client();
    expect(await refusal(scrip.deduct({ productId: service.product, amount: 2 }))).toMatchObject({ code: 'insufficient_credits', balance: 0 });
    expect(await scrip.wallet()).toMatchObject({ code: await scrip.code() });
  });

  it('are not taken under a misspelled key', async () => {
    const scrip = await funded(5);
    const typo = { productId: service.product, amount: 1, idempotency_key: 'image-1' };
    expect(await refusal(scrip.deduct(typo))).toMatchObject({ code: 'invalid_request', param: 'idempotency_key' });
    expect(await refusal(scrip.hold(typo))).toMatchObject({ code: 'invalid_request' });
    expect((await scrip.wallet())?.balances[0]).toMatchObject({ balance: 5, held: 0 });
  });

  it('that are missing are a refusal with prices', async () => {
    const scrip = await funded(1);
    const error = await refusal(scrip.deduct({ productId: service.product, amount: 2 }));
    if (!isScripError(error, 'insufficient_credits')) throw error;
    expect([error.balance, error.shortfall, error.prices.length > 0]).toEqual([1, 1, true]);
  });

  it('are set aside, settled, given back', async () => {
    const scrip = await funded(10);
    const hold = await scrip.hold({ productId: service.product, amount: 6, expiresInSeconds: 60 });
    expect(hold).toMatchObject({ amount: 6, balance: 4 });
    expect(await scrip.getHold(hold.holdId)).toMatchObject({ status: 'open', amount: 6 });
    expect(Date.parse((await scrip.extend(hold.holdId, { expiresInSeconds: 600 })).expiresAt)).toBeGreaterThan(Date.parse(hold.expiresAt));
    expect(await scrip.settle(hold.holdId, { amount: 2 })).toEqual({ balance: 8, deducted: true });
    expect(await scrip.settle(hold.holdId, { amount: 2 })).toEqual({ balance: 8, deducted: false });
    const second = await scrip.hold({ amount: 6 });
    expect(await scrip.release(second.holdId)).toEqual({ balance: 8 });
    expect(await refusal(scrip.settle(second.holdId, { amount: 1 }))).toMatchObject({ code: 'hold_closed' });
  });

  it('may be limited, which a page can read', async () => {
    const limits = [{ scope: 'member:*', amount: 4, window: 'day' }];
    const scrip = await funded(100);
    await server('PUT', `/wallets/${await scrip.code()}/limits`, { limits });
    await scrip.deduct({ productId: service.product, amount: 3, member: 'ann' });
    expect(await scrip.limits({ member: 'ann' })).toMatchObject([{ scope: 'member:*', used: 3, remaining: 1, resetsAt: expect.any(String) }]);
    expect(await refusal(scrip.hold({ productId: service.product, amount: 2, member: 'ann' }))).toMatchObject({ code: 'limit_exceeded', limit: { used: 3 } });
    // As does the page of a user who is signed in, of their own wallet.
    await server('PUT', '/wallets/external/limits', { externalUserId: 'limited', limits });
    const session = () => server<Session>('POST', '/sessions', { externalUserId: 'limited' });
    expect(await client({ publishableKey: undefined, session }).limits()).toMatchObject([{ scope: 'member:*', amount: 4 }]);
  });

  it('are counted by day, for the page of a user who is signed in', async () => {
    const externalUserId = 'counted';
    await server('POST', '/credit', { externalUserId, productId: service.product, amount: 10, idempotencyKey: 'first' });
    await server('POST', '/wallets/external/deduct', { externalUserId, amount: 3, member: 'ann', idempotencyKey: 'second' });
    const session = () => server<Session>('POST', '/sessions', { externalUserId });
    const days = await client({ publishableKey: undefined, session }).usage({ groupBy: 'member' });
    expect(days).toHaveLength(30);
    expect(days.at(-1)).toMatchObject({ granted: 10, deducted: 3, groups: [{ key: 'ann', credits: 3 }] });
    expect(await refusal((await funded(1)).usage())).toMatchObject({ code: 'secret_key_required' });
  });

  it('are all in the ledger', async () => {
    const scrip = await funded(10);
    for (let n = 0; n < 4; n++) await scrip.deduct({ productId: service.product, amount: 1 });
    const balances: number[] = [];
    for await (const { balanceAfter } of scrip.ledgerEntries({ limit: 2 })) balances.push(balanceAfter);
    expect(balances).toEqual([6, 7, 8, 9, 10]);
    const page = await scrip.ledger({ reason: 'manual' });
    expect(page).toMatchObject({ items: [{ delta: 10 }], nextCursor: null });
  });
});

describe('a rate card', () => {
  const use = { rateCard: 'page', attributes: { kind: 'image' }, quantities: { image: 3 } };
  beforeAll(async () => {
    const rates = [{ match: { kind: 'image' }, unitPrices: { image: '2.5', input: '1' } }];
    await service.admin('PUT', `/projects/${service.project}/rate-cards/page`, { productId: service.product, rates });
  });

  it('is read', async () => {
    expect((await client().rateCards()).map(({ slug, rates }) => [slug, rates[0]?.unitPrices?.['image']])).toEqual([['page', '2.5']]);
  });

  it('says what a use would cost, and whether the wallet that is open has enough', async () => {
    const nobody = client();
    expect(await nobody.estimate(use)).toMatchObject({ amount: 8, cost: '7.5', lines: [{ unit: 'image', quantity: 3, unitPrice: '2.5' }] });
    expect(await nobody.code()).toBeNull();
    expect(await (await funded(7)).estimate(use)).toMatchObject({ amount: 8, balance: 7, affordable: false });
    expect(await (await funded(8)).estimate(use)).toMatchObject({ balance: 8, affordable: true });
    const usage = { prompt_tokens: 4, completion_tokens: 0 };
    expect(await nobody.estimate({ rateCard: 'page', attributes: { kind: 'image' }, usage, usageFormat: 'openai.chat' })).toMatchObject({ cost: '4' });
    // @ts-expect-error: whose usage object is it?
    await expect(nobody.estimate({ rateCard: 'page', attributes: { kind: 'image' }, usage })).rejects.toMatchObject({ param: 'usageFormat' });
  });

  it('prices also where the stored code no longer works', async () => {
    const kept = storage({ code: 'BRIEF-ABCD-EFGH-JKMN' });
    const answer = await client({ storage: kept }).estimate(use);
    expect([answer.amount, answer.balance]).toEqual([8, undefined]);
  });
});

describe('a code that leaked', () => {
  it('is replaced, and the new one is kept', async () => {
    const scrip = await funded(10);
    const old = (await scrip.code()) ?? '';
    const code = await scrip.rotate();
    expect([await scrip.code(), code === old]).toEqual([code, false]);
    expect(await refusal(client().useCode(old))).toMatchObject({ code: 'wallet_not_found' });
    expect((await scrip.wallet())?.balances[0]?.balance).toBe(10);
    expect(await scrip.rotate()).not.toBe(code);
  });

  it('is not lost with the answer that has the new one, even if the page is closed', async () => {
    // What a browser keeps for every page of the shop.
    const local = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => local.get(name) ?? null,
      setItem: (name: string, value: string) => void local.set(name, value),
      removeItem: (name: string) => void local.delete(name),
    });
    try {
      const lossy: typeof fetch = async (...given) => {
        const response = await fetch(...given);
        if (String(given[0]).endsWith('/rotate')) throw new TypeError('reset');
        return response;
      };
      const before = new Scrip({ ...service, fetch: lossy, retries: 0 });
      const { code: old } = await before.createWallet();
      await give(old, 7);
      expect(await refusal(before.rotate())).toMatchObject({ code: 'network_error' });
      expect(await refusal(client().useCode(old))).toMatchObject({ code: 'wallet_not_found' });
      // The next visit.
      const after = new Scrip(service);
      const wallet = await after.wallet();
      expect(wallet?.balances[0]?.balance).toBe(7);
      expect([await after.code(), wallet?.code === old]).toEqual([wallet?.code, false]);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe('a checkout', () => {
  it('fills the stored wallet', async () => {
    const scrip = await funded(1);
    const { url, orderId } = await scrip.checkout({ priceId: service.price });
    const waiting = scrip.waitForOrder(orderId);
    await service.press(url, 'pay');
    expect(await waiting).toMatchObject({ status: 'paid', code: await scrip.code(), balance: 1001 });
    expect((await scrip.portal({ returnUrl: 'https://shop.example/' })).url).toMatch(/^http/);
  });

  it('whose answer is lost is asked for again under its key', async () => {
    const bodies: string[] = [];
    let lost = 0;
    const scrip = client({
      fetch: async (...given) => {
        const response = await fetch(...given);
        if (!String(given[0]).endsWith('/checkout')) return response;
        bodies.push(String(given[1]?.body));
        if (lost++ === 0) throw new TypeError('reset');
        return response;
      },
    });
    expect((await scrip.checkout({ priceId: service.price })).orderId).toMatch(/^ord_/);
    expect([bodies.length, bodies[0] === bodies[1]]).toEqual([2, true]);
    expect(JSON.parse(bodies[0] ?? '{}')).toMatchObject({ idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  it('is found by the address alone, where the browser that comes back knows nothing', async () => {
    const buyer = client();
    const { url, orderId, checkoutId } = await buyer.checkout({ priceId: service.price });
    await service.press(url, 'pay');
    const page = (search: string) => {
      const replaceState = vi.fn();
      vi.stubGlobal('location', { href: `https://shop.example/thanks${search}`, search });
      vi.stubGlobal('history', { state: null, replaceState });
      return replaceState;
    };
    try {
      const replaced = page(`?scrip_checkout=${checkoutId}&ref=mail`);
      const elsewhere = client();
      const order = await elsewhere.completeCheckout();
      expect(order).toMatchObject({ id: orderId, status: 'paid' });
      expect([await elsewhere.code(), elsewhere.isCodeKept]).toEqual([order?.code, true]);
      // A reload does not thank again, and who is sent the address did not pay.
      expect(replaced).toHaveBeenCalledWith(null, '', 'https://shop.example/thanks?ref=mail');
      // Where nothing can be kept the address is all that a reload has.
      const kept = page(`?scrip_checkout=${checkoutId}`);
      const blocked = () => {
        throw new DOMException('The operation is insecure.', 'SecurityError');
      };
      const forgetful = client({ storage: { get: blocked, set: blocked, remove: blocked } });
      expect(await forgetful.completeCheckout()).toMatchObject({ id: orderId });
      expect([await forgetful.code(), forgetful.isCodeKept]).toEqual([order?.code, false]);
      expect(kept).not.toHaveBeenCalled();
      // Another wallet is not replaced by what an address says.
      const other = await funded(1);
      const before = await other.code();
      expect(await other.completeCheckout()).toMatchObject({ code: order?.code });
      expect(await other.code()).toBe(before);
      for (const search of ['?scrip_checkout=cs_nobody', '?scrip_checkout=done', '?scrip_checkout=../wallets', '?scrip_checkout={CHECKOUT_SESSION_ID}', '']) {
        page(search);
        expect(await client().completeCheckout(), search).toBeNull();
      }
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('without one makes a wallet', async () => {
    const scrip = await funded(1);
    const { url, orderId } = await scrip.checkout({ priceId: service.price, code: null });
    await service.press(url, 'pay');
    const order = await scrip.waitForOrder(orderId);
    expect([order.status, order.balance, order.code === (await scrip.code())]).toEqual(['paid', 1000, false]);
  });

  it('that fails ends, too', async () => {
    const scrip = client();
    const { url, orderId } = await scrip.checkout({ priceId: service.price });
    await service.press(url, 'pay_later');
    expect(await scrip.order(orderId)).toMatchObject({ status: 'pending', processing: true });
    const waiting = scrip.waitForOrder(orderId);
    await service.press(url, 'fail');
    expect(await waiting).toMatchObject({ status: 'failed', processing: false });
  });

  it('that is not paid in time is an error, an aborted wait another', async () => {
    const scrip = client();
    const { orderId } = await scrip.checkout({ priceId: service.price });
    expect(await refusal(scrip.waitForOrder(orderId, { timeoutMs: 1 }))).toMatchObject({ code: 'timeout' });
    expect(await refusal(scrip.waitForOrder(orderId, { signal: AbortSignal.timeout(20) }))).toMatchObject({ code: 'aborted' });
    expect(await refusal(scrip.waitForOrder('ord_nobody'))).toMatchObject({ code: 'order_not_found' });
  });

  it('that was left ends when the buyer goes back to the page as it was', async () => {
    const page = Object.assign(new EventTarget(), { href: 'https://shop.example/buy#prices', assign: vi.fn() });
    vi.stubGlobal('location', page);
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
    try {
      const scrip = client();
      const leaving = refusal(scrip.redirectToCheckout({ priceId: service.price }));
      await vi.waitFor(() => expect(page.assign).toHaveBeenCalledWith(expect.stringContaining('/sandbox')), { timeout: 15_000 });
      page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }));
      page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
      expect(await leaving).toMatchObject({ code: 'aborted' });
      // It is still remembered: one look says how it stands.
      expect(await scrip.completeCheckout()).toMatchObject({ status: 'pending' });
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('is waited for though the network is away for a while', async () => {
    let looks = 0;
    const flaky = client({ retries: 0, fetch: (...given) => (String(given[0]).includes('/orders/') && looks++ < 1 ? Promise.reject(new TypeError('offline')) : fetch(...given)) });
    const { url, orderId } = await flaky.checkout({ priceId: service.price });
    await service.press(url, 'pay');
    expect((await flaky.waitForOrder(orderId)).status).toBe('paid');
    looks = -1000;
    expect(await refusal(flaky.waitForOrder(orderId, { timeoutMs: 0 }))).toMatchObject({ code: 'network_error' });
  });

  it('without a page to leave, a window to open or an address to go back to is a typed error', async () => {
    const scrip = await funded(1);
    expect(await refusal(scrip.checkoutPopup({ priceId: service.price }))).toMatchObject({ code: 'popup_blocked' });
    expect(await refusal(scrip.redirectToCheckout({ priceId: service.price }))).toMatchObject({ code: 'invalid_options' });
    expect(await refusal(scrip.portal())).toMatchObject({ code: 'invalid_request', param: 'returnUrl' });
    expect(await scrip.completeCheckout()).toBeNull();
  });
});

describe('recovery', () => {
  it('is asked for, and says nothing', async () => {
    expect(await client().recover('ann@mail.example')).toBeUndefined();
    expect(await refusal(client().recover('no address'))).toMatchObject({ code: 'invalid_request', param: 'email' });
  });
});

describe('a listener', () => {
  const listener = vi.fn();
  beforeEach(() => void listener.mockClear());

  it('is called when the wallet may have changed, and not when it was only read', async () => {
    const scrip = await funded(10);
    const stop = scrip.subscribe(listener);
    const times = async (work: () => Promise<unknown>) => {
      listener.mockClear();
      await work().catch(() => undefined);
      return listener.mock.calls.length;
    };
    expect(await times(() => scrip.wallet())).toBe(0);
    expect(await times(() => scrip.products())).toBe(0);
    expect(await times(() => scrip.ledger())).toBe(0);
    expect(await times(() => scrip.deduct({ productId: service.product, amount: 1 }))).toBe(1);
    expect(await times(() => scrip.deduct({ productId: service.product, amount: 100 }))).toBe(0);
    const { holdId } = await scrip.hold({ amount: 1 });
    expect(await times(() => scrip.hold({ amount: 1 }))).toBe(1);
    expect(await times(() => scrip.settle(holdId, { amount: 1 }))).toBe(1);
    expect(await times(() => scrip.rotate())).toBe(1);
    expect(await times(() => scrip.forget())).toBe(1);
    stop();
    expect(await times(() => scrip.createWallet())).toBe(0);
  });

  it('added twice is called twice, and stops once', async () => {
    const scrip = client();
    const [first] = [scrip.subscribe(listener), scrip.subscribe(listener)];
    first();
    first();
    await scrip.forget();
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('and fails fails neither the change nor other listeners', async () => {
    const scrip = await funded(10);
    scrip.subscribe(() => {
      throw new Error('a broken listener');
    });
    scrip.subscribe(listener);
    const loud = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    expect(await scrip.deduct({ productId: service.product, amount: 1 })).toMatchObject({ deducted: true });
    expect(listener).toHaveBeenCalledTimes(1);
    expect(loud).toHaveBeenCalledTimes(1);
    loud.mockRestore();
  });
});

describe('the rate limit', () => {
  it('is waited out', async () => {
    const strict = await startService({ SCRIP_LIMITS_PUBLISHABLE_BURST: '2', SCRIP_LIMITS_PUBLISHABLE_PER_SECOND: '20' });
    try {
      const patient = new Scrip({ ...strict, storage: storage() });
      const all = await Promise.all(Array.from({ length: 6 }, () => patient.products()));
      expect(all).toHaveLength(6);
      const hasty = new Scrip({ ...strict, storage: storage(), retries: 0 });
      // More than the limit lets through in that time.
      const ends = await Promise.allSettled(Array.from({ length: 100 }, () => hasty.products()));
      const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as ScripError] : []));
      expect(refused[0]).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: 1000 });
    } finally {
      await strict.stop();
    }
  });
});
