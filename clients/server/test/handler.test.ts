// Who gets a session, and who does not.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { ScripError, scripHandler, scripNodeHandler, type NodeRequest } from '../src/index.js';

const opened = { token: 'pay_ws_1', expiresAt: '2026-11-24T02:00:00.000Z' };
const scrip = () => ({ session: vi.fn(async () => opened) });
const ask = (headers: Record<string, string> = {}, method = 'POST') => new Request('https://shop.example/api/scrip', { method, headers });
/** What a browser says of a page's own request. */
const own = { 'sec-fetch-site': 'same-origin', origin: 'https://shop.example' };

describe('a route', () => {
  it('opens a session for the user who is signed in, and no cache keeps it', async () => {
    const client = scrip();
    const reply = await scripHandler({ scrip: client, identify: () => 'ann', can: ['read'], expiresInSeconds: 600 })(ask(own));
    expect([reply.status, await reply.json(), reply.headers.get('cache-control')]).toEqual([200, opened, 'no-store']);
    expect(client.session).toHaveBeenCalledWith({ externalUserId: 'ann', can: ['read'], expiresInSeconds: 600 });
  });

  it('opens one for the wallet of a code, where an application keeps codes', async () => {
    const client = scrip();
    await scripHandler({ scrip: client, identify: async () => ({ code: 'OLIVE-7K2M-9QXP-4TBD' }) })(ask(own));
    expect(client.session).toHaveBeenCalledWith(expect.objectContaining({ code: 'OLIVE-7K2M-9QXP-4TBD' }));
  });

  it('opens none without a user, nor for another wallet than the one that is identified', async () => {
    const client = scrip();
    const reply = await scripHandler({ scrip: client, identify: () => null })(ask(own));
    expect([reply.status, await reply.json()]).toEqual([401, expect.objectContaining({ code: 'no_wallet' })]);
    await scripHandler({ scrip: client, identify: () => 'ann' })(new Request('https://shop.example/api/scrip?externalUserId=bob', { method: 'POST', headers: own, body: '{"externalUserId":"bob"}' }));
    expect(client.session.mock.calls).toEqual([[expect.objectContaining({ externalUserId: 'ann' })]]);
  });

  it.each([
    ['another site’s page', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a neighbour’s page', { 'sec-fetch-site': 'same-site', origin: 'https://blog.shop.example' }],
    ['a link', { 'sec-fetch-site': 'none' }],
    ['another site’s page in an old browser', { origin: 'https://evil.example' }],
    ['a page that says nothing of its origin', { origin: 'null' }],
    ['a page whose name only begins like ours', { origin: 'https://shop.example.evil.example' }],
    ['a page that names a host for us', { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('refuses %s before anybody is identified', async (_, headers) => {
    const identify = vi.fn(() => 'ann');
    const reply = await scripHandler({ scrip: scrip(), identify })(ask(headers));
    expect([reply.status, await reply.json()]).toEqual([403, expect.objectContaining({ code: 'cross_site' })]);
    expect(identify).not.toHaveBeenCalled();
  });

  it('takes a page of its own in an old browser, and what is no browser', async () => {
    for (const headers of [{ origin: 'https://shop.example' }, {}]) expect((await scripHandler({ scrip: scrip(), identify: () => 'ann' })(ask(headers))).status).toBe(200);
  });

  it('is asked by POST alone', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await scripHandler({ scrip: scrip(), identify: () => 'ann' })(ask(own, method))).status).toBe(405);
  });

  it('says so where the service is away, and fails where it is set up wrongly', async () => {
    const failing = (error: Error) => scripHandler({ scrip: { session: () => Promise.reject(error) }, identify: () => 'ann' })(ask(own));
    const reply = await failing(new ScripError('network_error', 'No answer came.'));
    expect([reply.status, await reply.json()]).toEqual([503, expect.objectContaining({ code: 'session_failed' })]);
    await expect(failing(new ScripError('invalid_api_key', 'No such key.', { status: 401 }))).rejects.toMatchObject({ code: 'invalid_api_key' });
  });
});

it('is the same to Node’s own requests, as Express has them', async () => {
  const handler = scripNodeHandler({ scrip: scrip(), identify: (request: NodeRequest) => request.headers['x-user'] as string | undefined });
  const site = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const post = async (headers: Record<string, string>, method = 'POST') => {
    const reply = await fetch(url, { method, headers });
    return [reply.status, ((await reply.json()) as { token?: string; code?: string }).token ?? 'none'];
  };
  try {
    expect(await post({ 'x-user': 'ann', origin: url })).toEqual([200, 'pay_ws_1']);
    expect(await post({ 'x-user': 'ann', origin: 'https://evil.example' })).toEqual([403, 'none']);
    expect(await post({ origin: url })).toEqual([401, 'none']);
    expect(await post({ 'x-user': 'ann' }, 'GET')).toEqual([405, 'none']);
  } finally {
    site.close();
  }
  const next = vi.fn();
  const broken = scripNodeHandler({ scrip: scrip(), identify: () => Promise.reject(new Error('no sessions')) });
  await broken({ method: 'POST', headers: {} }, { statusCode: 0, setHeader: () => undefined, end: () => undefined }, next);
  expect(next).toHaveBeenCalledWith(expect.objectContaining({ message: 'no sessions' }));
});
