// What calls of the server client take and give, beside what it shares with the browser's.
import type { ErrorBody, Loose, ScripError, components, queries } from '@scrip/core';

type Schemas = components['schemas'];

/** A wallet of one of your own users, or the one that a recovery code opens. */
export type Who = { externalUserId: string; code?: null } | { code: string; externalUserId?: null };

/** What only one kind of wallet may leave out: a code wallet's product has to be named. */
type For<External, Code> = (External & { code?: null }) | (Code & { code: string; externalUserId?: null });

export type DeductInput = For<Loose<Schemas['DeductExternal'], 'idempotencyKey'>, Loose<Schemas['DeductByCode'], 'idempotencyKey'>>;
export type HoldInput = For<Loose<Schemas['PlaceHoldExternal'], 'idempotencyKey'>, Loose<Schemas['PlaceHold'], 'idempotencyKey'>>;
export type SettleInput = Schemas['SettleHold'];
export type ExtendInput = Schemas['ExtendHold'];
/** Its key is yours to choose: a grant that is made twice for want of one is money given away. */
export type CreditInput = Schemas['Credit'];
export type Credit = Schemas['Credited'];
export type BatchItem = Schemas['Deduct'];
/** What came of an item: a deduction or its refusal. */
export type BatchResult = (Schemas['Deducted'] & { error?: undefined }) | { error: ScripError; balance?: undefined; deducted?: undefined };
export type BatchAnswer = { results: (Schemas['Deducted'] | { error: ErrorBody })[] };
export type FeatureInput = Who & { feature: string };
export type CheckoutInput = Schemas['Checkout'];
export type RefundInput = Schemas['RefundOrder'];
export type CancelInput = Schemas['CancelSubscription'];
export type ResumeInput = Schemas['ResumeSubscription'];
export type PortalInput = Who & { returnUrl: string };
export type UsageQuery = queries['read_usage'];
export type Bucket = Schemas['Bucket'];

/** Something that happened. `data` has an `order` where it was an order's, else a `walletId`. */
export type ScripEvent = Schemas['Event'];

export type EventFilter = Omit<queries['list_events'], 'after' | 'types'> & {
  /** Only what happened after this event. Left out: from the oldest that is kept, 30 days. */
  after?: string | null;
  /** Only these kinds: `order.paid`, say. */
  types?: readonly string[];
};
