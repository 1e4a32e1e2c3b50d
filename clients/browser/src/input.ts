// What calls of the browser client take.
import type { CallOptions, Loose, components } from '@scrip/core';

type Schemas = components['schemas'];

/** A key is made where none is given; it is on the error of a call that failed. */
export type DeductInput = Loose<Schemas['DeductByCode'], 'idempotencyKey'>;
/** As for a deduction; `productId` may be left out where the project has one product with a credit unit. */
export type HoldInput = Loose<Schemas['PlaceHold'], 'idempotencyKey'>;
export type SettleInput = Schemas['SettleHold'];
export type ExtendInput = Schemas['ExtendHold'];
export type CheckoutInput = Omit<Schemas['Checkout'], 'code' | 'externalUserId'> & {
  /** The wallet to fill. Left out: the stored one, if there is one. Null: a new one. */
  code?: string | null | undefined;
};
export interface PortalInput {
  /** Where the portal's way back leads. Default: this page. */
  returnUrl?: string | undefined;
}
export interface RotateInput {
  idempotencyKey?: string | undefined;
}
export interface WaitOptions extends CallOptions {
  /** How long to wait for the order, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined;
}
