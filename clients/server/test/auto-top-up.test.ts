// Cards on file and automatic top-up, against the service itself.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, expectTypeOf, it, vi } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripServer, isScripError, type AutoTopUp, type AutoTopUpInput, type EventType, type ScripEventOf } from '../src/index.js';

let service: Service;
let scrip: ScripServer;
beforeAll(async () => {
  service = await startService();
  scrip = new ScripServer(service);
});
afterAll(() => service?.stop());

const PAYS = '4242424242424242';
const DECLINES = '4000000000009995';
/** Its bank wants to be asked each time. */
const ASKS = '4000002760003184';
const CONSENT = { text: 'I allow Atelier to charge my card.' };
/** Once fewer than 10 of the demo's credits are left. */
const rule = (more: object = {}): AutoTopUpInput => ({ enabled: true, priceId: service.price, threshold: 10, monthlyLimitCents: 100_000, consent: CONSENT, ...more });

/** A user with twenty credits and a card. */
async function buyer(card = PAYS): Promise<{ externalUserId: string }> {
  const user = { externalUserId: `ann-${randomUUID()}` };
  await scrip.credit({ ...user, productId: service.product, amount: 20, idempotencyKey: 'first' });
  const { url } = await scrip.setUpPaymentMethod({ ...user, returnUrl: 'http://localhost/billing', locale: 'en' });
  await service.press(url, 'pay', { card });
  if (card === ASKS) await service.press(url, 'authenticate');
  await vi.waitFor(async () => expect((await scrip.wallet(user)).paymentMethod).toBeTruthy(), 20_000);
  return user;
}
const spend = (user: { externalUserId: string }) => scrip.deduct({ ...user, amount: 15 });
/** What happened to a user's top-up. */
async function reported<T extends EventType>(type: T, { externalUserId }: { externalUserId: string }): Promise<ScripEventOf<T>> {
  return vi.waitFor(
    async () => {
      const { items } = await scrip.events({ types: [type], limit: 100 });
      const found = items.find(({ data }) => 'externalUserId' in data && data.externalUserId === externalUserId);
      if (!found) throw new Error(`no ${type} yet`);
      return found as unknown as ScripEventOf<T>;
    },
    { timeout: 30_000, interval: 200 },
  );
}

it('keeps a card, shows it, and forgets it however often it is asked', async () => {
  const user = await buyer();
  expect((await scrip.wallet(user)).paymentMethod).toEqual({ brand: 'visa', last4: '4242', expMonth: expect.any(Number), expYear: expect.any(Number) });
  await scrip.removePaymentMethod(user);
  await scrip.removePaymentMethod(user);
  expect((await scrip.wallet(user)).paymentMethod ?? null).toBeNull();
});

it('keeps the card of a checkout that says so', async () => {
  const user = { externalUserId: `ann-${randomUUID()}` };
  const { url, orderId } = await scrip.checkout({ ...user, priceId: service.price, saveCard: true });
  await service.press(url, 'pay');
  await vi.waitFor(async () => expect((await scrip.order(orderId)).status).toBe('paid'), 20_000);
  await vi.waitFor(async () => expect((await scrip.wallet(user)).paymentMethod).toMatchObject({ last4: '4242' }), 20_000);
});

it('buys when credits run low, and says so', async () => {
  const user = await buyer();
  expect(await scrip.readAutoTopUp(user)).toMatchObject({ enabled: false, state: 'off' });
  const armed = await scrip.setAutoTopUp({ ...user, ...rule() });
  expectTypeOf(armed).toEqualTypeOf<AutoTopUp>();
  expect(armed).toMatchObject({ enabled: true, state: 'armed', priceId: service.price, threshold: 10, quantity: 1, maxPerDay: 3, monthlyLimitCents: 100_000, consent: CONSENT });
  await spend(user);
  const { data } = await reported('top_up.succeeded', user);
  expect(data).toMatchObject({ ...user, credits: 1_000, balance: 1_005, productId: service.product, orderId: expect.stringMatching(/^ord_/) });
  const after = await scrip.readAutoTopUp(user);
  expect([after.chargedThisMonthCents, after.attemptsToday, after.currency]).toEqual([data.amountCents, 1, data.currency]);
  expect((await scrip.order(data.orderId)).status).toBe('paid');
  expect(await scrip.setAutoTopUp({ ...user, enabled: false })).toMatchObject({ enabled: false, state: 'off' });
});

it('tells of a card that declines, and when it is tried again', async () => {
  const user = await buyer(DECLINES);
  await scrip.setAutoTopUp({ ...user, ...rule() });
  await spend(user);
  const { data } = await reported('top_up.failed', user);
  expect(data).toMatchObject({ ...user, reason: 'insufficient_funds', retryable: true, nextAttemptAt: expect.any(String) });
  expect(await scrip.readAutoTopUp(user)).toMatchObject({ state: 'cooling_down', nextAttemptAt: data.nextAttemptAt });
});

it('tells of a card that can never be used again, and of a bank that asks for its customer', async () => {
  const lost = await buyer('4000000000009987');
  await scrip.setAutoTopUp({ ...lost, ...rule() });
  await spend(lost);
  expect((await reported('top_up.suspended', lost)).data.reason).toBe('card_unusable');
  expect(await scrip.readAutoTopUp(lost)).toMatchObject({ enabled: true, state: 'suspended', reason: 'card_unusable' });

  const asked = await buyer(ASKS);
  await scrip.setAutoTopUp({ ...asked, ...rule() });
  await spend(asked);
  const { data } = await reported('top_up.action_required', asked);
  expect(await scrip.readAutoTopUp(asked)).toMatchObject({ state: 'action_required', actionUrl: data.url });
});

it('needs a card, and consent', async () => {
  const user = { externalUserId: `ann-${randomUUID()}` };
  await scrip.ensureWallet(user.externalUserId);
  const refused = (input: AutoTopUpInput) => scrip.setAutoTopUp({ ...user, ...input }).then(() => expect.fail('not refused'), (error: unknown) => error);
  expect(isScripError(await refused(rule()), 'payment_method_required')).toBe(true);
  expect(await refused(rule({ consent: { text: '' } }))).toMatchObject({ status: 400 });
  expect(isScripError(await refused(rule({ priceId: 'price_none' })), 'price_not_found')).toBe(true);
  // @ts-expect-error: what was agreed to?
  void (() => scrip.setAutoTopUp({ ...user, enabled: true, priceId: 'price_1', threshold: 1, monthlyLimitCents: 1 }));
});

it('says where mails go', async () => {
  const user = { externalUserId: `ann-${randomUUID()}` };
  await scrip.ensureWallet(user.externalUserId);
  expect(await scrip.updateWallet({ ...user, email: 'ann@mail.example' })).toMatchObject({ ...user, email: 'ann@mail.example' });
  expect((await scrip.wallet(user)).email).toBe('ann@mail.example');
  await scrip.updateWallet({ ...user, email: null });
  expect((await scrip.wallet(user)).email ?? null).toBeNull();
});
