import {
  Http,
  MAX_PAGE,
  ScripError,
  entries,
  isScripError,
  keyed,
  segment,
  statuses,
  whole,
  wholeSubscription,
  type AutoTopUp,
  type Bucket,
  type Call,
  type CallOptions,
  type Checkout,
  type Estimate,
  type ExternalWallet,
  type Hold,
  type HttpOptions,
  type Identity,
  type LedgerEntry,
  type LedgerFilter,
  type Limit,
  type LimitInput,
  type LimitsQuery,
  type Order,
  type OrderFilter,
  type Outcome,
  type Page,
  type PlacedHold,
  type Portal,
  type Product,
  type RateCard,
  type Released,
  type ScripEvent,
  type Session,
  type components,
  type Subscription,
  type UsageQuery,
  type Wallet,
} from '@scrip-wallet/core';
import { pollEvents, type PollOptions } from './events.js';
import { Gatherer, type Item } from './gather.js';
import type {
  BatchAnswer,
  BatchItem,
  BatchResult,
  CancelInput,
  Charged,
  CheckoutInput,
  Credit,
  CreditInput,
  DeductInput,
  DrawInput,
  Drawn,
  EstimateInput,
  EventFilter,
  ExtendInput,
  FeatureInput,
  FreezeInput,
  FrozenWallet,
  HoldInput,
  HoldItem,
  PortalInput,
  RefundInput,
  ResumeInput,
  Reversal,
  ReverseDeductionInput,
  SessionInput,
  SetAutoTopUpInput,
  SetUpPaymentMethodInput,
  SettleInput,
  SettleItem,
  Settled,
  UpdateWalletInput,
  User,
  UserWallet,
  Who,
} from './input.js';
import { formatted } from './usage-format.js';
import { withHold, type RunningHold, type WithHoldInput, type Worked } from './with-hold.js';

export interface ScripServerOptions extends HttpOptions {
  /** A secret key. It opens every wallet of the project: it never leaves the server. */
  secretKey: string | undefined;
  /** Whether deductions, grants, holds and charges of holds that are made while others are under way go together, as batches. Default true. */
  gather?: boolean | undefined;
}

type Schemas = components['schemas'];

/** All that a back end may do: with any wallet, order and subscription of its project. */
export class ScripServer {
  readonly #http: Http;
  readonly #gatherers: Gatherers | undefined;

  constructor(options: ScripServerOptions) {
    if ('window' in globalThis && 'document' in globalThis)
      throw new ScripError('invalid_options', '@scrip-wallet/server does not run in a browser, where everybody could read its key. Use @scrip-wallet/browser there.');
    const { secretKey = '' } = options;
    if (secretKey && !/^pay_[sr]k_\w+$/.test(secretKey)) throw new ScripError('invalid_options', 'Not a secret key (pay_sk_…) or a restricted one (pay_rk_…).');
    this.#http = new Http(options, secretKey);
    // With the defaults of every call.
    const { gather = true, timeoutMs = 15_000, retries = 3 } = options;
    if (!gather) return;
    // The gatherer counts attempts and time, for each call.
    const http = new Http({ ...options, retries: 0, timeoutMs: MAX_TIMEOUT_MS }, secretKey);
    const gathered = <A extends object>(name: string, single: (item: Item) => [string, object]) =>
      new Gatherer<A>(
        {
          single: (item, call) => {
            const [path, body] = single(item);
            return http.call<A>('POST', path, { ...call, body, repeatable: true });
          },
          batch: (items, signal) => each<A>(http, name, items, { signal }),
          ensureWallet: (user) => this.ensureWallet(user),
        },
        { timeoutMs, retries },
      );
    const spends = (verb: string) => ({ code, ...body }: Item): [string, object] => [`${walletPath({ ...body, code })}/${verb}`, body];
    this.#gatherers = {
      deductions: gathered('deductions', spends('deduct')),
      holds: gathered('holds', spends('holds')),
      grants: gathered('credit', (body) => ['/credit', body]),
      charges: gathered('settlements', ({ holdId, keepOpen, ...body }) => [`/holds/${segment(holdId ?? '', 'hold')}/${keepOpen ? 'draw' : 'settle'}`, body]),
    };
  }

  /** Waits for the answers of all calls that were gathered; those that are made after it go by themselves. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#gatherers ?? {}).map((each) => each.close()));
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

  async rateCard(slug: string, options?: CallOptions): Promise<RateCard> {
    // A full stop is a letter of these names.
    if (!/^[\w.-]*[\w-][\w.-]*$/.test(slug)) throw new ScripError('invalid_request', 'This is no rate card.', { param: 'rateCard' });
    return this.#http.call('GET', `/rate-cards/${slug}`, options);
  }

  /** What a use would cost by a rate card, in whole credits and exactly. Charges nothing. */
  async estimate(input: EstimateInput, options?: CallOptions): Promise<Estimate> {
    return this.#http.call('POST', '/estimate', { ...options, body: formatted(input), repeatable: true });
  }

  /** A user's wallet, empty where they have none yet; or the one that a code opens, `wallet_not_found` where there is none. */
  wallet(who: { externalUserId: string }, options?: CallOptions): Promise<UserWallet>;
  wallet(who: { code: string }, options?: CallOptions): Promise<Wallet>;
  wallet(who: Who, options?: CallOptions): Promise<UserWallet | Wallet>;
  async wallet(who: Who, options?: CallOptions): Promise<UserWallet | Wallet> {
    const { externalUserId } = who;
    try {
      const call = { ...options, query: userOf(who) };
      return whole(await this.#http.call<Schemas['ExternalWallet'] | Schemas['CodeWallet']>('GET', walletPath(who), call));
    } catch (error) {
      if (externalUserId == null || !isScripError(error, 'wallet_not_found')) throw error;
      return { externalUserId, walletId: null, balances: [], features: [], subscriptions: [] };
    }
  }

  /** Lets the browser of a user see their wallet, and buy for it, for a while; a user without one gets one. */
  async session(input: SessionInput, options?: CallOptions): Promise<Session> {
    return this.#http.call('POST', '/sessions', { ...options, body: input, repeatable: true });
  }

  /** Ends all sessions of a wallet at once. */
  async revokeSessions(who: Who, options?: CallOptions): Promise<void> {
    await this.#http.call('POST', '/sessions/revoke', { ...options, body: who, repeatable: true });
  }

  /** A user's wallet, made if there is none. */
  async ensureWallet(externalUserId: string, options?: CallOptions): Promise<ExternalWallet> {
    const call = { ...options, body: { externalUserId }, repeatable: true };
    return whole(await this.#http.call<Schemas['ExternalWallet']>('POST', '/wallets/external', call));
  }

  /** Says where mails about a user's wallet go. */
  async updateWallet(input: UpdateWalletInput, options?: CallOptions): Promise<ExternalWallet> {
    return whole(await this.#http.call<Schemas['ExternalWallet']>('PATCH', '/wallets/external', { ...options, body: input, repeatable: true }));
  }

  /** Creates a wallet that belongs to anyone who has its code. */
  async createWallet(options?: CallOptions): Promise<Wallet> {
    return whole(await this.#http.call<Schemas['CodeWallet']>('POST', '/wallets', options));
  }

  /** Replaces a recovery code that leaked. */
  async rotate(code: string, input: { idempotencyKey?: string } = {}, options?: CallOptions): Promise<string> {
    return (await this.#http.call<{ code: string }>('POST', `/wallets/${segment(code, 'code')}/rotate`, { ...options, body: keyed(input, ' ') })).code;
  }

  /** Has the codes of wallets that were paid for with this address mailed to it. Says nothing else. */
  async recover(email: string, options?: CallOptions): Promise<void> {
    await this.#http.call('POST', '/wallets/recover', { ...options, body: { email } });
  }

  /** Gives credits, once for each key. A user without a wallet gets one. */
  async credit(input: CreditInput, options?: CallOptions): Promise<Credit> {
    const grants = this.#gatherers?.grants;
    return grants?.isOpen ? grants.call(input, options) : this.#http.call('POST', '/credit', { ...options, body: input });
  }

  /** Takes credits, once for each key. Those that are made while others are under way go together: see `gather`. */
  async deduct(input: DeductInput, options?: CallOptions): Promise<Settled> {
    const deductions = this.#gatherers?.deductions;
    if (!deductions?.isOpen) return this.#once(input, (call) => this.#spend(input, 'deduct', 'onShortfall', { ...options, ...call }));
    const item = formatted(keyed(input, `${SPENT} onShortfall`)) as BatchItem;
    walletPath(item);
    const answer = await deductions.call(item, options);
    return input.idempotencyKey == null ? ownAnswer(answer) : answer;
  }

  /** Takes credits from up to 1,000 wallets; each item is applied or refused on its own. Users without a wallet get one. Results are in the items' order. */
  async deductBatch(items: readonly BatchItem[], options?: CallOptions): Promise<BatchResult[]> {
    return this.#batch<Schemas['Deducted']>('deductions', items, options);
  }

  /** Gives credits to up to 1,000 wallets, as `deductBatch` takes them. */
  async creditBatch(items: readonly CreditInput[], options?: CallOptions): Promise<BatchResult<Credit>[]> {
    return this.#batch<Credit>('credit', items, options);
  }

  /** Sets credits of up to 1,000 wallets aside, as `deductBatch` takes them. */
  async holdBatch(items: readonly HoldItem[], options?: CallOptions): Promise<BatchResult<PlacedHold>[]> {
    return this.#batch<PlacedHold>('holds', items, options);
  }

  /** Settles up to 1,000 holds, or draws from them, as `deductBatch` takes credits. */
  async settleBatch(items: readonly SettleItem[], options?: CallOptions): Promise<BatchResult<Charged>[]> {
    return this.#batch<Charged>('settlements', items, options);
  }

  /** Gives back what a deduction took, all of it or a part, to the lots that it came from; once for each key. */
  async reverseDeduction(ledgerId: string, input: ReverseDeductionInput, options?: CallOptions): Promise<Reversal> {
    return this.#http.call('POST', `/deductions/${segment(ledgerId, 'ledger')}/reverse`, { ...options, body: input });
  }

  /** Puts a wallet's credits out of reach, or lets them be used again. */
  async freeze(input: FreezeInput, options?: CallOptions): Promise<FrozenWallet> {
    return this.#http.call('POST', '/wallets/freeze', { ...options, body: input, repeatable: true });
  }

  /**
   * How much may be used of a wallet, in place of all limits that it had of its own: `{ scope: 'member:*', amount: 100,
   * window: 'month' }`. A user without a wallet gets one. Those that are in force, products' and tiers' included.
   */
  async setLimits(who: Who, limits: readonly LimitInput[], options?: CallOptions): Promise<Limit[]> {
    return this.#limits('PUT', who, { ...options, body: { ...userOf(who), limits }, repeatable: true });
  }

  /** The limits in force, with what is used, held and left of each. With a member, what those about each member count of theirs. */
  async limits(who: Who, query: LimitsQuery = {}, options?: CallOptions): Promise<Limit[]> {
    return this.#limits('GET', who, { ...options, query: { ...userOf(who), ...query } });
  }

  /** Sets credits aside for work whose cost is known only afterwards; see `withHold`. */
  async hold(input: HoldInput, options?: CallOptions): Promise<PlacedHold> {
    const holds = this.#gatherers?.holds;
    if (!holds?.isOpen) return this.#spend(input, 'holds', HOLD, options);
    const item = formatted(keyed(input, `${SPENT} ${HOLD}`)) as HoldItem;
    walletPath(item);
    return holds.call(item, options);
  }

  /** Charges a part of a hold, once for each key, and leaves it open. What is settled in the end counts draws in. */
  async draw(holdId: string, input: DrawInput, options?: CallOptions): Promise<Drawn> {
    const body = formatted(keyed(input, `${CHARGE} meta`));
    const charges = this.#gatherers?.charges;
    if (charges?.isOpen) {
      segment(holdId, 'hold');
      const answer = (await charges.call({ ...body, holdId, keepOpen: true } as SettleItem, options)) as Drawn;
      return input.idempotencyKey == null ? ownAnswer(answer) : answer;
    }
    return this.#once(input, (call) => this.#http.call('POST', `/holds/${segment(holdId, 'hold')}/draw`, { ...options, ...call, body }));
  }

  async getHold(holdId: string, options?: CallOptions): Promise<Hold> {
    return this.#http.call('GET', `/holds/${segment(holdId, 'hold')}`, options);
  }

  /** Deducts what the work cost and gives back the rest. */
  async settle(holdId: string, given: SettleInput, options?: CallOptions): Promise<Settled> {
    const input = formatted(given);
    const charges = this.#gatherers?.charges;
    if (!charges?.isOpen) return this.#close(holdId, 'settle', input, options);
    segment(holdId, 'hold');
    return (await charges.call({ ...input, holdId } as SettleItem, options)) as Settled;
  }

  /** Gives back all of it. */
  async release(holdId: string, options?: CallOptions): Promise<Released> {
    return this.#close(holdId, 'release', undefined, options);
  }

  /** Keeps it open for so long from now. */
  async extend(holdId: string, input: ExtendInput, options?: CallOptions): Promise<Hold> {
    return this.#close(holdId, 'extend', input, options);
  }

  /**
   * Does work against a hold: sets credits aside, runs the work, and settles for what it says it cost. Work
   * that throws costs nothing. Work that takes long keeps its hold open.
   */
  async withHold<T = void>(input: WithHoldInput, work: (hold: RunningHold) => Promise<Worked<T>>, options?: CallOptions): Promise<Outcome<T>> {
    const { signal, timeoutMs } = options ?? {};
    const { resume, onShortfall = 'drain', ...hold } = input;
    // One key for all requests of this call.
    const placing = keyed(hold, `${HOLD} ${SPENT}`);
    return withHold(
      {
        place: (idempotencyKey, expiresInSeconds, onHeaders) => {
          const asked = { ...placing, idempotencyKey, expiresInSeconds };
          return this.#spend(asked, 'holds', HOLD, { timeoutMs, onHeaders });
        },
        read: (id) => this.getHold(id, { timeoutMs }),
        draw: (id, input) => this.draw(id, input, { timeoutMs }),
        settle: (id, input) => this.settle(id, { ...input, onShortfall }, { timeoutMs }),
        release: (id) => this.release(id, { timeoutMs }),
        extend: (id, expiresInSeconds) => this.extend(id, { expiresInSeconds }, { timeoutMs }),
      },
      { ...placing, resume },
      input.idempotencyKey != null,
      work,
      signal,
    );
  }

  /** Unlocks a feature by hand. All that the wallet unlocks. */
  async grantFeature(input: FeatureInput, options?: CallOptions): Promise<string[]> {
    return this.#feature(input, 'grant', options);
  }

  /** Takes back what was granted by hand; what was bought stays. All that the wallet unlocks. */
  async revokeFeature(input: FeatureInput, options?: CallOptions): Promise<string[]> {
    return this.#feature(input, 'revoke', options);
  }

  /** Opens a checkout. Where to send the buyer is in `url`. */
  async checkout(input: CheckoutInput, options?: CallOptions): Promise<Checkout> {
    return this.#http.call('POST', '/checkout', { ...options, body: keyed(input) });
  }

  /** An order, by its own id or its checkout's. */
  async order(orderId: string, options?: CallOptions): Promise<Order> {
    return this.#http.call('GET', `/orders/${segment(orderId, 'order')}`, options);
  }

  /** A page of the project's orders, newest first. */
  async orders(filter: OrderFilter = {}, options?: CallOptions): Promise<Page<Order>> {
    const page = await this.#http.call<{ orders: Order[]; nextCursor?: string | null }>('GET', '/orders', { ...options, query: filter });
    return { items: page.orders, nextCursor: page.nextCursor ?? null };
  }

  /** All of the project's orders, newest first, read as they are asked for. */
  allOrders(filter: OrderFilter = {}, options?: CallOptions): AsyncIterableIterator<Order> {
    return entries((cursor) => this.orders({ ...MAX_PAGE, ...filter, cursor: cursor ?? null }, options), filter.cursor);
  }

  /** Gives money back, all or a part, once for each key. */
  async refund(orderId: string, input: RefundInput, options?: CallOptions): Promise<Order> {
    return this.#http.call('POST', `/orders/${segment(orderId, 'order')}/refund`, { ...options, body: input });
  }

  /** Ends a subscription, with its period unless it is to end at once. */
  async cancelSubscription(input: CancelInput, options?: CallOptions): Promise<Subscription> {
    return wholeSubscription(await this.#http.call('POST', '/subscriptions/cancel', { ...options, body: input }));
  }

  /** Lets a subscription go on that was to end with its period. */
  async resumeSubscription(input: ResumeInput, options?: CallOptions): Promise<Subscription> {
    return wholeSubscription(await this.#http.call('POST', '/subscriptions/resume', { ...options, body: input }));
  }

  /** The provider's pages where a customer sees invoices and changes subscriptions. */
  async portal(input: PortalInput, options?: CallOptions): Promise<Portal> {
    const { returnUrl, subscriptionId } = input;
    return input.code != null
      ? this.#http.call('GET', `${walletPath(input)}/portal`, { ...options, query: { returnUrl, subscriptionId } })
      : this.#http.call('POST', '/wallets/external/portal', { ...options, body: { ...userOf(input), returnUrl, subscriptionId }, repeatable: true });
  }

  /** Opens the provider's page where a user enters a card that may be charged without them. Where to send them is in `url`. */
  async setUpPaymentMethod(input: SetUpPaymentMethodInput, options?: CallOptions): Promise<Portal> {
    return this.#http.call('POST', '/wallets/external/payment-method', { ...options, body: input, repeatable: true });
  }

  /** Forgets a user's card, at the provider too. Automatic top-up stops with it. */
  async removePaymentMethod(user: User, options?: CallOptions): Promise<void> {
    await this.#http.call('DELETE', '/wallets/external/payment-method', { ...options, query: userOf(user), repeatable: true });
  }

  /** What is bought when a user's credits run low, and how that goes. */
  async readAutoTopUp(user: User, options?: CallOptions): Promise<AutoTopUp> {
    return this.#http.call('GET', '/wallets/external/auto-top-up', { ...options, query: userOf(user) });
  }

  /** Has credits bought with a user's card when they run low, or no more: `{ enabled: false }`. */
  async setAutoTopUp(input: SetAutoTopUpInput, options?: CallOptions): Promise<AutoTopUp> {
    return this.#http.call('PUT', '/wallets/external/auto-top-up', { ...options, body: input, repeatable: true });
  }

  /** A page of a wallet's ledger, newest first. */
  async ledger(who: Who, filter: LedgerFilter = {}, options?: CallOptions): Promise<Page<LedgerEntry>> {
    const query = { ...userOf(who), ...filter };
    try {
      const page = await this.#http.call<{ entries: LedgerEntry[]; nextCursor?: string | null }>('GET', `${walletPath(who)}/ledger`, { ...options, query });
      return { items: page.entries, nextCursor: page.nextCursor ?? null };
    } catch (error) {
      if (who.externalUserId == null || !isScripError(error, 'wallet_not_found')) throw error;
      return { items: [], nextCursor: null };
    }
  }

  /** All of a wallet's ledger, newest first, read as it is asked for. */
  ledgerEntries(who: Who, filter: LedgerFilter = {}, options?: CallOptions): AsyncIterableIterator<LedgerEntry> {
    return entries((cursor) => this.ledger(who, { ...MAX_PAGE, ...filter, cursor: cursor ?? null }, options), filter.cursor);
  }

  /** What was granted and used, in intervals, oldest first. */
  async usage(query: UsageQuery = {}, options?: CallOptions): Promise<Bucket[]> {
    return (await this.#http.call<{ buckets: Bucket[] }>('GET', '/usage', { ...options, query })).buckets;
  }

  /** A page of what happened, oldest first. To go on, pass `nextCursor` as `after`. */
  async events(filter: EventFilter = {}, options?: CallOptions): Promise<Page<ScripEvent>> {
    const query = { ...filter, types: filter.types?.length ? filter.types.join(',') : undefined };
    const page = await this.#http.call<{ events: ScripEvent[]; nextCursor?: string | null }>('GET', '/events', { ...options, query });
    // Without a cursor, the last event is where to go on: else the same ones would come again for ever.
    return { items: page.events, nextCursor: page.nextCursor ?? page.events.at(-1)?.id ?? null };
  }

  /** All that happened until now, oldest first, read as it is asked for. */
  async *allEvents(filter: EventFilter = {}, options?: CallOptions): AsyncGenerator<ScripEvent, void, undefined> {
    // A page always says where to go on: it is the empty one that ends.
    for (let after = filter.after; ; ) {
      const { items, nextCursor } = await this.events({ ...MAX_PAGE, ...filter, after: after ?? null }, options);
      yield* items;
      if (items.length === 0) return;
      after = nextCursor;
    }
  }

  /**
   * All events so far, and then the new ones, until the signal is aborted. Remember the `id` of the last
   * event that was worked off, and begin `after` it the next time.
   */
  pollEvents(options: PollOptions = {}): AsyncGenerator<ScripEvent, void, undefined> {
    return pollEvents((filter, call) => this.events({ ...MAX_PAGE, ...filter }, call), options);
  }

  /** A key that was made here is this call's alone: a repeat under it is this call's own. */
  async #once<T extends { deducted: boolean; charged?: number; owed?: number }>(input: { idempotencyKey?: string | null | undefined }, ask: (call: Call) => Promise<T>): Promise<T> {
    let replayed = false;
    const answer = await ask({ onHeaders: (headers) => (replayed = headers.get('idempotency-replayed') === 'true') });
    return replayed && input.idempotencyKey == null ? ownAnswer(answer) : answer;
  }

  /** Takes from a wallet, or sets aside in it. A user who has none gets one: it may begin with free credits, or lack some. */
  async #spend<T>(input: Spending, verb: string, fields: string, call: Call = {}): Promise<T> {
    // The code is in the path, and stays out of the body.
    const { code: _, ...body } = formatted(keyed(input, `${SPENT} ${fields}`));
    const ask = () => this.#http.call<T>('POST', `${walletPath(input)}/${verb}`, { ...call, body });
    try {
      return await ask();
    } catch (error) {
      if (input.externalUserId == null || !isScripError(error, 'wallet_not_found')) throw error;
      await this.ensureWallet(input.externalUserId, { signal: call.signal, timeoutMs: call.timeoutMs });
      return ask();
    }
  }

  /** A batch, once more for the items of users who had no wallet. */
  async #batch<T extends object>(name: string, items: readonly ListedItem[], options: CallOptions | undefined): Promise<BatchResult<T>[]> {
    const ask = (some: readonly ListedItem[]) => each<T>(this.#http, name, some, options);
    const results = await ask(items.map(formatted));
    const lacking = results.flatMap((result, at) => {
      const item = items[at];
      return isScripError(result, 'wallet_not_found') && item?.externalUserId != null ? [{ at, item }] : [];
    });
    if (lacking.length > 0) {
      for (const user of new Set(lacking.map(({ item }) => item.externalUserId as string))) await this.ensureWallet(user, options);
      (await ask(lacking.map(({ item }) => item))).forEach((result, n) => {
        results[lacking[n]?.at ?? -1] = result;
      });
    }
    return results.map((result) => (result instanceof ScripError ? { error: result } : result)) as BatchResult<T>[];
  }

  async #limits(method: 'GET' | 'PUT', who: Who, call: Call): Promise<Limit[]> {
    return (await this.#http.call<{ limits: Limit[] }>(method, `${walletPath(who)}/limits`, call)).limits;
  }

  // All three may be repeated: the service answers a repeat with the hold's present state.
  async #close<T>(holdId: string, verb: string, body: object | undefined, options: CallOptions | undefined): Promise<T> {
    return this.#http.call('POST', `/holds/${segment(holdId, 'hold')}/${verb}`, { ...options, body, repeatable: true });
  }

  async #feature({ code, externalUserId, feature }: FeatureInput, action: string, options: CallOptions | undefined): Promise<string[]> {
    const body = { code, externalUserId, feature, action };
    return (await this.#http.call<{ features: string[] }>('POST', '/features', { ...options, body, repeatable: true })).features;
  }
}

interface Gatherers {
  deductions: Gatherer<Settled>;
  holds: Gatherer<PlacedHold>;
  grants: Gatherer<Credit>;
  /** Settlements and draws. */
  charges: Gatherer<Charged>;
}

/** How many credits something is about. */
const CHARGE = 'amount rateCard attributes quantities usage usageFormat';
/** What deductions and holds take. */
const SPENT = `externalUserId code productId member ${CHARGE} meta`;
/** What only holds take. */
const HOLD = 'expiresInSeconds maxOverrun';
/** The longest that a timer runs. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** An answer under a key that was made for this call: where it is a repeat, this call did it before. */
const ownAnswer = <T extends { deducted: boolean; charged?: number; owed?: number }>(answer: T): T =>
  answer.deducted ? answer : { ...answer, deducted: answer.charged === undefined || answer.charged + (answer.owed ?? 0) > 0 };

type ListedItem = { externalUserId?: string | null; idempotencyKey?: string | null };

/** One request for many items. Each has a key, or is named by its hold: sent twice it is applied once. */
async function each<T extends object>(http: Http, name: string, items: readonly ListedItem[], options?: CallOptions): Promise<(T | ScripError)[]> {
  let requestId: string | null = null;
  const onHeaders = (headers: Headers) => (requestId = headers.get('x-request-id'));
  const { results } = await http.call<BatchAnswer<T>>('POST', `/${name}/batch`, { ...options, body: { items }, repeatable: true, onHeaders });
  if (results?.length !== items.length) throw new ScripError('unexpected_response', 'The service did not answer every item of a batch.', { status: 200, requestId });
  return results.map((result, at) => {
    if (!('error' in result)) return result;
    const { error } = result;
    return new ScripError(error.code, error.message, { status: statuses[error.code], requestId, idempotencyKey: items[at]?.idempotencyKey ?? undefined, body: error });
  });
}

type Named = { code?: string | null | undefined; externalUserId?: string | null | undefined };

function walletPath({ code, externalUserId }: Named): string {
  if (code != null && externalUserId != null)
    throw new ScripError('conflicting_wallet', 'Name one wallet: by code or by externalUserId.');
  return code == null ? '/wallets/external' : `/wallets/${segment(code, 'code')}`;
}

type Spending = Named & { idempotencyKey?: string | null | undefined };

const userOf = ({ externalUserId }: Named) => (externalUserId == null ? {} : { externalUserId });
