// Errors as components meet them: always the client's own.
import { ScripError, isScripError } from '@scrip-wallet/browser';

export function asScripError(error: unknown): ScripError {
  if (isScripError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ScripError('unexpected_error', message, { cause: error });
}

/** In place of a list of what a wallet has, where there is none. */
export function noneWithoutWallet(error: unknown): [] {
  if (isScripError(error, 'no_wallet') || isScripError(error, 'wallet_not_found')) return [];
  throw error;
}
