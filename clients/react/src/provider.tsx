import { Scrip, type CodeStorage, type OpenWallet, type Product, type SessionSource } from '@scrip-wallet/browser';
import { createContext, useContext, useEffect, useMemo, useRef, type ReactNode } from 'react';
import { en, fill, type Messages } from './messages/en';
import { ScripStore } from './store/store';

interface Shared {
  readonly store: ScripStore;
  readonly locale: string | undefined;
  readonly timeZone: string | undefined;
  readonly messages: Messages;
}

const Context = createContext<Shared | null>(null);

export interface ScripProviderProps {
  children?: ReactNode;
  /** Where Scrip is, such as `https://pay.example`. */
  baseUrl?: string | undefined;
  /** The project's publishable key, for wallets that a recovery code opens; a secret one throws. */
  publishableKey?: string | undefined;
  /** In place of a key, the wallet of the user who is signed in: the address of your `scripHandler`, or a function that gets
   * a session, or null where nobody is. Another user is another provider: give it a `key`. */
  session?: SessionSource | undefined;
  /** Where the recovery code is kept; the browser's local storage when left out. */
  storage?: CodeStorage | undefined;
  /** A client of your own in place of the four above. */
  client?: Scrip | undefined;
  /** What a server knew when it rendered the page: shown at once, and read again where it may have changed. */
  initial?: { products?: readonly Product[]; wallet?: OpenWallet | null } | undefined;
  /** How amounts and times are written, such as `de-AT`; as the browser does when left out, and with `initial`, which is
   * rendered twice and has to come out the same, `en`. */
  locale?: string | undefined;
  /** The zone of times, such as `Europe/Vienna`; the browser's when left out, and with `initial` `UTC`. */
  timeZone?: string | undefined;
  /** Words in place of the English ones: `de` or `fr` of `@scrip-wallet/react/messages`, or some of your own. */
  messages?: Partial<Messages> | undefined;
}

/** Gives what is inside one client and one wallet, which is made only once it is needed. */
export function ScripProvider({ children, baseUrl, publishableKey, session, storage, client, initial, locale, timeZone, messages }: ScripProviderProps) {
  // Written where they are used, these are new at each render; the client is not.
  const latest = useRef({ session, storage });
  useEffect(() => {
    latest.current = { session, storage };
  });
  const source = typeof session === 'function' ? 'function' : session;
  const isStored = storage !== undefined;
  const first = useRef(initial);
  const store = useMemo(() => {
    if (client) return ScripStore.of(client, first.current);
    if (baseUrl === undefined) throw new TypeError('ScripProvider needs baseUrl and publishableKey or session, or a client');
    const now = () => latest.current;
    const asked = source === 'function' ? () => (typeof now().session === 'function' ? (now().session as Exclude<SessionSource, string>)() : null) : source;
    const kept: CodeStorage | undefined = isStored
      ? { get: () => now().storage?.get() ?? null, set: (code) => now().storage?.set(code), remove: () => now().storage?.remove() }
      : undefined;
    return ScripStore.of(new Scrip({ baseUrl, publishableKey, session: asked, storage: kept }), first.current);
  }, [client, baseUrl, publishableKey, source, isStored]);
  useEffect(() => store.connect(), [store]);
  const isTwice = first.current !== undefined;
  const shared = useMemo(
    () => ({ store, locale: locale ?? (isTwice ? 'en' : undefined), timeZone: timeZone ?? (isTwice ? 'UTC' : undefined), messages: messages ? ({ ...en, ...messages } as Messages) : en }),
    [store, locale, timeZone, messages, isTwice],
  );
  return <Context.Provider value={shared}>{children}</Context.Provider>;
}

export function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error('There is no <ScripProvider> around it');
  return shared;
}

/** The client itself, for what no hook does. */
export function useScrip(): Scrip {
  return useShared().store.client;
}

/** How amounts and times are written here. */
export function useLocale(): string | undefined {
  return useShared().locale;
}

/** The zone of times here. */
export function useTimeZone(): string | undefined {
  return useShared().timeZone;
}

/** The words of the provider, and what fills their gaps. */
export function useMessages(): { messages: Messages; say: (message: keyof Messages, values?: Readonly<Record<string, string | number>>) => string } {
  const { messages } = useShared();
  return { messages, say: (message, values) => fill(messages[message] ?? '', values) };
}
