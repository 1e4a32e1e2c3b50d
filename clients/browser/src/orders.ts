import { isPassing, pause, type CallOptions, type Order } from '@scrip-wallet/core';

interface Watch extends CallOptions {
  timeoutMs?: number | undefined;
  /** Whether the buyer closed the window: what they just did there may still be on its way. */
  closed?: () => boolean;
  onClose?: (() => void) | undefined;
}

/** Whether no more is to be waited for. */
export const settled = ({ status, processing }: Order): boolean => status !== 'pending' && !processing;

const GRACE_MS = 5_000;
const CLOSED_POLL_INTERVAL_MS = 250;

/** Looks at an order, ever less often, until it is settled or the time is over: how it stood then. */
export async function watch(look: (id: string, options: CallOptions) => Promise<Order>, id: string, options: Watch): Promise<Order> {
  const { signal, timeoutMs = 60_000, closed, onClose } = options;
  let until = Date.now() + timeoutMs;
  let left = false;
  for (let waitMs = 500; ; waitMs = Math.min(waitMs * 1.5, 5_000)) {
    let order: Order | undefined;
    let failure: unknown;
    try {
      order = await look(id, { signal });
      if (settled(order)) return order;
    } catch (error) {
      // The buyer goes on paying while the network is away.
      if (!isPassing(error)) throw error;
      failure = error;
    }
    const next = Date.now() + waitMs;
    do {
      if (!left && closed?.()) {
        left = true;
        until = Math.min(until, Date.now() + GRACE_MS);
        waitMs = 500;
        onClose?.();
        break;
      }
      const now = Date.now();
      if (now >= until) {
        if (order) return order;
        throw failure;
      }
      const step = closed && !left ? CLOSED_POLL_INTERVAL_MS : waitMs;
      await pause(Math.min(step, next - now, until - now), signal);
    } while (Date.now() < Math.min(next, until));
  }
}
