import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { useShared } from '../provider';
import { Resource, type Snapshot } from '../store/resource';

export function useResource<T>(resource: Resource<T>): Snapshot<T> {
  return useSyncExternalStore(resource.subscribe, resource.snapshot, resource.serverSnapshot);
}

/** Something of the wallet that an input names, read again when the wallet changes. The input is sent as its text is now. */
export function useOfWallet<I, T>(input: I, read: (input: I) => Promise<T>): Snapshot<T> & { readonly resource: Resource<T> } {
  const { store } = useShared();
  const { data: wallet } = useResource(store.wallet);
  // Written where it is used, it is new at each render; what it says is not.
  const text = JSON.stringify(input);
  const latest = useRef(read);
  const resource = useMemo(() => new Resource<T>(() => latest.current(JSON.parse(text) as I)), [store, text]);
  const before = useRef(wallet);
  useEffect(() => {
    latest.current = read;
    if (before.current !== undefined && before.current !== wallet) resource.invalidate();
    before.current = wallet;
  });
  return { ...useResource(resource), resource };
}
