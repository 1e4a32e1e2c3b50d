import type { components } from './api.generated.js';
import type { Holdings, Subscription } from './types.js';

type Schemas = components['schemas'];

type Whole<W> = W extends unknown ? Omit<W, keyof Holdings> & Holdings : never;

/** A subscription as it came, and what was left out because it is not so. */
export const wholeSubscription = (held: Schemas['Subscription']): Subscription => ({ cancelAtPeriodEnd: false, collectionPaused: false, ...held });

/** A wallet as it came, and what was left out because it is nothing. */
export const whole = <W extends Schemas['Holdings']>(wallet: W): Whole<W> =>
  ({
    ...wallet,
    balances: wallet.balances.map((balance) => ({ held: 0, owed: 0, ...balance })),
    subscriptions: wallet.subscriptions.map(wholeSubscription),
  }) as unknown as Whole<W>;
