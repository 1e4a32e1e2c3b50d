import { Scrip, type CodeStorage } from '@scrip/browser';
import { createContext, useContext, useEffect, useMemo, type ReactNode } from 'react';
import { ScripStore } from './store/store';

interface Shared {
  readonly store: ScripStore;
  readonly locale: string | undefined;
}

const Context = createContext<Shared | null>(null);

export interface ScripProviderProps {
  children?: ReactNode;
  /** Where Scrip is, such as `https://pay.example`. */
  baseUrl?: string;
  /** The project's publishable key; a secret one throws. */
  publishableKey?: `pay_pk_${string}`;
  /** Where the recovery code is kept; the browser's local storage when left out. */
  storage?: CodeStorage;
  /** A client of your own in place of the three above. */
  client?: Scrip;
  /** How amounts and times are written, such as `de-AT`; as the browser does when left out. */
  locale?: string;
}

/** Gives what is inside one client and one wallet, which is made only once it is needed. */
export function ScripProvider({ children, baseUrl, publishableKey, storage, client, locale }: ScripProviderProps) {
  const store = useMemo(() => {
    if (client) return ScripStore.of(client);
    if (!baseUrl || !publishableKey) throw new TypeError('ScripProvider needs baseUrl and publishableKey, or a client');
    return ScripStore.of(new Scrip({ baseUrl, publishableKey, ...(storage && { storage }) }));
  }, [client, baseUrl, publishableKey, storage]);
  useEffect(() => store.connect(), [store]);
  const shared = useMemo(() => ({ store, locale }), [store, locale]);
  return <Context.Provider value={shared}>{children}</Context.Provider>;
}

export function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error('Scrip’s hooks and components work inside a <ScripProvider>');
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
