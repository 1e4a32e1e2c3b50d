import type { ScripError } from '@scrip-wallet/browser';
import { useCallback, useEffect, useRef, useState } from 'react';
import { asScripError } from '../errors';

export interface Action {
  /** Whether it is under way. */
  readonly pending: boolean;
  /** Why the last one failed. */
  readonly error: ScripError | undefined;
  /** Forgets the error. */
  readonly reset: () => void;
}

const IDLE = { pending: 0, error: undefined as ScripError | undefined };

/** Runs what a person asked for and keeps how it goes: answers undefined, and never throws, where it fails. Work that
 * nobody has to wait for any longer calls `done`. */
export function useAction(): Action & { run: <T>(work: (done: () => void) => Promise<T>) => Promise<T | undefined> } {
  const [state, setState] = useState(IDLE);
  const mounted = useRef(false);
  useEffect(() => {
    mounted.current = true;
    // Back from the checkout: the page may be as it was left, its button still busy.
    const shown = (event: PageTransitionEvent) => event.persisted && setState(IDLE);
    window.addEventListener('pageshow', shown);
    return () => {
      mounted.current = false;
      window.removeEventListener('pageshow', shown);
    };
  }, []);
  const run = useCallback(async <T>(work: (done: () => void) => Promise<T>): Promise<T | undefined> => {
    let counted = 1;
    const end = (error?: ScripError) => {
      const by = counted;
      counted = 0;
      if (mounted.current) setState(({ pending }) => ({ pending: Math.max(0, pending - by), error }));
    };
    setState(({ pending }) => ({ pending: pending + 1, error: undefined }));
    try {
      const result = await work(end);
      end();
      return result;
    } catch (error) {
      const scripError = asScripError(error);
      end(scripError);
      return undefined;
    }
  }, []);
  const reset = useCallback(() => setState((state) => ({ ...state, error: undefined })), []);
  return { pending: state.pending > 0, error: state.error, reset, run };
}
