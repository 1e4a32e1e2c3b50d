// Limits and members, against the service itself.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, expectTypeOf, it } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripServer, isScripError, type Limit, type LimitInput } from '../src/index.js';

let service: Service;
let scrip: ScripServer;
const asked: string[] = [];
/** Writes down what it asks for. */
const watch: typeof fetch = (input, init) => {
  asked.push(`${init?.method} ${new URL(String(input)).pathname.replace('/api/v1', '')}`);
  return fetch(input, init);
};
beforeAll(async () => {
  service = await startService();
  scrip = new ScripServer({ ...service, fetch: watch });
});
afterAll(() => service?.stop());

const EACH: LimitInput = { scope: 'member:*', amount: 10, window: 'month', timeZone: 'Europe/Berlin', alertsAt: [80] };
/** A team with credits, of which each member may use ten a month. */
const team = async (limits: LimitInput[] = [EACH]) => {
  const externalUserId = `team-${randomUUID()}`;
  await scrip.credit({ externalUserId, productId: service.product, amount: 1_000, idempotencyKey: 'first' });
  await scrip.setLimits({ externalUserId }, limits);
  asked.length = 0;
  return externalUserId;
};
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('not refused'),
    (error: unknown) => error,
  );
/** What is used, held and left of each limit. */
const states = async (externalUserId: string, member?: string) =>
  Object.fromEntries((await scrip.limits({ externalUserId }, { member })).map(({ scope, used, held, remaining }) => [scope, [used, held, remaining]]));

it('are set and read, with what a member used', async () => {
  const externalUserId = `team-${randomUUID()}`;
  const own: LimitInput = { scope: 'member:ann', amount: 20, window: 'month' };
  const set = await scrip.setLimits({ externalUserId }, [EACH, own]);
  expect(set).toMatchObject([{ ...EACH, unit: 'credits', source: 'wallet', resetsAt: expect.any(String) }, own]);
  expect(await scrip.setLimits({ externalUserId }, [EACH])).toHaveLength(1);
  const { code } = await scrip.createWallet();
  expect(await scrip.setLimits({ code }, [{ scope: 'wallet', amount: 5, window: 'lifetime' }])).toMatchObject([{ resetsAt: null }]);
  expect(await scrip.limits({ code })).toMatchObject([{ scope: 'wallet', remaining: 5 }]);
  // @ts-expect-error: there is no such window.
  void (() => scrip.setLimits({ code }, [{ scope: 'wallet', amount: 5, window: 'decade' }]));
});

it.each([true, false])('refuse a member who used their share, and that is not asked again (gathered: %s)', async (gather) => {
  const externalUserId = await team();
  const client = new ScripServer({ ...service, fetch: watch, gather });
  await client.deduct({ externalUserId, amount: 9, member: 'bob' });
  asked.length = 0;
  const error = await refusal(client.deduct({ externalUserId, amount: 2, member: 'bob', idempotencyKey: 'k' }));
  expect(asked).toEqual(['POST /wallets/external/deduct']);
  if (!isScripError(error, 'limit_exceeded')) throw error;
  expectTypeOf(error.limit).toEqualTypeOf<Limit>();
  expect(error).toMatchObject({ status: 403, requested: 2, idempotencyKey: 'k', limit: { scope: 'member:*', amount: 10, window: 'month', used: 9, held: 0 } });
  expect(Date.parse(error.limit.resetsAt ?? '')).toBeGreaterThan(Date.now());
  // Passed on to a page, it says so too.
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: 'limit_exceeded', limit: { used: 9 } });
  await client.deduct({ externalUserId, amount: 2, member: 'ann', idempotencyKey: 'k' });
});

it('count each call for its own member, though calls go together', async () => {
  const externalUserId = await team();
  const members = Array.from({ length: 200 }, (_, n) => `member-${n % 20}`);
  // Of twelve calls of one credit each, ten for each of them are let through.
  const calls = [...members, ...members.slice(0, 40)].map((member) => scrip.deduct({ externalUserId, amount: 1, member }).catch((error: unknown) => error));
  const refused = (await Promise.all(calls)).filter((answer) => isScripError(answer, 'limit_exceeded'));
  expect(refused).toHaveLength(40);
  expect(asked.length).toBeLessThan(20);
  for (const member of new Set(members)) expect(await states(externalUserId, member)).toEqual({ 'member:*': [10, 0, 0] });
  const entries = (await scrip.ledger({ externalUserId }, { reason: 'deduction', limit: 100 })).items;
  expect(new Set(entries.map(({ member }) => member)).size).toBe(20);
  const bucket = (await scrip.usage({ interval: 'month', groupBy: 'member', externalUserId })).at(-1);
  expect(bucket?.groups).toContainEqual(expect.objectContaining({ key: 'member-7', credits: 10, deductions: 10 }));
});

it('count batches, holds, and work against them', async () => {
  const externalUserId = await team();
  const items = ['ann', 'ann', 'bob'].map((member, n) => ({ externalUserId, amount: 6, member, idempotencyKey: `b${n}` }));
  const [first, second, third] = await scrip.deductBatch(items);
  expect([first?.deducted, second?.error?.code, third?.deducted]).toEqual([true, 'limit_exceeded', true]);
  expect(isScripError(second?.error, 'limit_exceeded') && second?.error.limit.used).toBe(6);
  await scrip.hold({ externalUserId, amount: 4, member: 'ann' });
  const [held] = await scrip.holdBatch([{ externalUserId, amount: 1, member: 'ann', idempotencyKey: 'h' }]);
  expect(held?.error).toMatchObject({ code: 'limit_exceeded', status: 403 });
  expect(await states(externalUserId, 'ann')).toEqual({ 'member:*': [6, 4, 0] });
  let worked = 0;
  const work = async () => ({ amount: ++worked });
  await scrip.withHold({ externalUserId, amount: 4, member: 'bob' }, work);
  expect(await states(externalUserId, 'bob')).toEqual({ 'member:*': [7, 0, 3] });
  expect(await refusal(scrip.withHold({ externalUserId, amount: 4, member: 'bob' }, work))).toMatchObject({ code: 'limit_exceeded' });
  expect(worked).toBe(1);
});

it('alert once, and say once that they are reached, as events', async () => {
  const externalUserId = await team();
  await scrip.deduct({ externalUserId, amount: 10, member: 'ann' });
  for (const _ of [1, 2]) await refusal(scrip.deduct({ externalUserId, amount: 1, member: 'ann' }));
  const events: unknown[] = [];
  for await (const event of scrip.allEvents({ types: ['limit.alert', 'limit.reached'] })) {
    if (event.type !== 'limit.alert' && event.type !== 'limit.reached') continue;
    const { member, limit, externalUserId: of } = event.data;
    if (of === externalUserId) events.push([event.type, member, limit.used, event.type === 'limit.alert' && event.data.percent]);
  }
  expect(events).toEqual([['limit.alert', 'ann', 10, 80], ['limit.reached', 'ann', 10, false]]);
});
