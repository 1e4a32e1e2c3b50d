// A shop of a test's own, at the real service, and what its page asked for.
import { Scrip, type CodeStorage } from '@scrip-wallet/browser';
import { render, type RenderResult } from '@testing-library/react';
import type { ReactNode } from 'react';
import { inject } from 'vitest';
import { ScripProvider } from '../src';

type Json = Record<string, unknown>;

export const baseUrl = inject('baseUrl');

async function ask<T = Json>(path: string, key: string, body?: Json, method = body ? 'POST' : 'GET'): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${baseUrl}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

export interface Shop {
  readonly publishableKey: `pay_pk_${string}`;
  readonly secretKey: string;
  readonly productId: string;
  /** 100 images for EUR 5.00. */
  readonly priceId: string;
  /** 1,000 images for EUR 40.00. */
  readonly bigPriceId: string;
  readonly studioId: string;
  /** Its tier Studio, which unlocks `editor`. */
  readonly tierId: string;
  /** Where the sandbox sells. */
  readonly checkoutUrl: (checkoutId: string) => string;
  readonly admin: (path: string, body: Json, method?: string) => Promise<Json>;
}

/** A project with a product, two prices, a tier and the sandbox to pay in. */
export async function openShop(more: { freeGrant?: Json; provider?: boolean } = {}): Promise<Shop> {
  const token = inject('adminToken');
  const root = '/api/admin/v1/projects';
  const project = await ask<Record<string, string>>(root, token, { name: 'Shop' });
  const admin = (path: string, body: Json, method = 'POST') => ask(`${root}/${project['id']}${path}`, token, body, method);
  if (more.provider !== false) await admin('', { provider: { kind: 'sandbox' } }, 'PATCH');
  const product = await admin('/products', {
    name: 'Images',
    type: 'credits',
    creditUnit: 'images',
    ...(more.freeGrant && { freeGrant: more.freeGrant }),
  });
  const once = { currency: 'EUR', interval: 'one_time' };
  const prices = `/products/${product['id']}/prices`;
  const small = await admin(prices, { ...once, label: '100 images', amountCents: 500, creditsGranted: 100 });
  const big = await admin(prices, { ...once, label: '1,000 images', amountCents: 4000, creditsGranted: 1000 });
  const studio = await admin('/products', { name: 'Studio', type: 'subscription' });
  const tier = await admin(`/products/${studio['id']}/prices`, {
    label: 'Studio',
    amountCents: 900,
    currency: 'EUR',
    interval: 'month',
    features: ['editor'],
  });
  return {
    publishableKey: project['publishableKey'] as Shop['publishableKey'],
    secretKey: project['secretKey'] as string,
    productId: product['id'] as string,
    priceId: small['id'] as string,
    bigPriceId: big['id'] as string,
    studioId: studio['id'] as string,
    tierId: tier['id'] as string,
    checkoutUrl: (checkoutId) => `${baseUrl}/sandbox/${project['id']}/checkout/${checkoutId}`,
    admin,
  };
}

/** A code wallet with credits in it. */
export async function fund(shop: Shop, amount: number): Promise<string> {
  const { code } = await ask<{ code: string }>('/api/v1/wallets', shop.publishableKey, {});
  await grant(shop, code, amount);
  return code;
}

export async function grant(shop: Shop, code: string, amount: number, meta?: Json): Promise<void> {
  const { productId } = shop;
  const idempotencyKey = crypto.randomUUID();
  await ask('/api/v1/credit', shop.secretKey, { code, productId, amount, idempotencyKey, ...(meta && { meta }) });
}

/** As the service has it. */
export function walletOf(shop: Shop, code: string) {
  return ask<{ balances: { productId: string; balance: number }[]; features: string[] }>(`/api/v1/wallets/${code}`, shop.secretKey);
}

/** Presses Pay at a checkout, or another of its buttons. */
export async function pay(url: string, button = 'pay'): Promise<void> {
  const paid = await fetch(`${url}/${button}`, { method: 'POST' });
  if (!paid.ok) throw new Error(await paid.text());
}

/** Asks the service at once, and keeps back what it answers at some addresses until `go` is called: the page's
 * behaviour in between does not depend on how quick the service is. */
export function heldBack(which: RegExp) {
  let go = () => {};
  const released = new Promise<void>((resolve) => (go = resolve));
  const held = { fetch: fetchHeld, go, answered: 0 };
  async function fetchHeld(...given: Parameters<typeof fetch>): Promise<Response> {
    const answer = await fetch(...given);
    if (!which.test(String(given[0]))) return answer;
    // All of it, so that nothing is waited for any more once it goes on.
    const { status, headers } = answer;
    const text = await answer.text();
    held.answered += 1;
    await released;
    return new Response(text, { status, headers });
  }
  return held;
}

export interface Page extends RenderResult {
  readonly client: Scrip;
  /** What was asked for, such as `GET /products`. */
  readonly asked: string[];
  readonly bodies: Json[];
}

export interface PageOptions {
  code?: string | null;
  fetch?: typeof fetch;
  strict?: boolean;
  retries?: number;
}

export function keeps(code: string | null): CodeStorage {
  let kept = code;
  return { get: () => kept, set: (now) => void (kept = now), remove: () => void (kept = null) };
}

/** A client that writes down what it asks for. */
export function watched(shop: Shop, options: PageOptions = {}) {
  const asked: string[] = [];
  const bodies: Json[] = [];
  const through = options.fetch ?? fetch;
  const client = new Scrip({
    baseUrl,
    publishableKey: shop.publishableKey,
    retries: options.retries ?? 0,
    ...(options.code !== undefined && { storage: keeps(options.code) }),
    fetch: (input, init) => {
      const path = new URL(String(input)).pathname.replace('/api/v1', '').replace(/\/wallets\/[A-Z]+-[^/]*/, '/wallets/CODE');
      asked.push(`${init?.method ?? 'GET'} ${path}`);
      if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body) as Json);
      return through(input, init);
    },
  });
  return { client, asked, bodies };
}

/** Renders a page of this shop. */
export function visit(shop: Shop, children: ReactNode, options: PageOptions = {}): Page {
  const { client, asked, bodies } = watched(shop, options);
  const page = render(
    <ScripProvider client={client} locale="en-GB">
      {children}
    </ScripProvider>,
    { reactStrictMode: options.strict ?? false },
  );
  return { ...page, client, asked, bodies };
}
