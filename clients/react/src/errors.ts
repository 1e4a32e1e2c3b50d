// Errors as components meet them: always the client's own.
import { ScripError, isScripError } from '@scrip-wallet/browser';

export function asScripError(error: unknown): ScripError {
  if (isScripError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ScripError('unexpected_error', message, { cause: error });
}
