import { ScripError } from '@scrip/core';

/** A setting of the environment as a publishable key: throws `invalid_options` where it is none. */
export function publishableKey(value: string | undefined): `pay_pk_${string}` {
  if (value && /^pay_pk_\w+$/.test(value)) return value as `pay_pk_${string}`;
  throw new ScripError('invalid_options', 'Not a publishable key (pay_pk_…). A secret key never belongs in a browser.');
}
