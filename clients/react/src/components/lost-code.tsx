'use client';

import { useMessages, useWallet } from '@scrip-wallet/react';
import { ErrorMessage } from './error-message';

export interface LostCodeProps {
  className?: string | undefined;
}

/** A stored code that no longer opens a wallet, since it was replaced elsewhere, say: to be tried again or forgotten.
 * Otherwise nothing. */
export function LostCode({ className }: LostCodeProps) {
  const { wallet, lostCode, redeem, forgetLost, pending, actionError } = useWallet();
  const { say } = useMessages();
  if (!lostCode) return null;
  return (
    <div className={`scrip scrip-notice ${className ?? ''}`}>
      <p role="status">{say('lostCode', { code: lostCode })}</p>
      <p className="scrip-code-line">
        {/* Another wallet that is open here by now is not replaced. */}
        {!wallet && (
          <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={() => void redeem(lostCode)}>
            {say('tryAgain')}
          </button>
        )}
        <button type="button" className="scrip-button" disabled={pending} onClick={() => void forgetLost()}>
          {say(wallet ? 'forgetIt' : 'startOver')}
        </button>
      </p>
      <ErrorMessage error={actionError} />
    </div>
  );
}
