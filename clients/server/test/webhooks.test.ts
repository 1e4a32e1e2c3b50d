// What the service signs is what is verified here.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripServer, signWebhook, verifyWebhook } from '../src/index.js';

interface Delivery {
  body: Buffer;
  headers: IncomingHttpHeaders;
}

let service: Service;
let secret: string;
let delivery: Delivery;
let close: () => void;
let id: string;

beforeAll(async () => {
  service = await startService();
  let receive: (delivery: Delivery) => void;
  const received = new Promise<Delivery>((resolve) => (receive = resolve));
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.end();
    receive({ body: Buffer.concat(chunks), headers: request.headers });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  close = () => receiver.close();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  ({ id, secret } = await service.admin<{ id: string; secret: string }>('POST', `/projects/${service.project}/webhooks`, { url, events: ['wallet.credited'] }));
  const scrip = new ScripServer(service);
  await scrip.credit({ externalUserId: 'zoë', productId: service.product, amount: 5, idempotencyKey: 'a' });
  delivery = await received;
});
afterAll(async () => {
  close?.();
  await service?.stop();
});

const invalid = expect.objectContaining({ code: 'invalid_signature', name: 'ScripError' });

it('is taken in the form of any framework', () => {
  const { body, headers } = delivery;
  const text = body.toString();
  const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  const web = new Headers(headers as Record<string, string>);
  for (const form of [body, new Uint8Array(body), text])
    for (const bag of [headers, shouted, web]) {
      const event = verifyWebhook(form, bag, secret);
      expect(event).toMatchObject({ type: 'wallet.credited', data: { externalUserId: 'zoë', delta: 5 } });
      expect(event.id).toBe(headers['webhook-id']);
    }
});

it('is refused once a byte of it is another', () => {
  const { body, headers } = delivery;
  const text = body.toString();
  expect(() => verifyWebhook(text.replace('"delta":5', '"delta":6'), headers, secret)).toThrow(invalid);
  expect(() => verifyWebhook(`${text} `, headers, secret)).toThrow(invalid);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    expect(() => verifyWebhook(text, { ...headers, [name]: '' }, secret)).toThrow(invalid);
    expect(() => verifyWebhook(text, { ...headers, [name]: `${String(headers[name])}1` }, secret)).toThrow(invalid);
  }
  expect(() => verifyWebhook(text, headers, 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')).toThrow(invalid);
});

it('is refused when it is old', () => {
  vi.useFakeTimers({ now: Date.now() + 301_000 });
  try {
    expect(() => verifyWebhook(delivery.body, delivery.headers, secret)).toThrow(invalid);
  } finally {
    vi.useRealTimers();
  }
});

it('says it where it is used wrongly, and never tells the secret', () => {
  const misuse = expect.objectContaining({ code: 'invalid_options', message: expect.not.stringContaining('whsec_not') });
  expect(() => verifyWebhook(JSON.parse(delivery.body.toString()) as string, delivery.headers, secret)).toThrow(misuse);
  for (const no of ['', 'whsec_', 'whsec_not base64!', undefined]) expect(() => verifyWebhook('{}', delivery.headers, no as string)).toThrow(misuse);
});

it('is taken with the new secret while two are signed with', async () => {
  const rotated = await service.admin<{ secret: string }>('POST', `/projects/${service.project}/webhooks/${id}/rotate-secret`);
  expect(rotated.secret).not.toBe(secret);
  // Both signatures, as the service sends them for a day.
  const { Webhook } = await import('standardwebhooks');
  const at = new Date(Number(delivery.headers['webhook-timestamp']) * 1000);
  const second = new Webhook(rotated.secret).sign(String(delivery.headers['webhook-id']), at, delivery.body.toString());
  const headers = { ...delivery.headers, 'webhook-signature': `${second} ${String(delivery.headers['webhook-signature'])}` };
  for (const each of [secret, rotated.secret]) expect(verifyWebhook(delivery.body, headers, each).type).toBe('wallet.credited');
});

it('takes what either of two secrets signed, as while one is replaced', () => {
  const old = 'whsec_' + btoa('the secret of last year, 32 byte');
  expect(verifyWebhook(delivery.body, delivery.headers, [old, secret]).id).toBe(verifyWebhook(delivery.body, delivery.headers, secret).id);
  expect(() => verifyWebhook(delivery.body, delivery.headers, [old])).toThrow(expect.objectContaining({ code: 'invalid_signature' }));
});

it('takes from a test what the service would send', () => {
  const data = { walletId: 'wal_1', externalUserId: 'ann', productId: 'prod_1', balance: 5, delta: 5, reason: 'manual' as const };
  const { body, headers } = signWebhook({ type: 'wallet.credited', data }, secret);
  const event = verifyWebhook(body, headers, secret);
  const real = verifyWebhook(delivery.body, delivery.headers, secret);
  expect(event).toMatchObject({ type: 'wallet.credited', data, id: expect.stringMatching(/^evt_/) });
  expect(Object.keys(event).sort()).toEqual(Object.keys(real).sort());
  // What the types promise is what comes.
  expect(Object.keys(real.data)).toEqual(expect.arrayContaining(Object.keys(data)));
  expect(() => verifyWebhook(`${body} `, headers, secret)).toThrow();
});
