// What the components of a page share about one client: its wallet, prices and ledgers, each read once. It asks
// the service only for what is shown, and makes no wallet by itself.
import { isScripError, type Holdings, type OpenWallet, type Order, type Product, type Scrip } from '@scrip-wallet/browser';
import { Ledger, type LedgerFilter } from './ledger';
import { Resource } from './resource';

/** Changes close together are followed by one reading. */
const GATHER_MS = 150;
/** A page that is looked at again shows what is at most this old. */
const FRESH_MS = 10_000;
/** What the client puts into the address that a buyer comes back to. */
const RETURNED = 'scrip_checkout';
/** The same after entering a card. */
const CARD = 'scrip_card';
/** So long after that the card may still be on its way. */
const CARD_MS = 30_000;

const stores = new WeakMap<Scrip, ScripStore>();

/** What was known before anything was asked. */
export interface Initial {
  readonly products?: readonly Product[];
  readonly wallet?: OpenWallet | null;
}

export class ScripStore {
  readonly client: Scrip;
  readonly wallet: Resource<OpenWallet | null>;
  /** A stored code that no longer works. */
  readonly lostCode: Resource<string | null>;
  readonly products: Resource<readonly Product[]>;
  /** The order that a buyer came back from; null where there is none. */
  readonly returned: Resource<Order | null>;
  /** Whether a card that was just entered is being waited for. */
  readonly cardComing: Resource<boolean>;
  readonly #ledgers = new Map<string, Ledger>();
  #cardUntil = 0;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #connections = 0;
  #completing = false;
  #disconnect: (() => void) | undefined;

  /** The one of this client. */
  static of(client: Scrip, initial: Initial = {}): ScripStore {
    // A server renders for many: what one of them has is never another's.
    if (typeof window === 'undefined') return new ScripStore(client, initial);
    let store = stores.get(client);
    if (!store) stores.set(client, (store = new ScripStore(client, initial)));
    return store;
  }

  private constructor(client: Scrip, initial: Initial) {
    this.client = client;
    this.wallet = new Resource<OpenWallet | null>(async () => {
      const wallet = await client.wallet().catch(withoutWallet);
      const lost = await client.lostCode();
      this.lostCode.put(() => lost);
      return wallet;
    }, initial.wallet);
    this.lostCode = new Resource<string | null>(() => client.lostCode());
    this.products = new Resource<readonly Product[]>(() => client.products(), initial.products);
    this.returned = new Resource<Order | null>(async (before) => {
      const back = this.#completing || isBack();
      // A buyer who left a checkout, or has it open in another tab: one look, and a notice only if it was paid or failed.
      let order = await client.completeCheckout({ timeoutMs: 0 }).catch(withoutWallet);
      const waits = order && (order.status === 'pending' || order.processing);
      if (back && waits) {
        this.returned.preview(order);
        order = await client.completeCheckout();
      }
      // Where nothing is kept the address is all that a reload has.
      if (back && client.isCodeKept) forgetReturn();
      // The thanks and what they are for are seen together.
      if (order?.status === 'paid') await this.wallet.refresh();
      const isShown = back || order?.processing || order?.status === 'paid' || order?.status === 'failed';
      return (isShown ? order : null) ?? before ?? null;
    });
    this.cardComing = new Resource<boolean>(async () => {
      if (!isBack(CARD)) return false;
      window.history.replaceState(window.history.state, '', withoutReturn(window.location.href, CARD));
      this.#cardUntil = Date.now() + CARD_MS;
      this.cardComing.preview(true);
      const card = () => JSON.stringify(this.wallet.snapshot().data?.paymentMethod ?? null);
      await this.wallet.refresh();
      // The very same card may have been entered, and nobody knows whether any was.
      const before = card();
      for (let waitMs = 500; card() === before && this.mayCardCome; waitMs *= 1.5) {
        await pause(waitMs);
        await this.wallet.refresh();
      }
      return false;
    });
  }

  /** Whether the service may not know yet of a card that was just entered. */
  get mayCardCome(): boolean {
    return Date.now() < this.#cardUntil;
  }

  /** For success pages of one's own, whose address does not say it. */
  complete(): Promise<void> {
    this.#completing = true;
    return this.returned.refresh();
  }

  /** The same for an order that was paid in a window of its own. */
  async arrived(order: Order): Promise<Order> {
    await this.wallet.refresh();
    this.returned.put(() => order);
    return order;
  }

  ledger(filter: LedgerFilter): Ledger {
    const name = JSON.stringify([filter.productId, filter.reason, filter.limit]);
    let ledger = this.#ledgers.get(name);
    if (!ledger) this.#ledgers.set(name, (ledger = new Ledger(this.client, filter)));
    return ledger;
  }

  /** Follows what changes, for as long as any provider is on the page. */
  connect(): () => void {
    if (this.#connections++ === 0) this.#disconnect = this.#listen();
    return () => {
      if (--this.#connections === 0) this.#disconnect?.();
    };
  }

  /** Shows what a deduction left at once, before the wallet is read again. */
  spent(productId: string, balance: number): void {
    this.wallet.put(
      (wallet) =>
        wallet && {
          ...wallet,
          balances: wallet.balances.map((held) => (held.productId === productId ? { ...held, balance } : held)),
        },
    );
  }

  #listen(): () => void {
    const unsubscribe = this.client.subscribe(() => this.#changed());
    const leave = this.client.bySession ? this.client.live((holdings) => this.#hold(holdings)) : () => undefined;
    const seen = () => {
      if (document.visibilityState !== 'hidden') this.wallet.revalidate(FRESH_MS);
    };
    document.addEventListener('visibilitychange', seen);
    window.addEventListener('focus', seen);
    window.addEventListener('pageshow', seen);
    this.returned.ensure();
    this.cardComing.ensure();
    return () => {
      leave();
      unsubscribe();
      clearTimeout(this.#gathering);
      this.#gathering = undefined;
      document.removeEventListener('visibilitychange', seen);
      window.removeEventListener('focus', seen);
      window.removeEventListener('pageshow', seen);
    };
  }

  /** Takes over what the live stream says of the wallet. */
  #hold(holdings: Holdings): void {
    const before = this.wallet.snapshot().data;
    if (!before) return;
    const { balances, features, subscriptions } = before;
    if (JSON.stringify([balances, features, subscriptions]) === JSON.stringify([holdings.balances, holdings.features, holdings.subscriptions])) return;
    this.wallet.put((wallet) => wallet && { ...wallet, ...holdings });
    for (const { pages } of this.#ledgers.values()) pages.invalidate();
  }

  #changed(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.wallet.invalidate();
      for (const { pages } of this.#ledgers.values()) pages.invalidate();
    }, GATHER_MS);
  }
}

/** Without a signed-in user there is no wallet, which is no error. */
function withoutWallet(error: unknown): null {
  if (isScripError(error, 'no_wallet')) return null;
  throw error;
}

/** Whether the address says that the buyer just came back from paying. */
function isBack(from = RETURNED): boolean {
  return new URL(window.location.href).searchParams.has(from);
}

/** A reload must not thank again. */
function forgetReturn(): void {
  if (isBack()) window.history.replaceState(window.history.state, '', withoutReturn(window.location.href));
}

/** The address as it was before. */
export function withoutReturn(address: string, from = RETURNED): string {
  const url = new URL(address);
  url.searchParams.delete(from);
  return url.href;
}

/** Where a buyer comes back to who enters a card. */
export function afterCard(address: string): string {
  const url = new URL(withoutReturn(address));
  url.searchParams.set(CARD, '1');
  return url.href;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
