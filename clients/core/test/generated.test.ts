import { readFile } from 'node:fs/promises';
import { expect, expectTypeOf, it } from 'vitest';
import { generate } from '../generate.mjs';
import type { DescribedEventType } from '../src/api.generated.js';
import type { ErrorCode, EventType, Order, Price, ScripEvent, ServiceErrorCode, components } from '../src/index.js';

it('are the types that the API describes today', async () => {
  const kept = await readFile(new URL('../src/api.generated.ts', import.meta.url), 'utf8');
  expect(kept === (await generate()), 'stale: npm run generate --prefix clients').toBe(true);
}, 30_000);

it('offer what is known and take what comes later', () => {
  expectTypeOf<'pending'>().toExtend<Order['status']>();
  expectTypeOf<string>().toExtend<Order['status']>();
  // Known values are still offered: they were found in the descriptions.
  expectTypeOf<Extract<Order['status'], 'paid'>>().toEqualTypeOf<'paid'>();
  expectTypeOf<Extract<Price['interval'], 'month'>>().toEqualTypeOf<'month'>();
  // What only goes in is exact.
  expectTypeOf<components['schemas']['FeatureAction']>().toEqualTypeOf<'grant' | 'revoke'>();
  expectTypeOf<'insufficient_credits' | 'already_refunded' | 'hold_closed'>().toExtend<ServiceErrorCode>();
  expectTypeOf<'network_error' | 'timeout' | 'aborted' | 'wallet_not_found'>().toExtend<ErrorCode>();
});

it('tell every type of event that the service describes, and what each says', () => {
  // None that is described is missing here.
  expectTypeOf<DescribedEventType>().toExtend<EventType>();
  const said = (event: ScripEvent): string => {
    switch (event.type) {
      case 'order.paid':
        return event.data.order.id;
      case 'order.disputed':
        return event.data.dispute.reason;
      case 'subscription.past_due':
        return event.data.subscription.openInvoice?.url ?? '';
      case 'wallet.credited':
        return `${event.data.externalUserId} ${event.data.delta}`;
      default:
        // @ts-expect-error: not every event has an order.
        return event.data.order;
    }
  };
  expect(said({ id: 'evt_1', type: 'wallet.credited', timestamp: '', recordedAt: '', data: { walletId: 'wal_1', externalUserId: 'ann', productId: 'prod_1', balance: 5, delta: 5, reason: 'manual' } })).toBe('ann 5');
});
