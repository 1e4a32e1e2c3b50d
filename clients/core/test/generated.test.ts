import { readFile } from 'node:fs/promises';
import { expect, expectTypeOf, it } from 'vitest';
import { generate } from '../generate.mjs';
import type { ErrorCode, Order, Price, ServiceErrorCode, components } from '../src/index.js';

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
