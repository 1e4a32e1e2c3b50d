import { ScripError } from '@scrip/core';

/** A setting of the environment as a secret key: throws `invalid_options` where it is none. */
export function secretKey(value: string | undefined): `pay_sk_${string}` {
  if (value?.startsWith('pay_sk_')) return value as `pay_sk_${string}`;
  throw new ScripError('invalid_options', value ? 'Not a secret key (pay_sk_…).' : 'No secret key is set.');
}
