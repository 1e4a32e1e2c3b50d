import { isScripError, type AutoTopUp, type AutoTopUpInput, type ScripError } from '@scrip-wallet/browser';
import { useCallback, useEffect, useRef } from 'react';
import { useShared } from '../provider';
import { pause } from '../store/store';
import { useAction } from './use-action';
import { useOfWallet } from './use-resource';

export type { AutoTopUpInput };

export interface AutoTopUpState {
  /** What is bought when credits run low, and how that goes; null where there is no user's wallet, or the session may not
   * buy; undefined until it is known. */
  readonly topUp: AutoTopUp | null | undefined;
  readonly loading: boolean;
  /** Why it could not be read. */
  readonly error: ScripError | undefined;
  readonly refresh: () => Promise<void>;
  /** Switches it on, changes it, or switches it off: `{ enabled: false }`. */
  readonly save: (input: AutoTopUpInput) => Promise<AutoTopUp | undefined>;
  /** Whether it is being saved, and why the last try failed. */
  readonly pending: boolean;
  readonly actionError: ScripError | undefined;
  readonly reset: () => void;
}

const FIRST_MS = 2_000;
const MAX_WAIT_MS = 30_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Automatic top-up of the user who is signed in; read again when the wallet changes, and while a card is charged. */
export function useAutoTopUp(): AutoTopUpState {
  const { store } = useShared();
  const { client } = store;
  const { data, loading, error, resource } = useOfWallet({}, async () => (client.bySession ? client.readAutoTopUp().catch(noneWithoutUser) : null));
  const { run, pending, error: actionError, reset } = useAction();
  const looks = useRef(0);
  useEffect(() => {
    const isCharging = data?.state === 'charging';
    looks.current = isCharging ? looks.current + 1 : 0;
    const waitMs = isCharging ? Math.min(FIRST_MS * 1.5 ** (looks.current - 1), MAX_WAIT_MS) : Date.parse(data?.nextAttemptAt ?? '') - Date.now() + FIRST_MS;
    if (!(waitMs < MAX_TIMEOUT_MS)) return;
    const timer = setTimeout(() => resource.invalidate(), Math.max(waitMs, FIRST_MS));
    return () => clearTimeout(timer);
  }, [data, error, resource]);
  const refresh = useCallback(() => resource.refresh(), [resource]);
  const save = useCallback(
    (input: AutoTopUpInput) =>
      run(async () => {
        for (;;) {
          try {
            const saved = await client.setAutoTopUp(input);
            resource.put(() => saved);
            return saved;
          } catch (failure) {
            // The card that was just entered may not have reached the service yet.
            if (!isScripError(failure) || !failure.code.startsWith('payment_method_') || !store.mayCardCome) throw failure;
            await pause(FIRST_MS);
          }
        }
      }),
    [run, client, resource, store],
  );
  return { topUp: data, loading, error: data === undefined ? error : undefined, refresh, save, pending, actionError, reset };
}

function noneWithoutUser(error: unknown): null {
  if (['no_wallet', 'wallet_not_found', 'session_forbidden'].some((code) => isScripError(error, code))) return null;
  throw error;
}
