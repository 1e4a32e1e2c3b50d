// What is asked of the browser beside `fetch` and storage. Nothing here is touched before it is needed, so
// that a server can import and make a client.
import { ScripError } from '@scrip/core';

/** This page's address without its fragment, where there is a page. */
export const here = (): string | undefined => globalThis.location?.href?.replace(/#.*/, '');

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
  location.assign(url);
  return comesBack();
}

export function needsPage(): void {
  if (!globalThis.location) throw new ScripError('invalid_options', 'There is no page here to leave.');
}

export function openWindow(): Window {
  const popup = globalThis.window?.open('', '_blank', 'popup,width=480,height=760');
  if (!popup) throw new ScripError('popup_blocked', 'The browser did not let the checkout open.');
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
