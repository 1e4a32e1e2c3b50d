// What only a buyer who sets out for a checkout needs, or one who comes back: loaded with the first of them, and before
// anything is paid, so that where it cannot be loaded nothing is lost.
import { ScripError, isScripError, type CallOptions, type Checkout, type Order } from '@scrip-wallet/core';
import type { CheckoutInput, PopupOptions, WaitOptions } from './input.js';
import { settled, watch } from './orders.js';
import { forgetMark, here, leaveFor, mark, needsPage, withMark } from './page.js';
import { parse, type Kept } from './storage.js';

/** What buying asks of the client. */
export interface CheckoutClient {
  checkout(input: CheckoutInput, options?: CallOptions): Promise<Checkout>;
  order(orderId: string, options?: CallOptions): Promise<Order>;
  /** Keeps what an order brought, where it may; answers whether that outlives the page. */
  arrived(order: Order): Promise<boolean>;
}

/** What has to outlive the page while a buyer is away paying. */
interface Leaving {
  orderId: string;
  checkoutId: string;
  /** Whether the address says that the buyer came back from paying. */
  marked: boolean;
}

export { leaveFor };

export class Buying {
  readonly #client: CheckoutClient;
  readonly #kept: Kept;

  constructor(client: CheckoutClient, kept: Kept) {
    this.#client = client;
    this.#kept = kept;
  }

  async redirect(input: CheckoutInput, options: CallOptions | undefined): Promise<never> {
    needsPage();
    const page = here() ?? null;
    const marked = !input.successUrl && page !== null;
    const successUrl = marked ? withMark(page) : input.successUrl ?? null;
    const checkout = await this.#client.checkout({ ...input, successUrl, cancelUrl: input.cancelUrl ?? page }, options);
    await this.#remember(checkout, marked);
    return leaveFor(checkout.url);
  }

  async inWindow(popup: Window, input: CheckoutInput, options: PopupOptions): Promise<Order> {
    const checkout = await this.#client.checkout(input, options);
    await this.#remember(checkout, false);
    popup.location.href = checkout.url;
    const { signal, onClose } = options;
    const order = await watch(this.#look, checkout.orderId, { signal, timeoutMs: 86_400_000, closed: () => popup.closed, onClose });
    if (settled(order)) await this.#arrive(order);
    // A bank debit takes days: the order stays remembered, and is no failure.
    else if (!order.processing) throw new ScripError('checkout_closed', 'The checkout was closed before anything was paid.');
    return order;
  }

  async wait(orderId: string, options: WaitOptions): Promise<Order> {
    const order = await watch(this.#look, orderId, options);
    if (!settled(order)) throw new ScripError('timeout', 'The order is still pending.');
    return order;
  }

  /** The order that the buyer came back from, once there is no more to wait for; null where none is known. */
  async complete(options: WaitOptions): Promise<Order | null> {
    const left = parse<Leaving>(await this.#kept.get());
    const back = mark();
    // In another browser than the one that was left, or in one that keeps nothing, the address alone knows.
    const isNamed = !!back && /^cs_\w+$/.test(back) && back !== left?.checkoutId;
    const id = isNamed ? back : left?.orderId;
    if (!id) return null;
    // Came back without paying, as the address tells: one look is enough.
    const isCancelled = left?.marked && back === null;
    try {
      const order = await watch(this.#look, id, isCancelled ? { ...options, timeoutMs: 0 } : options);
      if (settled(order)) await this.#arrive(order);
      return order;
    } catch (error) {
      if (!isScripError(error, 'order_not_found')) throw error;
      // No checkout of this project: the address was written by others.
      if (isNamed) return null;
      // It is of another project, say, and will not be found the next time either.
      await this.#kept.set(null);
      throw error;
    }
  }

  readonly #look = (orderId: string, options: CallOptions): Promise<Order> => this.#client.order(orderId, options);

  async #remember({ orderId, checkoutId }: Checkout, marked: boolean): Promise<void> {
    await this.#kept.set(JSON.stringify({ orderId, checkoutId, marked } satisfies Leaving));
  }

  async #arrive(order: Order): Promise<void> {
    if (parse<Leaving>(await this.#kept.get())?.orderId === order.id) await this.#kept.set(null);
    // Where the code is not kept the address is all that a reload has.
    if (await this.#client.arrived(order)) forgetMark();
  }
}
