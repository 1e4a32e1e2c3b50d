// What is asked of the browser beside `fetch` and storage. Nothing here is touched before it is needed, so
// that a server can import and make a client.
import { ScripError } from '@scrip-wallet/core';

/** This page's address without its fragment, where there is a page. */
export const here = (): string | undefined => globalThis.location?.href?.replace(/#.*/, '');

/** The query parameter of a page that a buyer comes back to. */
const MARK = 'scrip_checkout';

/** The page's address after a payment: the provider puts the checkout's id into it. */
export function withMark(page: string): string {
  const url = new URL(page);
  url.searchParams.set(MARK, '-');
  return url.href.replace(`${MARK}=-`, `${MARK}={CHECKOUT_SESSION_ID}`);
}

/** The checkout that the buyer came back from, as the address has it; null where it says nothing. */
export const mark = (): string | null => new URLSearchParams(globalThis.location?.search).get(MARK);

/** A reload is no return, and who is sent the address did not pay. */
export function forgetMark(): void {
  if (mark() === null) return;
  const url = new URL(location.href);
  url.searchParams.delete(MARK);
  history.replaceState(history.state, '', url.href);
}

/** Whether the page is hidden, or offline. */
export const isAsleep = (): boolean => globalThis.document?.visibilityState === 'hidden' || globalThis.navigator?.onLine === false;

/** Has the listener called whenever that may have changed. Call what it returns to stop. */
export function onWaking(listener: () => void): () => void {
  const on = [
    [globalThis.document, 'visibilitychange'],
    [globalThis.window, 'online'],
    [globalThis.window, 'offline'],
  ] as const;
  for (const [target, name] of on) target?.addEventListener?.(name, listener);
  return () => {
    for (const [target, name] of on) target?.removeEventListener?.(name, listener);
  };
}

/** Never done, since the page is left; unless the buyer comes back to it as it was. */
const comesBack = (): Promise<never> =>
  new Promise((_, reject) => {
    const shown = (event: PageTransitionEvent) => {
      if (!event.persisted) return;
      removeEventListener('pageshow', shown);
      reject(new ScripError('aborted', 'The buyer came back.'));
    };
    addEventListener('pageshow', shown);
  });

/** Goes to a page, if there is one to leave. */
export function leaveFor(url: string): Promise<never> {
  needsPage();
  location.assign(url);
  return comesBack();
}

export function needsPage(): void {
  if (!globalThis.location) throw new ScripError('invalid_options', 'There is no page here.');
}

/** A window that says what it waits for. */
export function openWindow(words: string): Window {
  const popup = globalThis.window?.open('', '_blank', 'popup,width=480,height=760');
  if (!popup) throw new ScripError('popup_blocked', 'The browser did not let the checkout open.');
  try {
    // White and empty, for as long as a slow service takes, would look broken.
    popup.document.title = words;
    popup.document.body.textContent = words;
  } catch {
    // A browser that keeps it to itself.
  }
  return popup;
}

/** One tab at a time, where the browser has locks and grants one; elsewhere at once. */
export async function onlyOneTab<T>(name: string, work: () => Promise<T>): Promise<T> {
  let begun = false;
  const begin = () => {
    begun = true;
    return work();
  };
  try {
    if (globalThis.navigator?.locks) return (await navigator.locks.request(name, begin)) as T;
  } catch (error) {
    if (begun) throw error;
  }
  return work();
}
