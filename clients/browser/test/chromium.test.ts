// In a real browser, from another origin than the service's: storage, tabs, windows, redirects, CORS.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { openBrowser, scripts, serveSite, type Site } from '@scrip-wallet/kit/browser';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Scrip as Client, ScripError } from '../src/index.js';

declare global {
  var scrip: Client;
  var Scrip: typeof Client;
  var seen: number[];
  var changes: number;
}

let service: Service;
let strict: Service;
let browser: Browser;
let site: Site;
let context: BrowserContext;

beforeAll(async () => {
  [service, strict, browser] = await Promise.all([startService(), startService({ SCRIP_LIMITS_PUBLISHABLE_BURST: '3', SCRIP_LIMITS_PUBLISHABLE_PER_SECOND: '1' }), openBrowser()]);
  const keys = JSON.stringify({ baseUrl: service.baseUrl, publishableKey: service.publishableKey });
  const html = `<!doctype html><title>Shop</title><button>Buy</button><script type="module">
    import { Scrip } from '/index.js';
    window.Scrip = Scrip;
    window.scrip = new Scrip(${keys});
    document.querySelector('button').onclick = () => {
      window.bought = scrip.checkoutPopup({ priceId: '${service.price}' }, { onClose: () => { window.closedAt = Date.now(); } }).then((order) => ({ order }), ({ code }) => ({ code }));
    };
  </script>`;
  site = await serveSite(html, scripts(new URL('../dist/', import.meta.url)));
});
afterAll(async () => {
  await browser?.close();
  site?.close();
  await Promise.all([service?.stop(), strict?.stop()]);
});
beforeEach(async () => {
  context = await browser.newContext();
  context.setDefaultTimeout(30_000);
});
afterEach(() => context.close());

const open = async (path = '/'): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(site.url + path);
  await page.waitForFunction(() => 'scrip' in window);
  return page;
};
const pay = async (page: Page) => {
  await page.getByLabel(/email/i).fill('ann@mail.example');
  await page.getByRole('button', { name: /^pay(?! later)/i }).click();
};

describe('a wallet', () => {
  it('is there again at the next visit', async () => {
    const page = await open();
    const { code } = await page.evaluate(() => scrip.ensureWallet());
    await page.reload();
    expect(await page.evaluate(() => scrip.wallet())).toMatchObject({ code });
    expect(await (await open('/elsewhere')).evaluate(() => scrip.code())).toBe(code);
  });

  it('is one, though two tabs make one at the same time', async () => {
    const tabs = await Promise.all([open(), open(), open()]);
    const codes = await Promise.all(tabs.map((tab) => tab.evaluate(() => scrip.ensureWallet().then(({ code }) => code))));
    expect(new Set(codes).size).toBe(1);
  });

  it('that changes in one tab is noticed in another', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    await other.evaluate(() => {
      globalThis.changes = 0;
      scrip.subscribe(() => (globalThis.changes += 1));
    });
    const { code } = await one.evaluate(() => scrip.createWallet());
    await other.waitForFunction(() => globalThis.changes > 0);
    expect(await other.evaluate(() => scrip.code())).toBe(code);
  });

  it('that is spent from in one tab is noticed in another', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const { code } = await one.evaluate(() => scrip.ensureWallet());
    const give = { code, productId: service.product, amount: 5, idempotencyKey: 'grant-1' };
    await fetch(`${service.baseUrl}/api/v1/credit`, { method: 'POST', headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' }, body: JSON.stringify(give) });
    for (const tab of [one, other])
      await tab.evaluate(() => {
        globalThis.changes = 0;
        scrip.subscribe(() => (globalThis.changes += 1));
      });
    await one.evaluate((productId) => scrip.deduct({ productId, amount: 1 }), service.product);
    await other.waitForFunction(() => globalThis.changes > 0);
    // Once here, and no tab answers.
    expect(await one.evaluate(() => globalThis.changes)).toBe(1);
  });

  it('lives as long as the page where storage is forbidden', async () => {
    await context.addInitScript(() =>
      Object.defineProperty(window, 'localStorage', {
        get: () => {
          throw new DOMException('denied', 'SecurityError');
        },
      }),
    );
    const page = await open();
    const codes = await page.evaluate(async () => [(await scrip.ensureWallet()).code, (await scrip.ensureWallet()).code]);
    expect(codes[0]).toBe(codes[1]);
  });
});

describe('a refusal', () => {
  it('can be read across origins, with when to come again', async () => {
    const keys = { baseUrl: strict.baseUrl, publishableKey: strict.publishableKey, retries: 0 };
    const page = await open();
    const error = await page.evaluate(async (options) => {
      const client = new (window as unknown as { Scrip: typeof Scrip }).Scrip(options);
      const all = await Promise.allSettled(Array.from({ length: 30 }, () => client.products()));
      const refused = all.find((end) => end.status === 'rejected') as PromiseRejectedResult;
      const { code, status, retryAfterMs, requestId, message } = refused.reason as ScripError;
      return { code, status, retryAfterMs, requestId, message };
    }, keys);
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: 1000, requestId: expect.stringMatching(/^req_/) });
  });

  it('by the browser is a network error', async () => {
    const page = await open();
    const code = await page.evaluate(async () => {
      const client = new (window as unknown as { Scrip: typeof Scrip }).Scrip({ baseUrl: 'http://127.0.0.1:1', publishableKey: 'pay_pk_1', retries: 0 });
      return client.products().catch((error: ScripError) => error.code);
    });
    expect(code).toBe('network_error');
  });
});

describe('a session', () => {
  it('follows its wallet as it happens, and again after the network was away', async () => {
    const secretly = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' };
      return (await fetch(`${service.baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<object>;
    };
    const give = (amount: number) => secretly('/credit', { externalUserId: 'ann', productId: service.product, amount, idempotencyKey: crypto.randomUUID() });
    await give(5);
    const page = await open();
    await page.evaluate(
      ({ baseUrl, session }) => {
        globalThis.seen = [];
        const signedIn = new Scrip({ baseUrl, session: () => session as { token: string; expiresAt: string } });
        signedIn.live(({ balances }) => globalThis.seen.push(balances[0]?.balance ?? 0));
      },
      { baseUrl: service.baseUrl, session: await secretly('/sessions', { externalUserId: 'ann' }) },
    );
    await page.waitForFunction(() => seen.at(-1) === 5);
    await give(2);
    await page.waitForFunction(() => seen.at(-1) === 7);
    // After the client's own listener, which leaves the stream.
    await page.evaluate(() => addEventListener('offline', () => seen.push(-1), { once: true }));
    await context.setOffline(true);
    await page.waitForFunction(() => seen.at(-1) === -1);
    await give(1);
    expect(await page.evaluate(() => seen.slice(-2))).toEqual([7, -1]);
    await context.setOffline(false);
    await page.waitForFunction(() => seen.at(-1) === 8);
  });
});

describe('what only buyers need', () => {
  const parts = async (page: Page) => {
    const loaded: string[] = [];
    await page.route(/\/buying-/, (route, request) => {
      loaded.push(request.url());
      return route.abort();
    });
    return loaded;
  };

  it('is loaded by none who only look', async () => {
    const page = await context.newPage();
    const loaded = await parts(page);
    await page.goto(site.url);
    await page.waitForFunction(() => 'scrip' in window);
    expect(await page.evaluate(async () => [await scrip.completeCheckout(), (await scrip.ensureWallet()).balances])).toEqual([null, []]);
    expect(loaded).toEqual([]);
  });

  it('and does not come is an error before anything can be paid', async () => {
    const page = await open();
    const loaded = await parts(page);
    const checkouts: string[] = [];
    page.on('request', (request) => request.url().endsWith('/checkout') && checkouts.push(request.url()));
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Buy' }).click()]);
    expect(await page.evaluate(() => (window as unknown as { bought: Promise<unknown> }).bought)).toEqual({ code: 'network_error' });
    expect([loaded.length, checkouts.length]).toEqual([1, 0]);
    await expect.poll(() => popup.isClosed()).toBe(true);
  });
});

describe('a checkout by redirect', () => {
  const leave = (page: Page, more: object = {}) =>
    page.evaluate((input) => void scrip.redirectToCheckout(input as { priceId: string }).catch(() => undefined), { priceId: service.price, ...more });

  it('comes back to the page, waits for the payment and keeps the new wallet', async () => {
    const page = await open('/shop?page=2#prices');
    await leave(page);
    await page.waitForURL(/sandbox/);
    await pay(page);
    await page.waitForURL(/\/shop\?page=2&scrip_checkout=cs_\w+$/);
    await page.waitForFunction(() => 'scrip' in window);
    const order = await page.evaluate(() => scrip.completeCheckout());
    expect(order).toMatchObject({ status: 'paid', balance: 1000 });
    expect(await page.evaluate(() => scrip.code())).toBe(order?.code);
    expect(await page.evaluate(() => scrip.completeCheckout())).toBeNull();
    expect(page.url()).toMatch(/\/shop\?page=2$/);
  });

  it('comes back to another browser than the one that was left, as a bank’s app has it', async () => {
    const page = await open('/shop');
    await leave(page);
    await page.waitForURL(/sandbox/);
    await pay(page);
    await page.waitForURL(/scrip_checkout=cs_/);
    const elsewhere = await browser.newContext();
    try {
      const other = await elsewhere.newPage();
      await other.goto(page.url());
      await other.waitForFunction(() => 'scrip' in window);
      const order = await other.evaluate(() => scrip.completeCheckout());
      expect(order).toMatchObject({ status: 'paid', balance: 1000 });
      expect(await other.evaluate(() => scrip.wallet())).toMatchObject({ code: order?.code, balances: [{ balance: 1000 }] });
    } finally {
      await elsewhere.close();
    }
  });

  it('never replaces the code of another wallet', async () => {
    const page = await open();
    const { code } = await page.evaluate(() => scrip.createWallet());
    await leave(page, { code: null });
    await page.waitForURL(/sandbox/);
    await pay(page);
    await page.waitForURL(/scrip_checkout=cs_/);
    await page.waitForFunction(() => 'scrip' in window);
    const order = await page.evaluate(() => scrip.completeCheckout());
    expect(order?.status).toBe('paid');
    expect(order?.code).not.toBe(code);
    expect(await page.evaluate(() => scrip.code())).toBe(code);
    await page.evaluate((minted) => scrip.useCode(minted), order?.code ?? '');
    expect(await page.evaluate(() => scrip.wallet())).toMatchObject({ code: order?.code, balances: [{ balance: 1000 }] });
  });

  it('that was cancelled does not keep the page waiting, and is remembered', async () => {
    const page = await open('/shop');
    await leave(page);
    await page.waitForURL(/sandbox/);
    const checkout = page.url();
    await page.goto(`${site.url}/shop`);
    await page.waitForFunction(() => 'scrip' in window);
    const looks: string[] = [];
    page.on('request', (request) => request.method() === 'GET' && request.url().includes('/orders/') && looks.push(request.url()));
    expect(await page.evaluate(() => scrip.completeCheckout())).toMatchObject({ status: 'pending' });
    // One look, and none that is waited for.
    expect(looks).toHaveLength(1);
    // They pay after all, in the tab that they left open.
    await service.press(checkout, 'pay');
    expect(await page.evaluate(() => scrip.completeCheckout())).toMatchObject({ status: 'paid' });
  });
});

describe('a checkout in a window', () => {
  type Bought = { bought: Promise<{ order?: { status: string; code: string }; code?: string }>; closedAt?: number };
  const click = async (page: Page) => {
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Buy' }).click()]);
    await popup.waitForURL(/sandbox/);
    return popup;
  };

  it('is done once it is paid, closes it and keeps the new wallet', async () => {
    const page = await open();
    const popup = await click(page);
    const closed = popup.waitForEvent('close');
    await pay(popup);
    const { order } = await page.evaluate(() => (window as unknown as Bought).bought);
    expect(order?.status).toBe('paid');
    await closed;
    expect(await page.evaluate(() => scrip.wallet())).toMatchObject({ code: order?.code, balances: [{ balance: 1000 }] });
  });

  it('is no failure where the money takes its time', async () => {
    const page = await open();
    const popup = await click(page);
    await popup.getByLabel(/email/i).fill('ann@mail.example');
    await popup.getByRole('button', { name: /pay later/i }).click();
    await popup.waitForURL((url) => !url.pathname.includes('/sandbox'));
    await popup.close();
    const { order } = await page.evaluate(() => (window as unknown as Bought).bought);
    expect(order).toMatchObject({ status: 'pending', processing: true });
    // It is remembered until the money is there.
    expect(await page.evaluate(() => scrip.completeCheckout({ timeoutMs: 0 }))).toMatchObject({ processing: true });
  });

  it('that is closed unpaid is refused', async () => {
    const page = await open();
    const popup = await click(page);
    const begun = Date.now();
    await popup.close();
    // A page's button does not have to wait for what is known only later.
    await page.waitForFunction(() => (window as unknown as Bought).closedAt);
    expect(Date.now() - begun).toBeLessThan(3_000);
    expect(await page.evaluate(() => (window as unknown as Bought).bought)).toEqual({ code: 'checkout_closed' });
    expect(await page.evaluate(() => scrip.code())).toBeNull();
  });
});
