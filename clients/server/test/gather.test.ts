// The state machine by itself, in virtual time.
import { ScripError, type CallOptions } from '@scrip-wallet/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Gatherer, MAX_ITEMS, MAX_WAITING_BYTES, SINGLES_MS, type Endpoints, type Item } from '../src/gather.js';
import type { Settled } from '../src/input.js';

/** A request that the test answers. */
interface Asked {
  /** The keys of its items. */
  keys: string[];
  isBatch: boolean;
  signal: AbortSignal;
  /** Answers each item: with a balance of its amount where nothing else is said for its key. */
  answer(refused?: Record<string, ScripError>): Promise<void>;
  fail(error: ScripError): Promise<void>;
}

/** What a lone request keeps by itself: its time, and the caller's signal. */
function limited<T>({ signal, timeoutMs }: CallOptions, ask: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  const timer = setTimeout(onAbort, timeoutMs);
  signal?.addEventListener('abort', onAbort);
  const failed = (error: unknown) => {
    throw stop.signal.aborted && !signal?.aborted ? new ScripError('timeout', 'No answer came.') : error;
  };
  return ask(stop.signal).catch(failed).finally(() => clearTimeout(timer));
}
const turns = async () => void (await vi.advanceTimersByTimeAsync(0));

function setUp() {
  const asked: Asked[] = [];
  const made: string[] = [];
  const ask = <T>(items: readonly Item[], isBatch: boolean, signal: AbortSignal, whole: (results: (Settled | ScripError)[]) => T | Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new ScripError('aborted', 'The call was aborted.')));
      asked.push({
        keys: items.map(({ idempotencyKey }) => idempotencyKey ?? ''),
        isBatch,
        signal,
        answer: (refused = {}) => {
          resolve(whole(items.map(({ idempotencyKey, amount }) => refused[idempotencyKey ?? ''] ?? { balance: Number(amount), deducted: true })));
          return turns();
        },
        fail: (error) => (reject(error), turns()),
      });
    });
  const endpoints: Endpoints<Settled> = {
    single: (item, options) =>
      limited(options, (signal) => ask([item], false, signal, ([only]) => (only instanceof ScripError ? Promise.reject(only) : (only as Settled)))),
    batch: (items, signal) => ask(items, true, signal, (results) => results),
    ensureWallet: async (user) => void made.push(user),
  };
  const gatherer = new Gatherer<Settled>(endpoints, { timeoutMs: 15_000, retries: 3 });
  let amount = 0;
  /** Deducts under this key, from a user of the key's first letter. */
  const deduct = (idempotencyKey: string, more: object = {}, options = {}) => {
    const call = gatherer.call({ externalUserId: idempotencyKey[0], amount: ++amount, idempotencyKey, ...more } as Item, options);
    return call.catch((error: ScripError) => error);
  };
  /** Takes up both places, so that what comes next is gathered. */
  const busy = async () => {
    void deduct('y');
    await turns();
    void deduct('z');
    await turns();
    return asked.splice(0);
  };
  return { asked, made, gatherer, deduct, busy, keys: () => asked.splice(0).map((each) => each.keys) };
}

const refusal = (status: number, code: string, more: object = {}) => new ScripError(code, 'No.', { status, ...more });
const offline = new ScripError('network_error', 'No answer came.');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a deduction', () => {
  it('is sent at once and by itself where nothing is under way', async () => {
    const { asked, deduct } = setUp();
    const call = deduct('a1');
    await turns();
    expect(asked.map(({ keys, isBatch }) => ({ keys, isBatch }))).toEqual([{ keys: ['a1'], isBatch: false }]);
    await asked[0]?.answer();
    expect(await call).toEqual({ balance: 1, deducted: true });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that comes while two requests are under way goes with the next one', async () => {
    const { asked, deduct, busy, keys } = setUp();
    const [first, second] = await busy();
    const calls = ['a', 'b', 'c'].map((key) => deduct(key));
    await turns();
    expect(asked).toEqual([]);
    await first?.answer();
    expect(asked[0]?.keys).toEqual(['a', 'b', 'c']);
    await asked[0]?.answer({ b: refusal(402, 'insufficient_credits') });
    expect(await Promise.all(calls)).toEqual([
      { balance: 3, deducted: true },
      expect.objectContaining({ code: 'insufficient_credits', status: 402, idempotencyKey: 'b' }),
      { balance: 5, deducted: true },
    ]);
    expect(keys()).toHaveLength(1);
    await second?.answer();
  });

  it('goes with those of the same turn, a thousand at most and 512 KiB', async () => {
    const { asked, deduct, keys } = setUp();
    for (let n = 0; n < MAX_ITEMS + 1; n++) void deduct(`${String.fromCharCode(0x4e00 + n)}`);
    await turns();
    expect(asked.map((each) => each.keys.length)).toEqual([MAX_ITEMS, 1]);
    for (let n = 0; n < 100; n++) void deduct(`${String.fromCharCode(0x6e00 + n)}`, { meta: { note: 'x'.repeat(4_000) } });
    await Promise.all(asked.splice(0).map((each) => each.answer()));
    // Of 4,000 characters that may have three bytes each.
    expect(asked.map((each) => each.keys.length)).toEqual([42, 42]);
    await Promise.all(asked.splice(0).map((each) => each.answer()));
    expect(keys().map((each) => each.length)).toEqual([16]);
  });

  it('is sent as it was when it was made', async () => {
    const sent: unknown[] = [];
    const endpoints = { single: async (item: Item) => (sent.push(item.meta), { balance: 0, deducted: true }) } as unknown as Endpoints<Settled>;
    const meta = { step: 1 };
    const call = new Gatherer<Settled>(endpoints, { timeoutMs: 1, retries: 0 }).call({ externalUserId: 'ann', amount: 1, idempotencyKey: 'a', meta });
    meta.step = 2;
    await call;
    expect(sent).toEqual([{ step: 1 }]);
  });

  it('that a batch would be refused for goes by itself', async () => {
    const { asked, deduct, busy } = setUp();
    await busy();
    const odd: object[] = [
      { amount: 0 }, { amount: 1.5 }, { amount: 2 ** 53 }, { amount: '5' }, { amount: 5n }, { externalUserId: '' }, { externalUserId: 7 },
      { externalUserId: 'a\n' }, { externalUserId: '\ud800' }, { idempotencyKey: 'k'.repeat(256) }, { member: 'm'.repeat(256) }, { meta: [] }, { meta: { n: 1n } },
      { meta: { note: 'x'.repeat(20_000) } }, { onShortfall: 3 }, { externalUserId: null, code: 'OLIVE-0000-0000-0000' },
    ]; // prettier-ignore
    for (const [n, more] of odd.entries()) void deduct(`${n}`, { externalUserId: `user-${n}`, ...more });
    await turns();
    expect(asked.map(({ keys, isBatch }) => [keys.length, isBatch])).toEqual(odd.map(() => [1, false]));
  });

  it('is refused where too many wait', async () => {
    const { asked, deduct, busy } = setUp();
    await busy();
    const meta = { note: 'x'.repeat(4_500) };
    const most = Math.floor(MAX_WAITING_BYTES / 14_000);
    for (let n = 0; n < most; n++) void deduct('a', { meta });
    const calls = Array.from({ length: 1_000 }, () => deduct('b', { meta }));
    const refused = await Promise.race(calls);
    expect(refused).toMatchObject({ code: 'overloaded', status: 503, idempotencyKey: 'b' });
    expect(asked).toEqual([]);
  });
});

describe('the order within a wallet', () => {
  it('holds while one of its deductions is under way, and keeps nobody else', async () => {
    const { asked, deduct } = setUp();
    void deduct('a1');
    await turns();
    for (const key of ['a2', 'b1', 'a3']) void deduct(key);
    await turns();
    expect(asked.map(({ keys }) => keys)).toEqual([['a1'], ['b1']]);
    await asked[0]?.answer();
    expect(asked[2]?.keys).toEqual(['a2', 'a3']);
  });

  it('holds over retries', async () => {
    const { asked, deduct, keys } = setUp();
    for (const key of ['a1', 'b1', 'a2']) void deduct(key);
    await turns();
    const [both] = asked.splice(0);
    void deduct('a3');
    void deduct('c1');
    await both?.fail(offline);
    expect(keys()).toEqual([['c1']]);
    await vi.advanceTimersByTimeAsync(250);
    expect(keys()).toEqual([['a1', 'a2', 'a3', 'b1']]);
  });

  it('is that of one line for all spellings of a code', async () => {
    const { asked, deduct } = setUp();
    for (const [n, code] of ['OLIVE-0000-1111-2222', 'olive-oooo-IlLi-2222', 'OLIVE000011112222'].entries()) {
      void deduct(`${n}`, { externalUserId: null, code, productId: 'prod_1' });
      await turns();
    }
    expect(asked).toHaveLength(1);
  });
});

describe('a caller who gives up', () => {
  it('takes its own deduction along where it was not sent', async () => {
    const { asked, deduct, busy } = setUp();
    const [first] = await busy();
    const stop = new AbortController();
    const calls = [deduct('a1'), deduct('a2', {}, { signal: stop.signal }), deduct('a3')];
    stop.abort(new Error('gone'));
    await first?.answer();
    expect(asked[0]?.keys).toEqual(['a1', 'a3']);
    await asked[0]?.answer();
    expect(await calls[1]).toMatchObject({ code: 'aborted', idempotencyKey: 'a2', cause: stop.signal.reason });
    expect(await calls[2]).toEqual({ balance: 5, deducted: true });
    expect(await deduct('a4', {}, { signal: stop.signal })).toMatchObject({ code: 'aborted', idempotencyKey: 'a4' });
  });

  it('leaves the others of a batch alone, and ends a request that nobody waits for', async () => {
    const { asked, deduct } = setUp();
    const [one, other] = [new AbortController(), new AbortController()];
    const calls = [deduct('a', {}, { signal: one.signal }), deduct('b', {}, { signal: other.signal })];
    await turns();
    const [batch] = asked;
    one.abort();
    expect(await calls[0]).toMatchObject({ code: 'aborted', idempotencyKey: 'a' });
    expect(batch?.signal.aborted).toBe(false);
    other.abort();
    expect(await calls[1]).toMatchObject({ code: 'aborted' });
    expect(batch?.signal.aborted).toBe(true);
    // The wallets are free again.
    void deduct('a2');
    await turns();
    expect(asked[1]?.keys).toEqual(['a2']);
  });

  it('while it waits for a retry holds its wallet up no longer', async () => {
    const { asked, deduct } = setUp();
    const stop = new AbortController();
    const call = deduct('a1', {}, { signal: stop.signal });
    await turns();
    await asked[0]?.fail(refusal(429, 'rate_limited', { retryAfterMs: 9_000 }));
    void deduct('a2');
    await turns();
    expect(asked).toHaveLength(1);
    stop.abort();
    expect(await call).toMatchObject({ code: 'aborted' });
    await turns();
    expect(asked[1]?.keys).toEqual(['a2']);
  });
});

describe('a failure', () => {
  it('that passes is tried again under the same keys, three times', async () => {
    for (const failure of [offline, refusal(503, 'unavailable'), refusal(502, 'provider_error'), refusal(429, 'rate_limited', { retryAfterMs: 2_000 })]) {
      const { asked, deduct, keys } = setUp();
      const calls = [deduct('a'), deduct('b')];
      const began = Date.now();
      for (let n = 0; n < 4; n++) {
        await vi.advanceTimersByTimeAsync(failure.retryAfterMs ?? 0);
        await vi.advanceTimersByTimeAsync(2_000);
        await asked.at(-1)?.fail(failure);
      }
      expect(keys()).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b'], ['a', 'b']]);
      expect(Date.now() - began).toBeGreaterThan(3 * (failure.retryAfterMs ?? 0));
      for (const [n, call] of calls.entries()) expect(await call).toMatchObject({ code: failure.code, status: failure.status, idempotencyKey: 'ab'[n] });
    }
  });

  it('of one item of a batch that passes is tried again for it alone', async () => {
    const { asked, deduct, keys } = setUp();
    const calls = [deduct('a'), deduct('b')];
    await turns();
    await asked.splice(0)[0]?.answer({ b: refusal(503, 'overloaded') });
    expect(await calls[0]).toEqual({ balance: 1, deducted: true });
    await vi.advanceTimersByTimeAsync(250);
    expect(keys()).toEqual([['b']]);
  });

  it('that stays is the answer of each', async () => {
    const { asked, deduct } = setUp();
    const calls = [deduct('a'), deduct('b')];
    await turns();
    await asked[0]?.fail(refusal(401, 'invalid_api_key', { requestId: 'req_1' }));
    for (const [n, call] of calls.entries()) expect(await call).toMatchObject({ code: 'invalid_api_key', status: 401, requestId: 'req_1', idempotencyKey: 'ab'[n] });
    expect(asked).toHaveLength(1);
  });

  it('of time is counted from the call, for each by its own', async () => {
    const { asked, deduct, busy } = setUp();
    const stuck = await busy();
    const call = deduct('a', {}, { timeoutMs: 50 });
    // Never sent, and still over in the time of four attempts.
    await vi.advanceTimersByTimeAsync(4 * 50 + 1_750);
    expect(await call).toMatchObject({ code: 'timeout', status: 0, idempotencyKey: 'a' });
    expect(asked).toEqual([]);
    // What hangs ends with the last who waits for it, and is sent again.
    await vi.advanceTimersByTimeAsync(15_000);
    expect(stuck.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(asked.flatMap(({ keys }) => keys).sort()).toEqual(['y', 'z']);
  });

  it('of time of one that was not sent keeps those behind it', async () => {
    const { asked, deduct, busy } = setUp();
    const [first] = await busy();
    void deduct('a1', {}, { timeoutMs: 50 });
    void deduct('a2');
    void deduct('b');
    await vi.advanceTimersByTimeAsync(50);
    await first?.answer();
    expect(asked.splice(0).map(({ keys }) => keys)).toEqual([['b']]);
  });

  it('of time of one leaves the others of its batch to theirs', async () => {
    const { asked, deduct, keys } = setUp();
    void deduct('a', {}, { timeoutMs: 1_000 });
    const calm = deduct('b');
    await turns();
    const [batch] = asked.splice(0);
    await vi.advanceTimersByTimeAsync(1_300);
    expect(batch?.signal.aborted).toBe(false);
    expect(asked).toEqual([]);
    await batch?.answer();
    expect(await calm).toEqual({ balance: 2, deducted: true });
    // Whether it was applied is not known: under its key it is asked again.
    expect(keys()).toEqual([['a']]);
  });
});

describe('a batch', () => {
  it('with an ill-formed item is sent again without it, and it fails by itself', async () => {
    const { asked, deduct, keys } = setUp();
    const calls = ['a', 'b', 'c'].map((key) => deduct(key));
    await turns();
    await asked.splice(0)[0]?.fail(refusal(400, 'invalid_request', { param: 'items[1].externalUserId' }));
    expect(asked.map(({ keys, isBatch }) => [keys, isBatch])).toEqual([[['b'], false], [['a', 'c'], true]]);
    await asked[0]?.fail(refusal(400, 'invalid_request', { param: 'externalUserId', requestId: 'req_1' }));
    await asked[1]?.answer();
    expect(await Promise.all(calls)).toEqual([
      { balance: 1, deducted: true },
      expect.objectContaining({ code: 'invalid_request', param: 'externalUserId', requestId: 'req_1', idempotencyKey: 'b' }),
      { balance: 3, deducted: true },
    ]);
    expect(keys()).toHaveLength(2);
  });

  it('that is refused without a name is sent as single deductions', async () => {
    const { asked, deduct } = setUp();
    for (const key of ['a', 'b']) void deduct(key);
    await turns();
    await asked.splice(0)[0]?.fail(refusal(400, 'invalid_request'));
    expect(asked.map(({ keys, isBatch }) => [keys, isBatch])).toEqual([[['a'], false], [['b'], false]]);
  });

  it('that is too large is halved, to a lone deduction at the least', async () => {
    const { asked, deduct, keys } = setUp();
    const calls = ['a', 'b', 'c', 'd'].map((key) => deduct(key));
    await turns();
    const tooLarge = refusal(413, 'unexpected_response');
    await asked.splice(0)[0]?.fail(tooLarge);
    expect(asked.map((each) => each.keys)).toEqual([['a', 'b'], ['c', 'd']]);
    await Promise.all(asked.splice(0).map((each) => each.fail(tooLarge)));
    expect(asked.map((each) => each.keys)).toEqual([['a'], ['b']]);
    await asked.splice(0)[0]?.fail(tooLarge);
    expect(await calls[0]).toMatchObject({ status: 413, idempotencyKey: 'a' });
    expect(keys()).toEqual([['c']]);
  });

  it('that an older server does not know is sent as single deductions, for a minute', async () => {
    for (const status of [404, 405]) {
      const { asked, gatherer, deduct } = setUp();
      for (const key of ['a1', 'a2', 'b']) void deduct(key);
      await turns();
      await asked.splice(0)[0]?.fail(refusal(status, 'not_found'));
      expect(asked.map(({ keys, isBatch }) => [keys, isBatch])).toEqual([[['a1'], false], [['a2'], false], [['b'], false]]);
      expect(gatherer.isOpen).toBe(false);
      for (const each of asked) await each.answer();
      await vi.advanceTimersByTimeAsync(SINGLES_MS);
      expect(gatherer.isOpen).toBe(true);
    }
  });

  it('makes the wallets of new users, once', async () => {
    const { asked, made, deduct, keys } = setUp();
    const calls = ['a1', 'a2', 'b'].map((key) => deduct(key));
    await turns();
    const lacking = refusal(404, 'wallet_not_found');
    await asked.splice(0)[0]?.answer({ a1: lacking, a2: lacking });
    expect(made).toEqual(['a']);
    expect(asked.map((each) => each.keys)).toEqual([['a1', 'a2']]);
    await asked.splice(0)[0]?.answer({ a2: lacking });
    expect(await Promise.all(calls)).toMatchObject([{ balance: 1 }, { code: 'wallet_not_found', idempotencyKey: 'a2' }, { balance: 3 }]);
    expect([made, keys()]).toEqual([['a'], []]);
  });
});

it('closes once all have their answers', async () => {
  const { asked, gatherer, deduct, busy } = setUp();
  const under = await busy();
  const call = deduct('a');
  let isClosed = false;
  const closed = gatherer.close().then(() => (isClosed = true));
  expect(gatherer.isOpen).toBe(false);
  for (const each of under) await each.answer();
  expect(isClosed).toBe(false);
  await asked[0]?.answer();
  expect(await call).toEqual({ balance: 3, deducted: true });
  await closed;
  await gatherer.close();
});

/** Numbers from 0 to 1, always the same for a seed. */
const random = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

/** A server that does things once for each key, and answers badly. */
class Model {
  /** The keys that each user's deductions were applied under, in their order. */
  readonly applied = new Map<string, string[]>();
  readonly #underWay = new Set<string>();
  readonly #next: () => number;
  readonly #hasBatches: boolean;

  constructor(next: () => number, hasBatches: boolean) {
    this.#next = next;
    this.#hasBatches = hasBatches;
  }

  #apply(items: readonly Item[]): (Settled | ScripError)[] {
    const busy = new Set(items.map(({ externalUserId }) => externalUserId).filter(() => this.#next() < 0.05));
    return items.map(({ externalUserId, idempotencyKey }) => {
      if (busy.has(externalUserId)) return refusal(503, 'overloaded');
      const keys = this.applied.get(String(externalUserId)) ?? [];
      this.applied.set(String(externalUserId), keys);
      const deducted = !keys.includes(idempotencyKey ?? '');
      if (deducted) keys.push(idempotencyKey ?? '');
      return { balance: keys.length, deducted };
    });
  }

  /** One request. No wallet may be in two, if there are batches. */
  async ask(items: readonly Item[], isBatch: boolean, signal: AbortSignal): Promise<(Settled | ScripError)[]> {
    const users = new Set(items.map(({ externalUserId }) => String(externalUserId)));
    if (this.#hasBatches) for (const user of users) if (this.#underWay.has(user)) throw new Error(`${user} is in two requests`);
    for (const user of users) this.#underWay.add(user);
    try {
      const hangs = this.#next() < 0.03;
      await new Promise((resolve) => {
        if (!hangs) setTimeout(resolve, 1 + this.#next() * 300);
        signal.addEventListener('abort', resolve);
      });
      if (signal.aborted) throw new ScripError('aborted', 'The call was aborted.');
      const luck = this.#next();
      if (isBatch && !this.#hasBatches) throw refusal(404, 'not_found');
      if (isBatch && items.length > 8) throw refusal(413, 'unexpected_response');
      const odd = items.findIndex(({ meta }) => meta?.['odd']);
      if (odd >= 0) throw refusal(400, 'invalid_request', { param: isBatch ? `items[${odd}].meta` : 'meta' });
      if (luck < 0.1) throw refusal(429, 'rate_limited', { retryAfterMs: 500 });
      if (luck < 0.2) throw refusal(503, 'unavailable');
      if (luck < 0.3) throw offline;
      const results = this.#apply(items);
      if (luck < 0.45) throw offline;
      return results;
    } finally {
      for (const user of users) this.#underWay.delete(user);
    }
  }
}

it('does each once, in order, and answers all, in every kind of trouble', async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const next = random(seed);
    const hasBatches = seed % 10 > 0;
    const model = new Model(next, hasBatches);
    const endpoints: Endpoints<Settled> = {
      single: async (item, options) => {
        const [result] = await limited(options, (signal) => model.ask([item], false, signal));
        if (result instanceof ScripError) throw result;
        return result as Settled;
      },
      batch: (items, signal) => model.ask(items, true, signal),
      ensureWallet: async () => undefined,
    };
    const gatherer = new Gatherer<Settled>(endpoints, { timeoutMs: 2_000, retries: 3 });
    const outcomes: (Settled | ScripError | undefined)[] = [];
    const inputs: Item[] = [];
    for (let n = 0; n < 60; n++) {
      const isOdd = next() < 0.05;
      const item = { externalUserId: `user-${Math.floor(next() * 8)}`, amount: 1, idempotencyKey: `${n}`, ...(isOdd && { meta: { odd: 1 } }) };
      inputs.push(item);
      const stop = new AbortController();
      if (next() < 0.1) setTimeout(() => stop.abort(), next() * 1_000);
      const options = { signal: stop.signal, ...(next() < 0.1 && { timeoutMs: 100 }) };
      gatherer.call(item, options).then(
        (answer) => (outcomes[n] = answer),
        (error: ScripError) => (outcomes[n] = error),
      );
      if (next() < 0.5) await vi.advanceTimersByTimeAsync(next() * 100);
    }
    await vi.advanceTimersByTimeAsync(120_000);
    const what = `seed ${seed}`;
    const all = [...model.applied.values()].flat();
    expect([what, all.length]).toEqual([what, new Set(all).size]);
    for (const [n, { idempotencyKey, meta }] of inputs.entries()) {
      const outcome = outcomes[n];
      expect([what, n, outcome]).not.toEqual([what, n, undefined]);
      if (!(outcome instanceof ScripError)) expect([what, all.includes(idempotencyKey ?? '')]).toEqual([what, true]);
      else expect([what, ['aborted', 'timeout', 'network_error', 'rate_limited', 'unavailable', 'overloaded', 'invalid_request']]).toEqual([what, expect.arrayContaining([outcome.code])]);
      if (outcome instanceof ScripError && outcome.code === 'invalid_request') expect([what, meta, outcome.param]).toEqual([what, { odd: 1 }, 'meta']);
    }
    if (hasBatches) for (const keys of model.applied.values()) expect([what, keys.map(Number)]).toEqual([what, keys.map(Number).sort((one, other) => one - other)]);
    expect([what, vi.getTimerCount()]).toEqual([what, 0]);
    await gatherer.close();
  }
});
