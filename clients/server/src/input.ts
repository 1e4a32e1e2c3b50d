// What calls of the server client take and give, beside what it shares with the browser's.
import type { Amount, AutoTopUpInput, Charge, Charging, Deduction, ErrorBody, EventType, ExternalWallet, Loose, Rated, ScripError, components, queries } from '@scrip-wallet/core';

type Schemas = components['schemas'];

/** A wallet of one of your own users, or the one that a recovery code opens. */
export type Who = { externalUserId: string; code?: null } | { code: string; externalUserId?: null };

/** What only one kind of wallet may leave out: a code wallet's product has to be named. */
type For<External, Code> = (External & { code?: null }) | (Code & { code: string; externalUserId?: null });

/** Where the wallet has not enough: nothing is done, what there is is taken, or the rest becomes debt as far as it may. */
export type OnShortfall = 'refuse' | 'drain' | 'owe';

/** In place of its `amount` a rate card prices what was used. */
export type DeductInput = For<Charging<Spent>, ByCode<Spent>> & {
  onShortfall?: OnShortfall | undefined;
};
type Spent = Loose<Schemas['DeductExternal'], 'idempotencyKey'>;
/** A rate card names the product, too. */
type ByCode<T> = Omit<T, 'externalUserId' | 'productId' | keyof Charge> & ((Rated & { productId?: string | undefined }) | (Amount & { productId: string }));
export type HoldInput = Charging<For<Loose<Schemas['PlaceHoldExternal'], 'idempotencyKey'>, Loose<Schemas['PlaceHold'], 'idempotencyKey'>>> & {
  /** How much more than the hold the work may come to, as debt: only where the product or the user has a limit. */
  maxOverrun?: number | undefined;
};
export type SettleInput = Charging<Loose<Schemas['SettleHold'], 'meta'>> & { onShortfall?: OnShortfall | undefined };
export type DrawInput = Charging<Loose<Schemas['DrawHold'], 'idempotencyKey' | 'meta'>>;
/** What becomes of a settlement: `charged`, `owed` and `uncovered` are its amount together. */
export type Settled = Omit<Deduction, 'charged' | 'owed' | 'uncovered'> & { charged?: number; owed?: number; uncovered?: number };
/** What became of a draw. */
export type Drawn = Schemas['DrawnHold'];
export type ExtendInput = Schemas['ExtendHold'];
/** Its key is yours to choose: a grant that is made twice for want of one is money given away. */
export type CreditInput = Schemas['Credit'];
export type Credit = Schemas['Credited'];
export type ReverseDeductionInput = Schemas['ReverseDeductionRequest'];
/** What was given back of a deduction. */
export type Reversal = Schemas['Reversed'];
export type FreezeInput = (Who | { walletId: string; externalUserId?: null; code?: null }) & { frozen: boolean; reason?: string | undefined };
export type FrozenWallet = Schemas['FrozenWallet'];
export type BatchItem = Charging<Schemas['Deduct']>;
/** What came of an item: what was done, or its refusal. */
export type BatchResult<T = Schemas['Deducted']> = (T & { error?: undefined }) | ({ error: ScripError } & { [K in keyof T]?: undefined });
export type BatchAnswer<T> = { results: (T | { error: ErrorBody })[] };
export type HoldItem = Charging<Schemas['HoldItem']>;
/** Settles a hold, or with `keepOpen` draws from it. */
export type SettleItem = Charging<Schemas['SettleItem']>;
/** What a settlement of a batch came to; of a draw also what is `drawn` and `held`. */
export type Charged = Schemas['Deducted'] & Partial<Drawn>;
/** With a wallet the estimate says whether it has enough. */
export type EstimateInput = Rated & (Who | { externalUserId?: null; code?: null });
export type FeatureInput = Who & { feature: string };
/** A key is made where none is given: for 24 hours the same checkout is answered under it. */
export type CheckoutInput = Loose<Schemas['Checkout'], 'idempotencyKey'> & { idempotencyKey?: string | undefined };
export type RefundInput = Schemas['RefundOrder'];
export type CancelInput = Schemas['CancelSubscription'];
export type ResumeInput = Schemas['ResumeSubscription'];
export type PortalInput = Who & {
  returnUrl: string;
  /** The `id` of the subscription whose customer's portal it is. Default: the current one. */
  subscriptionId?: string | undefined;
};

/** One of your own users. */
export interface User {
  externalUserId: string;
}
export type SetUpPaymentMethodInput = Schemas['SetUpPaymentMethod'] & User;
export type SetAutoTopUpInput = User & AutoTopUpInput;
export type UpdateWalletInput = Schemas['UpdateWallet'];

/** A user's wallet; `walletId` is null where they have none yet. */
export type UserWallet = Omit<ExternalWallet, 'walletId'> & { walletId: string | null };

/** What a page may do with the wallet that it sees. */
export type SessionRight = 'read' | 'checkout' | 'portal' | 'subscriptions' | (string & {});

export type SessionInput = Who & {
  /** How long it lasts. Default an hour, at most a day. */
  expiresInSeconds?: number | undefined;
  /** Default: all of it. Credits it cannot take or give. */
  can?: readonly SessionRight[] | undefined;
};

export type EventFilter = Omit<queries['list_events'], 'after' | 'types'> & {
  /** Only what happened after this event. Left out: from the oldest that is kept, 30 days. */
  after?: string | null;
  /** Only these kinds: `order.paid`, say. */
  types?: readonly (EventType | (string & {}))[];
};
