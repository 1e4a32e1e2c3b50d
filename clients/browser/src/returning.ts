// What has to outlive the page while a buyer is away paying.
import { isScripError, type CallOptions, type Checkout, type Order } from '@scrip/core';
import type { WaitOptions } from './input.js';
import { watch } from './orders.js';
import { mark } from './page.js';
import { Kept, browserStorage, parse } from './storage.js';

interface Leaving {
  orderId: string;
  checkoutId: string;
  /** Whether the address says that the buyer came back from paying. */
  marked: boolean;
}

export class Returning {
  readonly #kept: Kept;

  constructor(name: string) {
    this.#kept = new Kept(browserStorage(name));
  }

  async remember({ orderId, checkoutId }: Checkout, marked: boolean): Promise<void> {
    await this.#kept.set(JSON.stringify({ orderId, checkoutId, marked } satisfies Leaving));
  }

  async forget(orderId: string): Promise<void> {
    if (parse<Leaving>(await this.#kept.get())?.orderId === orderId) await this.#kept.set(null);
  }

  /** The order that the buyer came back from, once there is no more to wait for; null where none is known. */
  async order(look: (id: string, options: CallOptions) => Promise<Order>, options: WaitOptions): Promise<Order | null> {
    const left = parse<Leaving>(await this.#kept.get());
    const back = mark();
    // In another browser than the one that was left, or in one that keeps nothing, the address alone knows.
    const isNamed = !!back && /^cs_\w+$/.test(back) && back !== left?.checkoutId;
    const id = isNamed ? back : left?.orderId;
    if (!id) return null;
    // Came back without paying, as the address tells: one look is enough.
    const isCancelled = left?.marked && back === null;
    try {
      return await watch(look, id, isCancelled ? { ...options, timeoutMs: 0 } : options);
    } catch (error) {
      if (!isScripError(error, 'order_not_found')) throw error;
      // Whoever wrote the address, no checkout of ours.
      if (isNamed) return null;
      // It is of another project, say, and will not be found the next time either.
      await this.#kept.set(null);
      throw error;
    }
  }
}
