// Sessions in place of a key, and a wallet's live stream: when requests are made, and when not.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Scrip, isScripError, type Holdings, type Session, type SessionSource } from '../src/index.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const HOUR = 3_600_000;
const session = (token: string, lifeMs = HOUR): Session => ({ token, expiresAt: new Date(Date.now() + lifeMs).toISOString() });
const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ code, message: 'So it is.' }), { status, headers });
const wallet = { walletId: 'wal_1', externalUserId: 'ann', balances: [{ productId: 'prod_1', balance: 5, creditUnit: 'images' }], features: [], subscriptions: [] };

/** A client and what it asked for, as `GET /wallets/external as one`. */
function client(source: SessionSource, answer: (asked: string, init: RequestInit) => Response | Promise<Response> = () => json(wallet)) {
  const asked: string[] = [];
  const fetch = (async (url: unknown, init: RequestInit = {}) => {
    const path = new URL(String(url)).pathname.replace('/api/v1', '');
    asked.push(`${init.method} ${path} as ${(init.headers as Record<string, string>)['authorization']?.slice(7)}`);
    return answer(asked.at(-1) ?? '', init);
  }) as typeof globalThis.fetch;
  return { asked, scrip: new Scrip({ baseUrl: 'https://pay.example', session: source, fetch }) };
}
/** What a call came to, with all waits passed at once. */
const outcome = async <T>(call: Promise<T>): Promise<T | unknown> => {
  const end = call.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  return end;
};

describe('a session', () => {
  it('is asked for once, however many need it', async () => {
    const source = vi.fn(async () => session('one'));
    const { asked, scrip } = client(source);
    await Promise.all([scrip.wallet(), scrip.ledger().catch(() => undefined), scrip.wallet()]);
    expect(source).toHaveBeenCalledTimes(1);
    expect(new Set(asked.map((each) => each.split(' as ')[1]))).toEqual(new Set(['one']));
  });

  it('is renewed a minute before its end, and not sooner', async () => {
    let n = 0;
    const source = vi.fn(async () => session(`token-${++n}`));
    const { asked, scrip } = client(source);
    await scrip.wallet();
    await vi.advanceTimersByTimeAsync(HOUR - 61_000);
    await scrip.wallet();
    await vi.advanceTimersByTimeAsync(2_000);
    await scrip.wallet();
    expect(asked.map((each) => each.split(' as ')[1])).toEqual(['token-1', 'token-1', 'token-2']);
  });

  it('that cannot be renewed is used while it is good, and asked for again now and then', async () => {
    let fails = false;
    const source = vi.fn(async () => {
      if (fails) throw new TypeError('offline');
      return session('one');
    });
    const { scrip } = client(source);
    await scrip.wallet();
    fails = true;
    await vi.advanceTimersByTimeAsync(HOUR - 30_000);
    for (let n = 0; n < 5; n++) expect(await scrip.wallet()).toMatchObject({ walletId: 'wal_1' });
    expect(source).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(6_000);
    await scrip.wallet();
    expect(source).toHaveBeenCalledTimes(3);
  });

  it('that was revoked is renewed once', async () => {
    let n = 0;
    const { asked, scrip } = client(
      () => session(`token-${++n}`),
      (what) => (what.endsWith('token-1') ? refusal(401, 'session_expired') : json(wallet)),
    );
    expect(await scrip.wallet()).toMatchObject({ walletId: 'wal_1' });
    expect(asked).toEqual(['GET /wallets/external as token-1', 'GET /wallets/external as token-2']);
  });

  it('on a clock that is hours ahead is not asked for at each call', async () => {
    const source = vi.fn(async () => session('one', -2 * HOUR));
    const { scrip } = client(source);
    for (let n = 0; n < 5; n++) await scrip.wallet();
    expect(source).toHaveBeenCalledTimes(1);
  });

  it('that fails is tried again with the call, with pauses, and not for ever', async () => {
    const source = vi.fn(async (): Promise<Session> => {
      throw new TypeError('offline');
    });
    const { scrip } = client(source);
    expect(await outcome(scrip.wallet())).toMatchObject({ code: 'session_failed' });
    expect(source).toHaveBeenCalledTimes(4);
  });

  it('without a user is no failure that is tried again', async () => {
    const source = vi.fn(() => null);
    const { asked, scrip } = client(source);
    expect(await outcome(scrip.wallet())).toMatchObject({ code: 'no_wallet' });
    expect([source.mock.calls.length, asked]).toEqual([1, []]);
  });

  it('may come from an address of one’s own', async () => {
    const posted = vi.fn(async (_url: unknown, _init?: RequestInit) => json(session('one')));
    vi.stubGlobal('fetch', posted);
    const { asked, scrip } = client('/api/scrip');
    await scrip.wallet();
    expect(posted.mock.calls[0]).toEqual(['/api/scrip', expect.objectContaining({ method: 'POST' })]);
    expect(asked).toEqual(['GET /wallets/external as one']);
    posted.mockImplementation(async () => json({}, 401));
    expect(await outcome(client('/api/scrip').scrip.wallet())).toMatchObject({ code: 'no_wallet' });
    posted.mockClear();
    // Wrongly mounted: asking again changes nothing.
    posted.mockImplementation(async () => json({}, 404));
    expect(await outcome(client('/api/scrip').scrip.wallet())).toMatchObject({ code: 'session_failed', status: 404 });
    expect(posted).toHaveBeenCalledTimes(1);
    posted.mockImplementation(async () => json({}, 503));
    expect(await outcome(client('/api/scrip').scrip.wallet())).toMatchObject({ code: 'session_failed', status: 503 });
    expect(posted).toHaveBeenCalledTimes(5);
  });

  it('finds out by itself whether its wallet is a user’s or a code’s', async () => {
    const { asked, scrip } = client(
      () => session('one'),
      (what) => (what.includes('external') ? refusal(403, 'session_forbidden') : json({ ...wallet, entries: [], nextCursor: null })),
    );
    await scrip.wallet();
    await scrip.ledger();
    expect(asked.map((each) => each.split(' ')[1])).toEqual(['/wallets/external', '/wallets/code', '/wallets/code/ledger']);
    const none = client(() => session('one'), () => refusal(403, 'session_forbidden'));
    expect(await outcome(none.scrip.wallet())).toMatchObject({ code: 'session_forbidden', status: 403 });
  });

  it('buys, and is shown the portal, without naming a wallet', async () => {
    const bodies: unknown[] = [];
    const { asked, scrip } = client(
      () => session('one'),
      (_, init) => {
        if (init.body) bodies.push(JSON.parse(String(init.body)));
        return json({ url: 'https://pay.example/x', orderId: 'ord_1', checkoutId: 'cs_1', ...wallet });
      },
    );
    await scrip.checkout({ priceId: 'price_1' });
    await scrip.portal({ returnUrl: 'https://shop.example/', subscriptionId: 'sub_1' });
    await scrip.cancelSubscription({ productId: 'prod_1' });
    await scrip.resumeSubscription({ subscriptionId: 'sub_1' });
    expect(bodies).toEqual([
      { priceId: 'price_1', idempotencyKey: expect.any(String) },
      { returnUrl: 'https://shop.example/', subscriptionId: 'sub_1' },
      { productId: 'prod_1', idempotencyKey: expect.any(String) },
      { subscriptionId: 'sub_1', idempotencyKey: expect.any(String) },
    ]);
    expect(asked.map((each) => each.split(' as ')[0])).toEqual([
      'POST /checkout',
      'POST /wallets/external/portal',
      'POST /subscriptions/cancel',
      'POST /subscriptions/resume',
    ]);
  });

  it('puts a card on file, and has it charged when credits run low', async () => {
    const bodies: unknown[] = [];
    const { asked, scrip } = client(() => session('one'), (what, { body }) => {
      bodies.push(body ? JSON.parse(String(body)) : undefined);
      return what.startsWith('DELETE') ? new Response(null, { status: 204 }) : json({ ...wallet, url: 'https://provider.example/card', enabled: true, state: 'armed' });
    });
    const changes = vi.fn();
    scrip.subscribe(changes);
    expect(await scrip.setUpPaymentMethod({ returnUrl: 'https://shop.example/billing', locale: 'de' })).toMatchObject({ url: 'https://provider.example/card' });
    expect(changes).not.toHaveBeenCalled();
    const rule = { enabled: true, priceId: 'price_1', threshold: 5, monthlyLimitCents: 900, consent: { text: 'Yes.' } } as const;
    expect(await scrip.setAutoTopUp(rule)).toMatchObject({ state: 'armed' });
    expect(await scrip.readAutoTopUp()).toMatchObject({ enabled: true });
    expect(await scrip.removePaymentMethod()).toBeUndefined();
    expect(asked.map((each) => each.replace(' as one', ''))).toEqual([
      'POST /wallets/external/payment-method',
      'PUT /wallets/external/auto-top-up',
      'GET /wallets/external/auto-top-up',
      'DELETE /wallets/external/payment-method',
    ]);
    expect(bodies).toEqual([{ returnUrl: 'https://shop.example/billing', locale: 'de' }, rule, undefined, undefined]);
    expect(changes).toHaveBeenCalledTimes(2);
  });

  it('takes no credits and keeps no code', async () => {
    const { asked, scrip } = client(() => session('one'));
    expect([scrip.bySession, await scrip.code()]).toEqual([true, null]);
    const refused: (() => Promise<unknown>)[] = [() => scrip.deduct({ productId: 'prod_1', amount: 1 }), () => scrip.ensureWallet(), () => scrip.useCode('OLIVE'), () => scrip.rotate()];
    for (const call of refused) expect(await outcome(call())).toMatchObject({ code: 'session_forbidden' });
    expect(asked).toEqual([]);
  });
});

describe('a wallet that is followed', () => {
  /** A service that sends what a test gives it, on as many connections as come. */
  function streaming() {
    const open: ReadableStreamDefaultController<Uint8Array>[] = [];
    const lastIds: (string | undefined)[] = [];
    const answers: Response[] = [];
    const { asked, scrip } = client(
      () => session('one'),
      (_, init) => {
        lastIds.push((init.headers as Record<string, string>)['last-event-id']);
        const instead = answers.shift();
        if (instead) return instead;
        if (init.signal?.aborted) throw new DOMException('Aborted', 'AbortError');
        return new Response(new ReadableStream<Uint8Array>({ start: (controller) => void open.push(controller) }));
      },
    );
    const say = (text: string) => open.at(-1)?.enqueue(new TextEncoder().encode(text));
    const balance = (amount: number, id = amount) =>
      `event: balance\nid: ${id}\ndata: ${JSON.stringify({ balances: [{ productId: 'prod_1', balance: amount, creditUnit: 'images' }], features: [], subscriptions: [] })}\n\n`;
    const seen: (number | undefined)[] = [];
    const listener = vi.fn(({ balances }: Holdings) => void seen.push(balances[0]?.balance));
    return { asked, scrip, open, lastIds, answers, say, balance, seen, listener };
  }
  const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

  it('follows each change, however the text is cut', async () => {
    const { asked, scrip, say, balance, seen, listener } = streaming();
    const stop = scrip.live(listener);
    await settle();
    say(balance(5));
    await settle();
    const text = `: still here\n\n${balance(4)}${balance(3)}`;
    for (let at = 0; at < text.length; at += 7) say(text.slice(at, at + 7));
    await settle();
    expect(seen).toEqual([5, 4, 3]);
    expect(listener.mock.calls[0]?.[0].balances[0]).toMatchObject({ held: 0 });
    expect(asked).toEqual(['GET /wallets/external/stream as one']);
    stop();
    await settle(HOUR);
    expect(asked).toHaveLength(1);
  });

  it('goes on where it was after the connection is lost, with longer and longer pauses', async () => {
    const { asked, scrip, open, lastIds, answers, say, balance, listener } = streaming();
    const stop = scrip.live(listener);
    await settle();
    say(balance(5, 17));
    await settle();
    answers.push(...Array.from({ length: 8 }, () => refusal(503, 'overloaded')));
    open.at(-1)?.close();
    await settle(2_000);
    const soon = asked.length;
    expect(soon).toBeGreaterThan(1);
    await settle(120_000);
    say(balance(4, 18));
    await settle();
    expect(lastIds.slice(1).every((id) => id === '17')).toBe(true);
    expect(listener).toHaveBeenLastCalledWith(expect.objectContaining({ balances: [expect.objectContaining({ balance: 4 })] }));
    const before = asked.length;
    await settle(20_000);
    expect(asked).toHaveLength(before);
    stop();
  });

  it('is left after a long silence: a connection may be dead without an error', async () => {
    const { asked, scrip, say, balance, listener } = streaming();
    const stop = scrip.live(listener);
    await settle();
    say(balance(5));
    for (let n = 0; n < 10; n++) {
      await settle(15_000);
      say(': \n\n');
    }
    expect(asked).toHaveLength(1);
    await settle(47_000);
    expect(asked).toHaveLength(2);
    stop();
  });

  it('is not followed where that is refused', async () => {
    for (const answer of [() => refusal(403, 'session_forbidden'), () => refusal(404, 'route_not_found')]) {
      const { asked, scrip, answers, listener } = streaming();
      answers.push(answer(), answer(), answer());
      const stop = scrip.live(listener);
      await settle(HOUR / 2);
      expect(asked.length).toBeLessThanOrEqual(2);
      stop();
    }
  });

  it('waits as long as Retry-After says where too many follow', async () => {
    const { asked, scrip, answers, listener } = streaming();
    answers.push(refusal(429, 'rate_limited', { 'retry-after': '60' }));
    const stop = scrip.live(listener);
    await settle(55_000);
    expect(asked).toHaveLength(1);
    await settle(30_000);
    expect(asked).toHaveLength(2);
    stop();
  });

  it('is left while the page is hidden, or the browser is offline', async () => {
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    const view = Object.assign(new EventTarget(), {});
    const network = { onLine: true };
    vi.stubGlobal('document', page);
    vi.stubGlobal('window', view);
    vi.stubGlobal('navigator', network);
    const { asked, scrip, say, balance, listener } = streaming();
    const stop = scrip.live(listener);
    await settle();
    say(balance(5));
    await settle();
    page.visibilityState = 'hidden';
    page.dispatchEvent(new Event('visibilitychange'));
    await settle(HOUR / 4);
    expect(asked).toHaveLength(1);
    page.visibilityState = 'visible';
    page.dispatchEvent(new Event('visibilitychange'));
    await settle(1_000);
    expect(asked).toHaveLength(2);
    network.onLine = false;
    view.dispatchEvent(new Event('offline'));
    await settle(HOUR / 4);
    expect(asked).toHaveLength(2);
    network.onLine = true;
    view.dispatchEvent(new Event('online'));
    await settle(1_000);
    expect(asked).toHaveLength(3);
    stop();
    page.dispatchEvent(new Event('visibilitychange'));
    await settle(1_000);
    expect(asked).toHaveLength(3);
  });

  it('without a user is not', async () => {
    const source = vi.fn(() => null);
    const { asked, scrip } = client(source);
    const stop = scrip.live(() => undefined);
    await settle(HOUR / 2);
    expect([source.mock.calls.length, asked]).toEqual([1, []]);
    stop();
    expect(isScripError(await outcome(scrip.wallet()), 'no_wallet')).toBe(true);
  });
});
