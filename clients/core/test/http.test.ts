import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Http, ScripError, isScripError, keyed, segment } from '../src/index.js';

type Answer = Response | Error | 'silence';

/** A `fetch` that gives these answers, and what it was asked. */
function fake(...answers: Answer[]) {
  const asked: { url: string; init: RequestInit; at: number }[] = [];
  const fetch = (url: unknown, init: RequestInit = {}): Promise<Response> => {
    asked.push({ url: String(url), init, at: Date.now() });
    const answer = answers[asked.length - 1] ?? answers.at(-1);
    if (answer instanceof Error) return Promise.reject(answer);
    if (answer instanceof Response) return Promise.resolve(answer.clone());
    return new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')));
      if (init.signal?.aborted) reject(new DOMException('Aborted', 'AbortError'));
    });
  };
  return { asked, fetch: fetch as typeof globalThis.fetch };
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => new Response(JSON.stringify(body), { status, headers });
const refusal = (status: number, code: string, headers?: Record<string, string>, more: object = {}) =>
  json(status, { code, message: 'So it is.', requestId: 'req_1', ...more }, headers);
const offline = new TypeError('fetch failed');

const http = (fetch: typeof globalThis.fetch, more: object = {}) => new Http({ baseUrl: 'https://pay.example/', fetch, ...more }, 'pay_pk_1');

/** What a call came to, with all waits passed at once. */
async function outcome<T>(call: Promise<T>): Promise<T | ScripError> {
  const settled = call.catch((error: unknown) => {
    expect(error).toBeInstanceOf(ScripError);
    return error as ScripError;
  });
  await vi.runAllTimersAsync();
  return settled;
}
const failure = async (call: Promise<unknown>): Promise<ScripError> => {
  const error = await outcome(call);
  expect(error).toBeInstanceOf(ScripError);
  return error as ScripError;
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const deduct = { body: { amount: 1, idempotencyKey: 'key-1' } };

describe('a call', () => {
  it('says who asks, and asks under the API', async () => {
    const { asked, fetch } = fake(json(200, { products: [] }));
    await http(fetch).call('GET', '/products', { query: { limit: 5, cursor: null, reason: undefined, q: 'a&b' } });
    expect(asked[0]?.url).toBe('https://pay.example/api/v1/products?limit=5&q=a%26b');
    expect(asked[0]?.init.headers).toEqual({ authorization: 'Bearer pay_pk_1' });
  });

  it("calls the caller's fetch as a function, not as a method", async () => {
    let self: unknown = 'never called';
    function own(this: unknown) {
      self = this;
      return Promise.resolve(json(200, {}));
    }
    await http(own).call('GET', '/x');
    expect(self).toBeUndefined();
  });

  it('goes nowhere that is no address', () => {
    for (const baseUrl of [undefined, null, 'pay.example', 'ftp://pay.example', 'javascript:alert(1)'])
      expect(() => new Http({ baseUrl: baseUrl as string }, 'pay_pk_1')).toThrow(expect.objectContaining({ code: 'invalid_options' }));
    for (const baseUrl of ['', '/pay', 'http://127.0.0.1:8787/', 'https://pay.example/scrip']) expect(() => new Http({ baseUrl }, 'pay_pk_1')).not.toThrow();
  });

  it('comes again with the same key after an answer was lost', async () => {
    const { asked, fetch } = fake(offline, json(200, { balance: 1, deducted: true }));
    expect(await outcome(http(fetch).call('POST', '/x', deduct))).toEqual({ balance: 1, deducted: true });
    expect(asked).toHaveLength(2);
    expect(asked[1]?.init.body).toBe(asked[0]?.init.body);
    expect(asked[0]?.init.body).toContain('"idempotencyKey":"key-1"');
  });

  it('gives up after its retries, and says under which key to go on', async () => {
    const { asked, fetch } = fake(offline);
    const error = await failure(http(fetch).call('POST', '/x', deduct));
    expect(error).toMatchObject({ code: 'network_error', status: 0, idempotencyKey: 'key-1', cause: offline });
    expect(asked).toHaveLength(4);
    const once = fake(offline);
    await failure(http(once.fetch, { retries: 0 }).call('GET', '/x'));
    expect(once.asked).toHaveLength(1);
  });

  it('waits longer each time, and not as long as everybody else', async () => {
    const { asked, fetch } = fake(offline);
    await failure(http(fetch).call('GET', '/x'));
    const waits = asked.slice(1).map(({ at }, n) => at - (asked[n]?.at ?? 0));
    for (const [n, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(125 * 2 ** n);
      expect(wait).toBeLessThanOrEqual(250 * 2 ** n);
    }
  });

  it('without a key is not repeated where it may have been done', async () => {
    for (const answer of [offline, refusal(503, 'unavailable'), refusal(502, 'provider_error'), new Response('<h1>Bad gateway</h1>', { status: 502 })]) {
      const { asked, fetch } = fake(answer);
      await failure(http(fetch).call('POST', '/checkout', { body: { priceId: 'price_1' } }));
      expect(asked).toHaveLength(1);
    }
  });

  it('without a key is repeated where it was refused before anything was done', async () => {
    for (const answer of [refusal(503, 'overloaded', { 'retry-after': '1' }), refusal(429, 'rate_limited', { 'retry-after': '1' })]) {
      const { asked, fetch } = fake(answer, json(200, {}));
      await outcome(http(fetch).call('POST', '/wallets'));
      expect(asked).toHaveLength(2);
    }
  });

  it('is never repeated after a refusal that stays one', async () => {
    for (const [status, code] of [[400, 'invalid_request'], [401, 'invalid_api_key'], [402, 'insufficient_credits'], [404, 'wallet_not_found'], [409, 'hold_closed']] as const) {
      const { asked, fetch } = fake(refusal(status, code));
      expect(await failure(http(fetch).call('POST', '/x', deduct))).toMatchObject({ code, status, requestId: 'req_1' });
      expect(asked).toHaveLength(1);
    }
  });
});

describe('a failure of the service itself', () => {
  it('is tried again where that does a thing once, and only there', async () => {
    const { asked, fetch } = fake(refusal(500, 'internal_error'), json(200, { balance: 1, deducted: true }));
    expect(await outcome(http(fetch).call('POST', '/x', deduct))).toMatchObject({ deducted: true });
    expect(asked[1]?.init.body).toBe(asked[0]?.init.body);
    const keyless = fake(refusal(500, 'internal_error'));
    expect(await failure(http(keyless.fetch).call('POST', '/wallets'))).toMatchObject({ code: 'internal_error' });
    expect(keyless.asked).toHaveLength(1);
  });
});

describe('an answer that says it is a repeat', () => {
  it('is known from one whose first attempt was refused undone', async () => {
    const replays = async (...answers: Answer[]) => {
      const seen: boolean[] = [];
      await outcome(http(fake(...answers).fetch).call('POST', '/x', { ...deduct, onHeaders: (_, repeated) => seen.push(repeated) }));
      return seen;
    };
    expect(await replays(json(200, {}))).toEqual([false]);
    expect(await replays(refusal(429, 'rate_limited'), json(200, {}))).toEqual([false]);
    expect(await replays(refusal(503, 'overloaded'), json(200, {}))).toEqual([false]);
    expect(await replays(offline, refusal(429, 'rate_limited'), json(200, {}))).toEqual([true]);
  });
});

describe('a session', () => {
  const session = (...tokens: string[]) => {
    const dropped: string[] = [];
    return { dropped, token: async () => tokens[Math.min(dropped.length, tokens.length - 1)] ?? '', drop: (token: string) => void dropped.push(token) };
  };
  const as = (asked: { init: RequestInit }[]) => asked.map(({ init }) => (init.headers as Record<string, string>)['authorization']);

  it('that ended is renewed once, also for what is not repeated otherwise', async () => {
    const bearer = session('one', 'two');
    const { asked, fetch } = fake(refusal(401, 'session_expired'), json(200, {}));
    await outcome(new Http({ baseUrl: 'https://pay.example', fetch, retries: 0 }, bearer).call('POST', '/checkout', { body: {} }));
    expect([as(asked), bearer.dropped]).toEqual([['Bearer one', 'Bearer two'], ['one']]);
  });

  it('that is refused again is an error, not a loop', async () => {
    const { asked, fetch } = fake(refusal(401, 'session_expired'));
    expect(await failure(new Http({ baseUrl: 'https://pay.example', fetch }, session('one', 'two')).call('GET', '/x'))).toMatchObject({ code: 'session_expired' });
    expect(asked).toHaveLength(2);
  });
});

describe('an address', () => {
  it('is named where nothing came from it', async () => {
    expect((await failure(http(fake(offline).fetch).call('GET', '/x'))).message).toBe('No answer came from https://pay.example.');
    expect((await failure(http(fake('silence').fetch, { timeoutMs: 10 }).call('GET', '/x'))).message).toBe('No answer came from https://pay.example within 10 ms.');
  });

  it('that only a page could complete is refused elsewhere, before anything is tried', async () => {
    const { asked, fetch } = fake(json(200, {}));
    expect(await failure(new Http({ baseUrl: '', fetch }, 'pay_pk_1').call('GET', '/x'))).toMatchObject({ code: 'invalid_options' });
    expect(asked).toHaveLength(0);
  });
});

describe('a misspelled field', () => {
  it('is refused: under a key that was made up each run would take again', () => {
    const input = { amount: 1, idempotncyKey: 'image-1' };
    expect(() => keyed(input as { amount: number; idempotencyKey?: string }, 'amount productId')).toThrow(expect.objectContaining({ code: 'invalid_request', param: 'idempotncyKey' }));
    expect(keyed({ amount: 1, idempotencyKey: 'image-1' }, 'amount')).toEqual({ amount: 1, idempotencyKey: 'image-1' });
    expect(keyed({ amount: 1 } as { amount: number; idempotencyKey?: string }, 'amount').idempotencyKey).toHaveLength(36);
  });
});

describe('Retry-After', () => {
  it('is waited for, never less', async () => {
    const { asked, fetch } = fake(refusal(429, 'rate_limited', { 'retry-after': '7' }), json(200, {}));
    await outcome(http(fetch).call('GET', '/x'));
    const waited = (asked[1]?.at ?? 0) - (asked[0]?.at ?? 0);
    expect(waited).toBeGreaterThanOrEqual(7_000);
    expect(waited).toBeLessThan(7_300);
  });

  it('of an hour is an error for the caller, who does not wait', async () => {
    const { asked, fetch } = fake(refusal(429, 'too_many_invalid_codes', { 'retry-after': '3600' }));
    const error = await failure(http(fetch).call('GET', '/x'));
    expect(error).toMatchObject({ code: 'too_many_invalid_codes', retryAfterMs: 3_600_000 });
    expect(asked).toHaveLength(1);
  });

  it('that makes no sense is not obeyed', async () => {
    for (const value of ['-5', 'Wed, 21 Oct 2026 07:28:00 GMT', 'NaN', '']) {
      const { asked, fetch } = fake(refusal(503, 'overloaded', { 'retry-after': value }), json(200, {}));
      await outcome(http(fetch).call('GET', '/x'));
      expect((asked[1]?.at ?? Infinity) - (asked[0]?.at ?? 0)).toBeLessThan(1_000);
    }
  });
});

describe('time', () => {
  it('ends an attempt, after which there is another', async () => {
    const { asked, fetch } = fake('silence', json(200, { balance: 3 }));
    expect(await outcome(http(fetch).call('POST', '/x', deduct))).toEqual({ balance: 3 });
    expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(15_000);
  });

  it('may be given to a call', async () => {
    const { fetch } = fake('silence');
    const error = await failure(http(fetch, { retries: 0 }).call('POST', '/x', { ...deduct, timeoutMs: 50 }));
    expect(error).toMatchObject({ code: 'timeout', idempotencyKey: 'key-1', message: 'No answer came from https://pay.example within 50 ms.' });
  });

  it('covers a body that never ends', async () => {
    const fetch = (async (_: unknown, init: RequestInit) => {
      const body = new ReadableStream({
        start: (controller) => init.signal?.addEventListener('abort', () => controller.error(new DOMException('Aborted', 'AbortError'))),
      });
      return new Response(body, { status: 200 });
    }) as typeof globalThis.fetch;
    expect(await failure(http(fetch, { retries: 1 }).call('GET', '/x'))).toMatchObject({ code: 'timeout' });
  });
});

describe('an abort', () => {
  it('ends an attempt', async () => {
    const { asked, fetch } = fake('silence');
    const stop = new AbortController();
    const call = failure(http(fetch).call('POST', '/x', { ...deduct, signal: stop.signal }));
    stop.abort('enough');
    expect(await call).toMatchObject({ code: 'aborted', cause: 'enough', idempotencyKey: 'key-1' });
    expect(asked).toHaveLength(1);
  });

  it('ends a wait', async () => {
    const { asked, fetch } = fake(refusal(503, 'overloaded', { 'retry-after': '9' }));
    const stop = new AbortController();
    const call = http(fetch).call('POST', '/x', { ...deduct, signal: stop.signal });
    const seen = call.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    stop.abort();
    expect(await seen).toMatchObject({ code: 'aborted', idempotencyKey: 'key-1' });
    expect(asked).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that came before asks nothing of the service', async () => {
    const { fetch } = fake('silence');
    expect(await failure(http(fetch).call('GET', '/x', { signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' });
  });

  it('leaves no timer and no listener behind', async () => {
    const { fetch } = fake(json(200, {}));
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
    await http(fetch).call('GET', '/x', { signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
  });
});

describe('an answer that is none', () => {
  it('is always an error with a code', async () => {
    const login = () => new Response('<html>Log in to Free Airport Wi-Fi</html>', { status: 200, headers: { 'content-type': 'text/html' } });
    for (const answer of [login(), new Response('', { status: 200 }), json(200, null), json(200, 'ok'), json(200, 12), new Response('{"balance":', { status: 200 })]) {
      const { asked, fetch } = fake(answer);
      expect(await failure(http(fetch).call('POST', '/x', deduct))).toMatchObject({ code: 'unexpected_response', status: 200, idempotencyKey: 'key-1' });
      expect(asked).toHaveLength(1);
    }
    for (const answer of [json(404, { error: 'no such page' }), json(403, { code: 12, message: [] }), json(418, null)]) {
      const { fetch } = fake(answer);
      expect(await failure(http(fetch).call('GET', '/x'))).toMatchObject({ code: 'unexpected_response' });
    }
  });

  it("is tried again where it is a proxy's, who did not reach the service", async () => {
    const { asked, fetch } = fake(new Response('<h1>502</h1>', { status: 502 }), new Response('', { status: 504 }), json(200, { balance: 1 }));
    expect(await outcome(http(fetch).call('POST', '/x', deduct))).toEqual({ balance: 1 });
    expect(asked).toHaveLength(3);
  });

  it('may be the 202 without a body', async () => {
    const { fetch } = fake(new Response(null, { status: 202 }));
    expect(await outcome(http(fetch).call('POST', '/wallets/recover', { body: { email: 'a@b.example' } }))).toBeUndefined();
  });
});

describe('an error', () => {
  it('has what its code adds, and is recognised by it', async () => {
    const more = { balance: 3, requested: 5, shortfall: 2, productId: 'prod_1', prices: [{ id: 'price_1' }], name: 'Evil', stack: 'here', later: 1 };
    const { fetch } = fake(refusal(402, 'insufficient_credits', {}, more));
    const error: unknown = await failure(http(fetch).call('POST', '/x', deduct));
    expect(isScripError(error, 'wallet_not_found')).toBe(false);
    expect(isScripError(error)).toBe(true);
    if (!isScripError(error, 'insufficient_credits')) throw error;
    expect([error.balance, error.requested, error.shortfall, error.prices[0]?.id]).toEqual([3, 5, 2, 'price_1']);
    expect(error.name).toBe('ScripError');
    expect(error.stack).not.toBe('here');
    expect(error).not.toHaveProperty('later');
    expect(Object.getPrototypeOf(error)).toBe(ScripError.prototype);
  });

  it('of another copy of this class is recognised, anything else is not', () => {
    const other = Object.assign(new Error('x'), { name: 'ScripError', code: 'timeout' });
    expect(isScripError(other, 'timeout')).toBe(true);
    for (const no of [new Error('x'), null, undefined, 'timeout', { name: 'ScripError', code: 'timeout' }]) expect(isScripError(no)).toBe(false);
  });

  it('has no undefined fields to be printed', () => {
    expect(Object.keys(new ScripError('timeout', 'x'))).not.toContain('requestId');
  });

  it('comes of input that is no JSON, before anything is sent', async () => {
    const { asked, fetch } = fake(json(200, {}));
    const round: Record<string, unknown> = {};
    round['round'] = round;
    for (const meta of [round, { n: 10n }]) {
      const error = await failure(http(fetch).call('POST', '/x', { body: { idempotencyKey: 'k', meta } }));
      expect(error).toMatchObject({ code: 'invalid_request', idempotencyKey: 'k' });
    }
    expect(asked).toHaveLength(0);
  });
});

describe('a step of a path', () => {
  it('is a name, and no other path', () => {
    expect(segment(' OLIVE-7K2M-9QXP-4TBD ', 'code')).toBe('OLIVE-7K2M-9QXP-4TBD');
    for (const code of ['OLIVE7k2m9QXP4TBD', 'OLIVE 7k2m\u00a09QXP\r\n4TBD.', 'O L I V E—7k2m–9QXP‑4T\u00adB\u200bD', 'OLIVE.7k2m.9QXP。4TBD\ufeff'])
      expect(segment(code, 'code')).toBe('OLIVE7k2m9QXP4TBD');
    for (const no of ['', '.', '..', 'a/b', 'a%2fb', 'a?b', 'a#b', 'é', null, undefined])
      expect(() => segment(no as string, 'code')).toThrow(expect.objectContaining({ code: 'invalid_request', param: 'code' }));
  });
});
