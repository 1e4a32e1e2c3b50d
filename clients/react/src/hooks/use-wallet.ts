import type { OpenWallet, ScripError, Wallet } from '@scrip-wallet/browser';
import { useCallback } from 'react';
import { useShared } from '../provider';
import { useAction } from './use-action';
import { useResource } from './use-resource';

export interface WalletState {
  /** The wallet that is open here, by its recovery code or a session; null where there is none, undefined until that
   * is known. */
  readonly wallet: OpenWallet | null | undefined;
  /** A stored code that no longer works: it was replaced elsewhere, say. */
  readonly lostCode: string | null;
  readonly loading: boolean;
  /** Why it could not be read. */
  readonly error: ScripError | undefined;
  readonly refresh: () => Promise<void>;
  /** The wallet, made if there is none. */
  readonly ensure: () => Promise<Wallet | undefined>;
  /** Goes on with the wallet of a recovery code in place of this browser's. */
  readonly redeem: (code: string) => Promise<Wallet | undefined>;
  /** Replaces a code that became known to others; answers the new one. */
  readonly rotate: () => Promise<string | undefined>;
  /** Forgets the code here. Without a copy of it the wallet is lost. */
  readonly forget: () => Promise<void>;
  /** Forgets the lost code, and no other. */
  readonly forgetLost: () => Promise<void>;
  /** Mails the codes of what was bought with this address, if anything was; answers whether that was asked for. */
  readonly recover: (email: string) => Promise<true | undefined>;
  /** Whether one of the above is under way, and why the last of them failed. */
  readonly pending: boolean;
  readonly actionError: ScripError | undefined;
  readonly reset: () => void;
}

/** This browser's wallet. Looking makes none. */
export function useWallet(): WalletState {
  const { store } = useShared();
  const { client } = store;
  const { data, loading, error } = useResource(store.wallet);
  const { data: lostCode = null } = useResource(store.lostCode);
  const { run, pending, error: actionError, reset } = useAction();
  const refresh = useCallback(() => store.wallet.refresh(), [store]);
  // Shown at once: the reading that follows takes a moment.
  const opened = useCallback(
    (open: () => Promise<Wallet>) =>
      run(async () => {
        const wallet = await open();
        store.wallet.put(() => wallet);
        store.lostCode.invalidate();
        return wallet;
      }),
    [run, store],
  );
  const ensure = useCallback(() => opened(() => client.ensureWallet()), [opened, client]);
  const redeem = useCallback((code: string) => opened(() => client.useCode(code)), [opened, client]);
  const rotate = useCallback(() => run(() => client.rotate()), [run, client]);
  const forget = useCallback(
    async () =>
      void (await run(async () => {
        await client.forget();
        store.wallet.put(() => null);
      })),
    [run, client, store],
  );
  const forgetLost = useCallback(
    async () =>
      void (await run(async () => {
        await client.forgetLostCode();
        store.lostCode.put(() => null);
      })),
    [run, client, store],
  );
  const recover = useCallback(
    (email: string) => run(() => client.recover(email).then(() => true as const)),
    [run, client],
  );
  return { wallet: data, lostCode, loading, error, refresh, ensure, redeem, rotate, forget, forgetLost, recover, pending, actionError, reset };
}
