// Keys that may do less, against the service itself.
import { afterAll, beforeAll, expect, expectTypeOf, it } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripServer, isScripError } from '../src/index.js';

let service: Service;
const asked: string[] = [];
/** A client whose key can do this. */
const clientThat = async (...can: string[]) => {
  const { key } = await service.admin<{ key: string }>('POST', `/projects/${service.project}/keys`, { kind: 'restricted', name: 'Worker', can });
  return new ScripServer({
    ...service,
    secretKey: key,
    fetch: (input, init) => {
      asked.push(new URL(String(input)).pathname.replace('/api/v1', ''));
      return fetch(input, init);
    },
  });
};
const who = { externalUserId: 'ann' };
beforeAll(async () => {
  service = await startService();
  await new ScripServer(service).credit({ ...who, productId: service.product, amount: 100, idempotencyKey: 'first' });
});
afterAll(() => service?.stop());

it('say what they can do', async () => {
  const me = await (await clientThat('deduct', 'read')).me();
  expect(me).toMatchObject({ projectId: service.project, keyKind: 'restricted' });
  expect(me.can?.sort()).toEqual(['deduct', 'read']);
});

it('do that, gathered too, and nothing else', async () => {
  const scrip = await clientThat('deduct');
  asked.length = 0;
  const answers = await Promise.all(Array.from({ length: 20 }, () => scrip.deduct({ ...who, amount: 1 })));
  expect(Math.min(...answers.map(({ balance }) => balance))).toBe(80);
  expect(asked).toContain('/deductions/batch');
  expect(asked.length).toBeLessThan(20);
  asked.length = 0;
  const error = await scrip.credit({ ...who, productId: service.product, amount: 5, idempotencyKey: 'more' }).catch((failure: unknown) => failure);
  if (!isScripError(error, 'permission_missing')) throw error;
  expectTypeOf(error.permission).toEqualTypeOf<string>();
  expect(error).toMatchObject({ status: 403, permission: 'grant' });
  await expect(scrip.wallet(who)).rejects.toMatchObject({ code: 'permission_missing', permission: 'read' });
  expect(asked).toHaveLength(2);
});

it('refuse each call by itself, though calls go together', async () => {
  const scrip = await clientThat('read');
  const calls = Array.from({ length: 20 }, (_, n) => scrip.deduct({ ...who, amount: 1, idempotencyKey: `none-${n}` }).catch((failure: unknown) => failure));
  for (const [n, refused] of (await Promise.all(calls)).entries()) {
    expect(refused).toMatchObject({ code: 'permission_missing', permission: 'deduct', idempotencyKey: `none-${n}` });
  }
});
