import {
  Http,
  ScripError,
  entries,
  isScripError,
  newKey,
  segment,
  unlessAborted,
  type Call,
  type CallOptions,
  type Checkout,
  type Deduction,
  type Hold,
  type HttpOptions,
  type Identity,
  type LedgerEntry,
  type LedgerFilter,
  type Order,
  type Page,
  type PlacedHold,
  type Portal,
  type Product,
  type Released,
  type Wallet,
} from '@scrip/core';
import type { CheckoutInput, DeductInput, ExtendInput, HoldInput, PortalInput, RotateInput, SettleInput, WaitOptions } from './input.js';
import { here, leaveFor, needsPage, onlyOneTab, openWindow } from './page.js';
import { publishableKey } from './key.js';
import { settled, watch } from './orders.js';
import { Kept, browserStorage, type CodeStorage } from './storage.js';

export interface ScripOptions extends HttpOptions {
  /** A publishable key. A secret key is refused: whoever sees it can spend everybody's credits. */
  publishableKey: `pay_pk_${string}`;
  /** Where the recovery code is kept. Default: the browser's `localStorage`, a name for each `baseUrl`. */
  storage?: CodeStorage | undefined;
}

/** What has to outlive the page while a buyer is away. */
interface Leaving {
  orderId: string;
  /** Whether the address says that the buyer came back from paying. */
  marked: boolean;
}

const MARK = 'scrip_checkout';

/** Credits of one visitor, addressed by a recovery code that is kept for them. */
export class Scrip {
  readonly #http: Http;
  readonly #name: string;
  readonly #code: Kept;
  /** A checkout that the buyer was sent to. */
  readonly #leaving: Kept;
  /** A rotation whose answer has not arrived: its key, without which the wallet would be lost. */
  readonly #rotation: Kept;
  readonly #listeners = new Set<() => void>();
  #making: Promise<Wallet> | undefined;

  constructor(options: ScripOptions) {
    const { baseUrl, storage } = options;
    const key = publishableKey(options.publishableKey);
    this.#http = new Http(options, key);
    // By address, not by key: a key that is replaced must not cost visitors their credits.
    this.#name = `scrip:${baseUrl.replace(/\/+$/, '')}`;
    this.#code = new Kept(storage ?? browserStorage(this.#name));
    this.#leaving = new Kept(browserStorage(`${this.#name}:${key}:checkout`));
    this.#rotation = new Kept(browserStorage(`${this.#name}:${key}:rotation`));
  }

  /** What the key is, and of which project. */
  async me(options?: CallOptions): Promise<Identity> {
    return this.#http.call('GET', '/me', options);
  }

  /** What is for sale. */
  async products(options?: CallOptions): Promise<Product[]> {
    return (await this.#http.call<{ products: Product[] }>('GET', '/products', options)).products;
  }

  /** The stored recovery code. */
  async code(): Promise<string | null> {
    return this.#code.get();
  }

  /** Opens the wallet of a code and keeps the code from then on, in place of the one before. */
  async useCode(code: string, options?: CallOptions): Promise<Wallet> {
    const wallet = await this.#http.call<Wallet>('GET', `/wallets/${codeOf(code)}`, options);
    await this.#keep(wallet.code);
    return wallet;
  }

  /** Forgets the stored code. The wallet stays; without its code nobody can open it. */
  async forget(): Promise<void> {
    await this.#keep(null);
  }

  /** Makes a new wallet and keeps its code, in place of the one before. */
  async createWallet(options?: CallOptions): Promise<Wallet> {
    const wallet = await this.#http.call<Wallet>('POST', '/wallets', options);
    await this.#keep(wallet.code);
    return wallet;
  }

  /** The stored code's wallet; null where none is stored. */
  async wallet(options?: CallOptions): Promise<Wallet | null> {
    const code = await this.#code.get();
    if (code === null) return null;
    try {
      return await this.#http.call<Wallet>('GET', `/wallets/${codeOf(code)}`, options);
    } catch (error) {
      // Replaced, but the answer with the new code never arrived: it can still be asked for.
      if (!isScripError(error, 'wallet_not_found') || !(await this.#pendingRotation(code))) throw error;
      return this.useCode(await this.rotate({}, options), options);
    }
  }

  /** The stored code's wallet, or a new one. However many ask at once, in however many tabs: one wallet. */
  async ensureWallet(options: CallOptions = {}): Promise<Wallet> {
    const { signal, ...rest } = options;
    // For whoever still waits: one of them may go away.
    this.#making ??= onlyOneTab(this.#name, async () => (await this.wallet(rest)) ?? this.createWallet(rest)).finally(() => {
      this.#making = undefined;
    });
    return unlessAborted(this.#making, signal);
  }

  /** Takes credits from the wallet, once for each key. */
  async deduct(input: DeductInput, options?: CallOptions): Promise<Deduction> {
    return this.#spend('deduct', keyed(input), options);
  }

  /** Sets credits aside for work whose cost is known only afterwards. */
  async hold(input: HoldInput, options?: CallOptions): Promise<PlacedHold> {
    return this.#spend('holds', keyed(input), options);
  }

  async getHold(holdId: string, options?: CallOptions): Promise<Hold> {
    return this.#http.call('GET', `/holds/${segment(holdId, 'hold')}`, options);
  }

  /** Deducts what the work cost and gives back the rest. */
  async settle(holdId: string, input: SettleInput, options?: CallOptions): Promise<Deduction> {
    return this.#close(holdId, 'settle', { ...options, body: input });
  }

  /** Gives back all of it. */
  async release(holdId: string, options?: CallOptions): Promise<Released> {
    return this.#close(holdId, 'release', { ...options });
  }

  /** Keeps it open for so long from now. */
  async extend(holdId: string, input: ExtendInput, options?: CallOptions): Promise<Hold> {
    return this.#close(holdId, 'extend', { ...options, body: input });
  }

  /** A page of the wallet's ledger, newest first. */
  async ledger(filter: LedgerFilter = {}, options?: CallOptions): Promise<Page<LedgerEntry>> {
    const path = `/wallets/${await this.#stored()}/ledger`;
    const page = await this.#http.call<{ entries: LedgerEntry[]; nextCursor?: string | null }>('GET', path, { ...options, query: filter });
    return { items: page.entries, nextCursor: page.nextCursor ?? null };
  }

  /** All of the wallet's ledger, newest first, read as it is asked for. */
  ledgerEntries(filter: LedgerFilter = {}, options?: CallOptions): AsyncIterableIterator<LedgerEntry> {
    return entries((cursor) => this.ledger({ ...filter, cursor: cursor ?? null }, options), filter.cursor);
  }

  /** Opens a checkout. Where to send the buyer is in `url`. */
  async checkout(input: CheckoutInput, options?: CallOptions): Promise<Checkout> {
    const code = input.code === undefined ? await this.#code.get() : input.code;
    return this.#http.call('POST', '/checkout', { ...options, body: { ...input, code: code?.trim() } });
  }

  /**
   * Sends the buyer to a checkout. They come back to this page, unless other addresses are given; there,
   * `completeCheckout` does the rest.
   */
  async redirectToCheckout(input: CheckoutInput, options?: CallOptions): Promise<never> {
    needsPage();
    const page = here() ?? null;
    const marked = !input.successUrl && page !== null;
    const successUrl = marked ? withMark(page) : input.successUrl ?? null;
    const checkout = await this.checkout({ ...input, successUrl, cancelUrl: input.cancelUrl ?? page }, options);
    await this.#leave({ orderId: checkout.orderId, marked });
    return leaveFor(checkout.url);
  }

  /**
   * Opens a checkout in a window of its own: call it in a click. Done once the order is settled, or its money is
   * on its way (`processing`) and the buyer closed the window.
   */
  async checkoutPopup(input: CheckoutInput, options: CallOptions = {}): Promise<Order> {
    // Before anything is waited for: a browser lets a window open only in the click itself.
    const popup = openWindow();
    try {
      const checkout = await this.checkout(input, options);
      await this.#leave({ orderId: checkout.orderId, marked: false });
      popup.location.href = checkout.url;
      const order = await watch((id, call) => this.order(id, call), checkout.orderId, {
        signal: options.signal,
        timeoutMs: 86_400_000,
        closed: () => popup.closed,
      });
      if (settled(order)) await this.#arrive(order);
      // A bank debit takes days: the order stays remembered, and is no failure.
      else if (!order.processing) throw new ScripError('checkout_closed', 'The checkout was closed before anything was paid.');
      return order;
    } finally {
      popup.close();
    }
  }

  async order(orderId: string, options?: CallOptions): Promise<Order> {
    return this.#http.call('GET', `/orders/${segment(orderId, 'order')}`, options);
  }

  /** The order, once it is no longer pending and no money is on its way. */
  async waitForOrder(orderId: string, options: WaitOptions = {}): Promise<Order> {
    const order = await watch((id, call) => this.order(id, call), orderId, options);
    if (!settled(order)) throw new ScripError('timeout', 'The order is still pending.');
    this.#changed();
    return order;
  }

  /**
   * On the page that a buyer comes back to: waits for the order that `redirectToCheckout` remembered, and
   * keeps the code that its payment made. It never replaces another code: an order whose `code` differs
   * from `code()` is for you to ask about, then `useCode`. Null where no checkout is remembered; an order
   * that is still pending is remembered for the next time.
   */
  async completeCheckout(options: WaitOptions = {}): Promise<Order | null> {
    const left = parse<Leaving>(await this.#leaving.get());
    if (!left) return null;
    // Came back without paying, as the address tells: one look is enough.
    const cancelled = left.marked && !here()?.includes(`${MARK}=`);
    let order: Order;
    try {
      order = await watch((id, call) => this.order(id, call), left.orderId, cancelled ? { ...options, timeoutMs: 0 } : options);
    } catch (error) {
      // It is of another project, say, and will not be found the next time either.
      if (isScripError(error, 'order_not_found')) await this.#leaving.set(null);
      throw error;
    }
    if (settled(order)) await this.#arrive(order);
    return order;
  }

  /** The provider's pages where a customer sees invoices and changes subscriptions. */
  async portal(input: PortalInput = {}, options?: CallOptions): Promise<Portal> {
    const query = { returnUrl: input.returnUrl ?? here() };
    return this.#http.call('GET', `/wallets/${await this.#stored()}/portal`, { ...options, query });
  }

  async redirectToPortal(input: PortalInput = {}, options?: CallOptions): Promise<never> {
    needsPage();
    return leaveFor((await this.portal(input, options)).url);
  }

  /** Replaces the recovery code: who knows the old one can do nothing with it from then on. */
  async rotate(input: RotateInput = {}, options?: CallOptions): Promise<string> {
    const old = await this.#stored();
    const idempotencyKey = input.idempotencyKey ?? (await this.#pendingRotation(old)) ?? newKey();
    await this.#rotation.set(JSON.stringify([old, idempotencyKey]));
    const { code } = await this.#http.call<{ code: string }>('POST', `/wallets/${old}/rotate`, { ...options, body: { idempotencyKey } });
    await this.#keep(code);
    await this.#rotation.set(null);
    return code;
  }

  /** Has the codes of wallets that were paid for with this address mailed to it. Says nothing else. */
  async recover(email: string, options?: CallOptions): Promise<void> {
    await this.#http.call('POST', '/wallets/recover', { ...options, body: { email } });
  }

  /** Has the listener called whenever the wallet may have changed, in another tab too. Call what it returns to stop. */
  subscribe(listener: () => void): () => void {
    const other = ({ key }: StorageEvent) => (key === this.#name || key === null) && listener();
    const own = () => listener();
    this.#listeners.add(own);
    globalThis.window?.addEventListener?.('storage', other);
    return () => {
      this.#listeners.delete(own);
      globalThis.window?.removeEventListener?.('storage', other);
    };
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (error) {
        // What changed has changed: a listener's fault is not the call's.
        console.error(error);
      }
    }
  }

  async #keep(code: string | null): Promise<void> {
    await this.#code.set(code);
    this.#changed();
  }

  async #stored(): Promise<string> {
    const code = await this.#code.get();
    if (code === null) throw new ScripError('no_wallet', 'There is no wallet yet.');
    return codeOf(code);
  }

  async #spend<T>(verb: string, body: object, options?: CallOptions): Promise<T> {
    const answer = await this.#http.call<T>('POST', `/wallets/${await this.#stored()}/${verb}`, { ...options, body });
    this.#changed();
    return answer;
  }

  // All three may be repeated: the service answers a repeat with how the hold stands.
  async #close<T>(holdId: string, verb: string, call: Call): Promise<T> {
    const answer = await this.#http.call<T>('POST', `/holds/${segment(holdId, 'hold')}/${verb}`, { ...call, repeatable: true });
    this.#changed();
    return answer;
  }

  async #leave(left: Leaving): Promise<void> {
    await this.#leaving.set(JSON.stringify(left));
  }

  async #arrive(order: Order): Promise<void> {
    await this.#leaving.set(null);
    if (order.status === 'paid' && order.code && (await this.#code.get()) === null) await this.#keep(order.code);
    else this.#changed();
  }

  async #pendingRotation(code: string): Promise<string | undefined> {
    const [old, key] = parse<[string, string]>(await this.#rotation.get()) ?? [];
    return old === code ? key : undefined;
  }
}

const keyed = <T extends { idempotencyKey?: string | undefined }>(input: T) => ({ ...input, idempotencyKey: input.idempotencyKey ?? newKey() });

function codeOf(code: string): string {
  return segment(code, 'code');
}

function withMark(page: string): string {
  const url = new URL(page);
  url.searchParams.set(MARK, 'done');
  return url.href;
}

function parse<T>(text: string | null): T | undefined {
  try {
    return text ? (JSON.parse(text) as T) : undefined;
  } catch {
    return undefined;
  }
}
