'use client';

import { useMessages, useWallet } from '@scrip-wallet/react';
import { ErrorMessage } from './error-message';

export interface LostCodeProps {
  className?: string | undefined;
}

/** Where the code that was kept here opens nothing any more, as after it was replaced elsewhere: which, to be tried again or
 * forgotten. Else nothing. */
export function LostCode({ className }: LostCodeProps) {
  const { wallet, lostCode, redeem, forgetLost, pending, actionError } = useWallet();
  const { say } = useMessages();
  if (!lostCode) return null;
  return (
    <div className={`scrip scrip-notice ${className ?? ''}`}>
      <p role="status">{say('lostCode', { code: lostCode })}</p>
      <p className="scrip-code-line">
        {/* Another wallet that is open here by now is not replaced by a press. */}
        {!wallet && (
          <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={() => void redeem(lostCode)}>
            {say('tryAgain')}
          </button>
        )}
        <button type="button" className="scrip-button" disabled={pending} onClick={() => void forgetLost()}>
          {say(wallet ? 'forgetIt' : 'startAnew')}
        </button>
      </p>
      <ErrorMessage error={actionError} />
    </div>
  );
}
