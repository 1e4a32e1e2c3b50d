// What a wallet holds, as it happens: server-sent events over fetch, since an EventSource could not say who asks.
import { isPassing, isScripError, pause } from '@scrip-wallet/core';
import { isAsleep, onWaking } from './page.js';

type Open = (lastEventId: string | undefined, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;

/** The service says something every 15 s, if only that it is there. */
const SILENCE_MS = 45_000;
const MAX_WAIT_MS = 30_000;

/** Listens, again whenever that ends, while anybody can see the page; until the signal says stop or nothing is to be had. */
export async function listen(open: Open, tell: (data: unknown) => void, signal: AbortSignal): Promise<void> {
  let last: string | undefined;
  for (let failures = 0; !signal.aborted; ) {
    await awake(signal);
    if (signal.aborted) return;
    const stop = new AbortController();
    const end = () => stop.abort();
    const off = onWaking(() => isAsleep() && end());
    signal.addEventListener('abort', end);
    let timer = setTimeout(end, SILENCE_MS);
    let waitMs = 0;
    try {
      for await (const { id, data } of events(await open(last, stop.signal), stop.signal)) {
        clearTimeout(timer);
        timer = setTimeout(end, SILENCE_MS);
        if (data === undefined) continue;
        failures = 0;
        last = id ?? last;
        tell(JSON.parse(data));
      }
    } catch (error) {
      // A session that ended is renewed; a key without the right stays without it.
      if (isScripError(error) && !isPassing(error) && error.code !== 'session_expired') return;
      waitMs = (isScripError(error) && error.retryAfterMs) || 0;
    } finally {
      clearTimeout(timer);
      off();
      signal.removeEventListener('abort', end);
      end();
    }
    waitMs = Math.max(waitMs, Math.min(MAX_WAIT_MS, 500 * 2 ** failures++) * (0.5 + Math.random() / 2));
    await pause(waitMs, signal).catch(() => undefined);
  }
}

/** The events of a stream; one without data is a sign of life. */
async function* events(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<{ id?: string; data?: string }> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const parts = text.split(/\r?\n\r?\n/);
      text = parts.pop() ?? '';
      yield {};
      for (const part of parts) {
        const fields: Record<string, string> = {};
        for (const [, name = '', value = ''] of part.matchAll(/^(\w+):? ?(.*)$/gm)) fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
        // Events of other types may be added to the stream.
        if (fields['event'] === 'balance' && fields['data'] !== undefined) yield fields;
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** Once the page can be seen and the browser is online; or at the signal. */
const awake = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (isAsleep() && !signal.aborted) return;
      off();
      signal.removeEventListener('abort', look);
      resolve();
    };
    const off = onWaking(look);
    signal.addEventListener('abort', look);
    look();
  });
