// What happened, by its type: the document of the API says of `data` only that it is one thing or another.
import type { components } from './api.generated.js';
import type { Balance, Limit, Order, Reason, Subscription } from './types.js';

type Schemas = components['schemas'];

interface Whose {
  walletId: string;
  /** Your own user, for a user's wallet; otherwise null. */
  externalUserId: string | null;
}
interface Ordered {
  /** As a secret key read it then. */
  order: Order;
}
interface Disputed extends Ordered {
  dispute: Schemas['Dispute'];
}
interface Subscribed extends Whose {
  subscription: Omit<Subscription, 'cancelAtPeriodEnd' | 'collectionPaused'> & Schemas['Subscription'];
}
interface Low extends Whose {
  /** Whose credits they are. */
  productId: string;
  /** What could be spent then. */
  balance: Balance['balance'];
}
interface Credited extends Low {
  /** What came. */
  delta: number;
  reason: Reason;
  /** The order behind them. */
  orderId?: string | null;
}
interface Owing extends Low {
  /** What the wallet owed then: from nothing to this, or down to nothing. */
  owed: number;
}
interface Frozen extends Whose {
  /** Why, if a reason was given. */
  frozenReason?: string | null;
}
interface Limited extends Whose {
  /** With what its window counted then. */
  limit: Limit;
  /** Whose use it was, if it was a member's. */
  member?: string;
}
interface ToppedUp extends Low {
  orderId: string;
  amountCents: number;
  currency: string;
  /** What came. */
  credits: number;
}
interface TopUpFailed extends Whose {
  orderId: string;
  /** Why, in the provider's word. */
  reason: string;
  /** Whether the card is tried again. */
  retryable: boolean;
  nextAttemptAt?: string | null;
}
interface TopUpSuspended extends Whose {
  reason: string;
}
interface TopUpWaits extends Whose {
  orderId: string;
  /** Where the buyer confirms the payment. */
  url: string;
}
interface FeaturesChanged extends Whose {
  /** All that the wallet unlocks after it; left out where that is more than 12 KiB. */
  features?: string[];
  added: string[];
  removed: string[];
}

/** What an event of a type says. */
export interface EventData {
  'order.paid': Ordered;
  'order.failed': Ordered;
  'order.expired': Ordered;
  'order.refunded': Ordered;
  'order.disputed': Disputed;
  'order.dispute_closed': Disputed;
  'subscription.started': Subscribed;
  'subscription.renewed': Subscribed;
  'subscription.updated': Subscribed;
  'subscription.past_due': Subscribed;
  'subscription.canceled': Subscribed;
  'wallet.created': Whose;
  'wallet.credited': Credited;
  'wallet.balance_low': Low;
  'wallet.depleted': Low;
  'wallet.owing': Owing;
  'wallet.repaid': Owing;
  'wallet.frozen': Frozen;
  'wallet.thawed': Whose;
  'limit.alert': Limited & { percent: number };
  'limit.reached': Limited;
  'top_up.succeeded': ToppedUp;
  'top_up.failed': TopUpFailed;
  'top_up.suspended': TopUpSuspended;
  'top_up.action_required': TopUpWaits;
  'features.changed': FeaturesChanged;
}

export type EventType = keyof EventData;

/** Something that happened. Its content was fixed then: it is the same whenever and however it is read. */
export type ScripEventOf<T extends EventType> = Omit<Schemas['Event'], 'type' | 'data'> & { type: T; data: EventData[T] };

/** An event; its `type` tells what `data` has. New types may come: ignore those that you do not know. */
export type ScripEvent = { [T in EventType]: ScripEventOf<T> }[EventType];
