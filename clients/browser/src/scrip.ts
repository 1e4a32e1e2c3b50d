import {
  Http, MAX_PAGE, ScripError, entries, isScripError, keyed, newKey, segment, unlessAborted, whole,
  wholeSubscription,
} from '@scrip-wallet/core';
import type {
  AutoTopUp, AutoTopUpInput, Bucket, Call, CallOptions, Checkout, Deduction, Estimate, Hold, Holdings, Identity, LedgerEntry, LedgerFilter, Limit, LimitsQuery, Order, Page,
  PlacedHold, Portal, Product, RateCard, Released, Subscription, UsageQuery, Wallet, components,
} from '@scrip-wallet/core';
import { StoredCode } from './code.js';
import type {
  CheckoutInput,
  DeductInput,
  EstimateInput,
  ExtendInput,
  HoldInput,
  OpenWallet,
  PaymentMethodInput,
  PopupOptions,
  PortalInput,
  RotateInput,
  ScripOptions,
  SettleInput,
  SubscriptionInput,
  WaitOptions,
} from './input.js';
import type { Buying } from './buying.js';
import { LazySessions, buying, signedIn } from './lazily.js';
import { Listeners } from './listeners.js';
import { here, mark, onlyOneTab, openWindow } from './page.js';
import { Kept, browserStorage, parse } from './storage.js';

type Schemas = components['schemas'];

/** Credits of one visitor: addressed by a recovery code that is kept for them, or by a session. */
export class Scrip {
  /** Whether a session opens the wallet, and not a code. */
  readonly bySession: boolean;
  readonly #http: Http;
  readonly #name: string;
  readonly #code: StoredCode;
  /** A checkout that the buyer was sent to. */
  readonly #leaving: Kept;
  /** A rotation whose answer has not arrived: its key, without which the wallet would be lost. */
  readonly #rotation: Kept;
  readonly #listeners: Listeners;
  readonly #sessions: LazySessions | undefined;
  #making: Promise<Wallet> | undefined;

  constructor(options: ScripOptions) {
    const { baseUrl, storage, session, publishableKey: key = '' } = options;
    if (key && !/^pay_pk_\w+$/.test(key))
      throw new ScripError('invalid_options', 'Not a publishable key (pay_pk_…).');
    this.bySession = session !== undefined;
    this.#sessions = session === undefined ? undefined : new LazySessions(session);
    this.#http = new Http(options, this.#sessions ?? key);
    // By address, not by key: a key that is replaced must not cost visitors their credits.
    this.#name = `scrip:${baseUrl.replace(/\/+$/, '')}`;
    this.#listeners = new Listeners(this.#name);
    this.#code = new StoredCode(storage ?? browserStorage(this.#name), this.#name);
    const own = `${this.#name}:${this.bySession ? 'session' : key}`;
    this.#leaving = new Kept(browserStorage(`${own}:checkout`));
    this.#rotation = new Kept(browserStorage(`${own}:rotation`));
  }

  /** What the key is, and of which project. */
  async me(options?: CallOptions): Promise<Identity> {
    return this.#http.call('GET', '/me', options);
  }

  /** What is for sale. */
  async products(options?: CallOptions): Promise<Product[]> {
    return (await this.#http.call<{ products: Product[] }>('GET', '/products', options)).products;
  }

  /** What things cost. */
  async rateCards(options?: CallOptions): Promise<RateCard[]> {
    return (await this.#http.call<{ rateCards: RateCard[] }>('GET', '/rate-cards', options)).rateCards;
  }

  /** What a use would cost by a rate card, and where a wallet is open whether it has enough. Charges nothing. */
  async estimate(input: EstimateInput, options?: CallOptions): Promise<Estimate> {
    return this.#ifStored((wallet) => this.#http.call('POST', '/estimate', { ...options, body: { ...input, ...wallet }, repeatable: true }));
  }

  /** The stored recovery code; null where there is none, or it no longer works. */
  async code(): Promise<string | null> {
    return this.bySession ? null : this.#code.get();
  }

  /** A stored code that opened nothing, as after it was replaced elsewhere. `useCode` tries it again. */
  async lostCode(): Promise<string | null> {
    return this.bySession ? null : this.#code.lost();
  }

  /** Forgets that code, and no other. */
  async forgetLostCode(): Promise<void> {
    await this.#code.forgetLost();
    this.#listeners.changed();
  }

  /** Whether the code outlives this page: not where a browser keeps nothing. */
  get isCodeKept(): boolean {
    return this.#code.lasts;
  }

  /** Opens the wallet of a code and keeps the code from then on, in place of the one before. */
  async useCode(code: string, options?: CallOptions): Promise<Wallet> {
    this.#needsCode();
    const wallet = await this.#http.call<Schemas['CodeWallet']>('GET', `/wallets/${segment(code, 'code')}`, options);
    await this.#keep(wallet.code);
    return whole(wallet);
  }

  /** Forgets the stored code. The wallet stays, but cannot be opened without its code. */
  async forget(): Promise<void> {
    await this.#keep(null);
  }

  /** Makes a new wallet and keeps its code, in place of the one before. */
  async createWallet(options?: CallOptions): Promise<Wallet> {
    this.#needsCode();
    const wallet = await this.#http.call<Schemas['CodeWallet']>('POST', '/wallets', options);
    await this.#keep(wallet.code);
    return whole(wallet);
  }

  /** The wallet that is open here; null where none is, or the stored code no longer works. */
  async wallet(options?: CallOptions): Promise<OpenWallet | null> {
    if (this.bySession) return whole(await this.#atWallet('', (path) => this.#http.call<Schemas['ExternalWallet']>('GET', path, options)));
    const code = await this.#code.get();
    return code === null ? null : this.#ofCode(code, options);
  }

  async #ofCode(code: string, options?: CallOptions): Promise<Wallet | null> {
    try {
      return whole(await this.#code.ask(code, (path) => this.#http.call<Schemas['CodeWallet']>('GET', path, options)));
    } catch (error) {
      // Replaced, but the answer with the new code never arrived: it can still be asked for.
      const key = await this.#pendingRotation(code);
      if (key && isScripError(error, 'wallet_not_found')) return this.useCode(await this.#rotate(code, key, options), options);
      if ((await this.#code.get()) === null) return null;
      throw error;
    }
  }

  /** The stored code's wallet, or a new one. However many ask at once, in however many tabs: one wallet. */
  async ensureWallet(options: CallOptions = {}): Promise<Wallet> {
    this.#needsCode();
    const { signal, ...rest } = options;
    // For the callers that still wait: one of them may go away.
    this.#making ??= onlyOneTab(this.#name, async () => {
      const code = await this.#code.get();
      return (code !== null && (await this.#ofCode(code, rest))) || this.createWallet(rest);
    }).finally(() => {
      this.#making = undefined;
    });
    return unlessAborted(this.#making, signal);
  }

  /** Tells what the wallet holds, now and whenever that changes, while the page can be seen. Call what it returns to stop. */
  live(listener: (holdings: Holdings) => void): () => void {
    const stop = new AbortController();
    const open = (last: string | undefined, signal: AbortSignal) => {
      const headers = { accept: 'text/event-stream', ...(last && { 'last-event-id': last }) };
      return this.#atWallet('/stream', (path) => this.#http.call<ReadableStream<Uint8Array>>('GET', path, { headers, signal, stream: true }));
    };
    const tell = (data: unknown) => listener(whole(data as Holdings));
    void signedIn().then(({ listen }) => listen(open, tell, stop.signal), () => undefined);
    return () => stop.abort();
  }

  /** Takes credits from the wallet, once for each key. */
  async deduct(input: DeductInput, options?: CallOptions): Promise<Deduction> {
    const isOwn = input.idempotencyKey == null;
    const body = keyed(input, 'productId amount member meta onShortfall');
    const answer = await this.#spend<Deduction>('deduct', body, options);
    // A repeat under a key made here is this call's, whose first answer was lost.
    return isOwn ? { ...answer, deducted: true } : answer;
  }

  /** Sets credits aside for work whose cost is known only afterwards. */
  async hold(input: HoldInput, options?: CallOptions): Promise<PlacedHold> {
    return this.#spend('holds', keyed(input, 'productId amount member meta expiresInSeconds'), options);
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
    return this.#close(holdId, 'release', options);
  }

  /** Keeps it open for so long from now. */
  async extend(holdId: string, input: ExtendInput, options?: CallOptions): Promise<Hold> {
    return this.#close(holdId, 'extend', { ...options, body: input });
  }

  /** A page of the wallet's ledger, newest first. */
  async ledger(filter: LedgerFilter = {}, options?: CallOptions): Promise<Page<LedgerEntry>> {
    const page = await this.#atWallet('/ledger', (path) =>
      this.#http.call<{ entries: LedgerEntry[]; nextCursor?: string | null }>('GET', path, { ...options, query: filter }),
    );
    return { items: page.entries, nextCursor: page.nextCursor ?? null };
  }

  /** All of the wallet's ledger, newest first, read as it is asked for. */
  ledgerEntries(filter: LedgerFilter = {}, options?: CallOptions): AsyncIterableIterator<LedgerEntry> {
    return entries((cursor) => this.ledger({ ...MAX_PAGE, ...filter, cursor: cursor ?? null }, options), filter.cursor);
  }

  /** The limits of what may be used, with what is used, held and left of each; those about each member count the one that is named. */
  async limits(query: LimitsQuery = {}, options?: CallOptions): Promise<Limit[]> {
    return (await this.#atWallet('/limits', (path) => this.#http.call<{ limits: Limit[] }>('GET', path, { ...options, query }))).limits;
  }

  /** What was granted and used, hour by hour, by days or months of UTC, oldest first. With a session. */
  async usage(query: Omit<UsageQuery, 'externalUserId'> = {}, options?: CallOptions): Promise<Bucket[]> {
    return (await this.#http.call<{ buckets: Bucket[] }>('GET', '/usage', { ...options, query })).buckets;
  }

  /** Opens a checkout. Where to send the buyer is in `url`. */
  async checkout(input: CheckoutInput, options?: CallOptions): Promise<Checkout> {
    const { code, ...rest } = keyed(input);
    const buy = (wallet: { code?: string }) => this.#http.call<Checkout>('POST', '/checkout', { ...options, body: { ...rest, ...wallet } });
    // A stored code that no longer works does not stop a purchase: the payment makes a wallet.
    return code === undefined ? this.#ifStored(buy) : buy(code ? { code: code.trim() } : {});
  }

  /**
   * Sends the buyer to a checkout. They come back to this page, unless other addresses are given; there,
   * `completeCheckout` does the rest.
   */
  async redirectToCheckout(input: CheckoutInput, options?: CallOptions): Promise<never> {
    return (await this.#buying()).redirect(input, options);
  }

  /**
   * Opens a checkout in a window of its own: call it in a click. Done once the order is settled, or its money is
   * on its way (`processing`) and the buyer closed the window.
   */
  async checkoutPopup(input: CheckoutInput, options: PopupOptions = {}): Promise<Order> {
    // Before anything is waited for: a browser lets a window open only in the click itself.
    const popup = openWindow(options.opening ?? 'Opening checkout…');
    try {
      return await (await this.#buying()).inWindow(popup, input, options);
    } finally {
      popup.close();
    }
  }

  async order(orderId: string, options?: CallOptions): Promise<Order> {
    return this.#http.call('GET', `/orders/${segment(orderId, 'order')}`, options);
  }

  /** The order, once it is no longer pending and no money is on its way. */
  async waitForOrder(orderId: string, options: WaitOptions = {}): Promise<Order> {
    const order = await (await this.#buying()).wait(orderId, options);
    this.#listeners.changed();
    return order;
  }

  /**
   * On the page that a buyer comes back to: waits for the order that `redirectToCheckout` remembered, or that the
   * address names where nothing could be remembered, and keeps the code that its payment made. It never replaces
   * another code: an order whose `code` differs from `code()` is for you to ask about, then `useCode`. Null where
   * no checkout is known; an order that is still pending is remembered for the next time.
   */
  async completeCheckout(options: WaitOptions = {}): Promise<Order | null> {
    return mark() === null && (await this.#leaving.get()) === null ? null : (await this.#buying()).complete(options);
  }

  /** The provider's pages where a customer sees invoices and changes subscriptions. */
  async portal(input: PortalInput = {}, options?: CallOptions): Promise<Portal> {
    const query = { ...input, returnUrl: input.returnUrl ?? here() };
    return this.#atWallet('/portal', (path) =>
      path.includes('external')
        ? this.#http.call<Portal>('POST', path, { ...options, body: query, repeatable: true })
        : this.#http.call<Portal>('GET', path, { ...options, query }),
    );
  }

  async redirectToPortal(input: PortalInput = {}, options?: CallOptions): Promise<never> {
    const { leaveFor } = await buying();
    return leaveFor((await this.portal(input, options)).url);
  }

  /** The provider's page where the user enters a card that may be charged without them. With a session, as are the next five. */
  async setUpPaymentMethod(input: PaymentMethodInput = {}, options?: CallOptions): Promise<Portal> {
    return this.#atWallet('/payment-method', (path) => this.#http.call('POST', path, { ...options, body: { ...input, returnUrl: input.returnUrl ?? here() }, repeatable: true }));
  }

  async redirectToPaymentMethod(input: PaymentMethodInput = {}, options?: CallOptions): Promise<never> {
    const { leaveFor } = await buying();
    return leaveFor((await this.setUpPaymentMethod(input, options)).url);
  }

  /** Forgets the card, at the provider too. Automatic top-up stops with it. */
  async removePaymentMethod(options?: CallOptions): Promise<void> {
    return this.#change('DELETE', '/payment-method', undefined, options);
  }

  /** What is bought when credits run low, and how that goes. */
  async readAutoTopUp(options?: CallOptions): Promise<AutoTopUp> {
    return this.#atWallet('/auto-top-up', (path) => this.#http.call('GET', path, options));
  }

  /** Has credits bought with the card when they run low, or no more: `{ enabled: false }`. */
  async setAutoTopUp(input: AutoTopUpInput, options?: CallOptions): Promise<AutoTopUp> {
    return this.#change('PUT', '/auto-top-up', input, options);
  }

  /** Ends a subscription with its period. With a session. */
  async cancelSubscription(input: SubscriptionInput, options?: CallOptions): Promise<Subscription> {
    return this.#subscription('cancel', input, options);
  }

  /** Lets a subscription go on that was to end with its period. With a session. */
  async resumeSubscription(input: SubscriptionInput, options?: CallOptions): Promise<Subscription> {
    return this.#subscription('resume', input, options);
  }

  /** Replaces the recovery code: who knows the old one can do nothing with it from then on. */
  async rotate(input: RotateInput = {}, options?: CallOptions): Promise<string> {
    const old = await this.#stored();
    const idempotencyKey = input.idempotencyKey ?? (await this.#pendingRotation(old)) ?? newKey();
    return this.#rotate(old, idempotencyKey, options);
  }

  async #rotate(old: string, idempotencyKey: string, options?: CallOptions): Promise<string> {
    await this.#rotation.set(JSON.stringify([old, idempotencyKey]));
    const { code } = await this.#http.call<{ code: string }>('POST', `/wallets/${segment(old, 'code')}/rotate`, { ...options, body: { idempotencyKey } });
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
    return this.#listeners.add(listener);
  }

  async #keep(code: string | null): Promise<void> {
    await this.#code.keep(code);
    this.#listeners.changed();
  }

  async #stored(): Promise<string> {
    this.#needsCode();
    const code = await this.#code.get();
    if (code === null) throw new ScripError('no_wallet', 'There is no wallet yet.');
    return code;
  }

  /** Asks with the stored code, and without one where it no longer works. */
  async #ifStored<T>(ask: (wallet: { code?: string }) => Promise<T>): Promise<T> {
    const code = await this.code();
    if (code === null) return ask({});
    try {
      return await this.#code.ask(code, () => ask({ code }));
    } catch (error) {
      if (!isScripError(error, 'wallet_not_found')) throw error;
      return ask({});
    }
  }

  #needsCode(): void {
    if (this.bySession) throw new ScripError('session_forbidden', 'With a session this is done on your server.');
  }

  /** Asks something of the wallet that is open here. */
  async #atWallet<T>(rest: string, ask: (path: string) => Promise<T>): Promise<T> {
    const at = (path: string) => ask(path + rest);
    return this.#sessions ? (await this.#sessions.get()).ask(at) : this.#code.ask(await this.#stored(), at);
  }

  async #spend<T>(verb: string, body: object, options?: CallOptions): Promise<T> {
    this.#needsCode();
    // One that was made for it may begin with free credits, or is refused with what would cover it.
    const code = (await this.#code.get()) ?? (await this.ensureWallet(options)).code;
    const answer = await this.#code.ask(code, (path) => this.#http.call<T>('POST', `${path}/${verb}`, { ...options, body }));
    this.#listeners.changed();
    return answer;
  }

  async #change<T>(method: 'PUT' | 'DELETE', rest: string, body: object | undefined, options?: CallOptions): Promise<T> {
    const answer = await this.#atWallet(rest, (path) => this.#http.call<T>(method, path, { ...options, body, repeatable: true }));
    this.#listeners.changed();
    return answer;
  }

  async #subscription(verb: string, input: SubscriptionInput, options?: CallOptions): Promise<Subscription> {
    const answer = await this.#http.call<Schemas['Subscription']>('POST', `/subscriptions/${verb}`, { ...options, body: keyed(input) });
    this.#listeners.changed();
    return wholeSubscription(answer);
  }

  // All three may be repeated: the service answers a repeat with the hold's present state.
  async #close<T>(holdId: string, verb: string, call?: Call): Promise<T> {
    const answer = await this.#http.call<T>('POST', `/holds/${segment(holdId, 'hold')}/${verb}`, { ...call, repeatable: true });
    this.#listeners.changed();
    return answer;
  }

  async #buying(): Promise<Buying> {
    const { Buying } = await buying();
    const arrived = async ({ status, code }: Order) => {
      if (status === 'paid' && code && !this.bySession && (await this.#code.get()) === null) await this.#keep(code);
      else this.#listeners.changed();
      return this.#code.lasts;
    };
    return new Buying({ checkout: (...given) => this.checkout(...given), order: (...given) => this.order(...given), arrived }, this.#leaving);
  }

  async #pendingRotation(code: string): Promise<string | undefined> {
    const [old, key] = parse<[string, string]>(await this.#rotation.get()) ?? [];
    return old === code ? key : undefined;
  }
}
