// What TypeScript must not let through. Read by `npm run typecheck`; never run.
import { expectTypeOf } from 'vitest';
import { CheckoutButton, isScripError, LedgerTable, Paywall, ScripProvider, useDeduct, useWallet, type Deduction, type Price, type ScripError } from '../src';

export function Types() {
  const { deduct, error } = useDeduct({ productId: 'prod_1' });
  expectTypeOf(deduct({ amount: 1 })).toEqualTypeOf<Promise<Deduction | undefined>>();
  expectTypeOf(error).toEqualTypeOf<ScripError | undefined>();
  if (isScripError(error, 'insufficient_credits')) {
    expectTypeOf(error.shortfall).toEqualTypeOf<number>();
    expectTypeOf(error.prices).toEqualTypeOf<Price[]>();
  }
  // @ts-expect-error: credits are counted
  void deduct({ amount: '5' });
  // @ts-expect-error: how many?
  void deduct({});
  const { wallet } = useWallet();
  // @ts-expect-error: there may be none
  wallet.code;
  return (
    <>
      {/* As an environment has it, where nothing may be set. */}
      <ScripProvider baseUrl="https://pay.example" publishableKey={process.env['NO_SUCH_KEY']} />
      <ScripProvider baseUrl="https://pay.example" session="/api/scrip" />
      {/* @ts-expect-error: which price? */}
      <CheckoutButton />
      {/* @ts-expect-error: no such reason is asked for */}
      <LedgerTable reason="theft" />
      {/* @ts-expect-error: nothing is behind it */}
      <Paywall feature="editor" />
    </>
  );
}
