import { isPassing, isScripError, pause, type CallOptions, type Page, type ScripEvent } from '@scrip-wallet/core';
import type { EventFilter } from './input.js';

export type PollOptions = EventFilter &
  CallOptions & {
    /** How long to wait where nothing new was found, in milliseconds. Default 5,000. */
    intervalMs?: number;
  };

export async function* pollEvents(
  page: (filter: EventFilter, options: CallOptions) => Promise<Page<ScripEvent>>,
  { intervalMs = 5_000, signal, timeoutMs, ...filter }: PollOptions,
): AsyncGenerator<ScripEvent, void, undefined> {
  let after = filter.after ?? null;
  while (!signal?.aborted) {
    let waitMs = intervalMs;
    try {
      const { items, nextCursor } = await page({ ...filter, after }, { signal, timeoutMs });
      for (const event of items) {
        if (signal?.aborted) return;
        yield event;
      }
      after = nextCursor ?? after;
      if (items.length > 0) waitMs = 0;
    } catch (error) {
      if (isScripError(error, 'aborted')) return;
      if (!isPassing(error)) throw error;
      waitMs = Math.max(intervalMs, (isScripError(error) && error.retryAfterMs) || 0);
    }
    if (waitMs > 0) await pause(waitMs, signal).catch(() => undefined);
  }
}
