'use client';

import { useMessages, useScrip, useWallet, type OpenWallet, type Wallet } from '@scrip-wallet/react';
import { useId, useState, type FormEvent } from 'react';
import { ErrorMessage } from './error-message';
import { LostCode } from './lost-code';

export interface RedeemCodeProps {
  /** Called with the wallet that the code opened. */
  onRedeemed?: (wallet: Wallet) => void;
  /** Offers to mail lost codes to the address that was given when paying. */
  recoverByEmail?: boolean;
  className?: string;
}

/** Takes a recovery code and opens its wallet. A wallet that is open here already is not replaced without asking. */
export function RedeemCode({ onRedeemed, recoverByEmail = false, className }: RedeemCodeProps) {
  const { wallet, redeem, pending, actionError } = useWallet();
  const { bySession } = useScrip();
  const { say } = useMessages();
  const [code, setCode] = useState('');
  const [kept, setKept] = useState(false);
  const [notice, setNotice] = useState('');
  const input = useId();
  const other = wallet && holdsAnything(wallet) ? wallet.code : undefined;
  // A user who is signed in has a wallet of their own.
  if (bySession) return null;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (pending) return;
    setNotice('');
    const opened = await redeem(code.trim());
    if (!opened) return;
    setCode('');
    setKept(false);
    setNotice(say('opened'));
    onRedeemed?.(opened);
  };
  return (
    <div className={`scrip scrip-redeem ${className ?? ''}`}>
      <form onSubmit={(event) => void submit(event)}>
        <label htmlFor={input}>{say('recoveryCode')}</label>
        <div className="scrip-field">
          <input
            id={input}
            value={code}
            onChange={(event) => setCode(event.target.value)}
            placeholder="OLIVE-7K2M-9QXP-4TBD"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={64}
            required
          />
          <button type="submit" className="scrip-button scrip-primary" aria-busy={pending} disabled={pending}>
            {say(pending ? 'opening' : 'openWallet')}
          </button>
        </div>
        {other && (
          <label className="scrip-check">
            <input type="checkbox" checked={kept} onChange={(event) => setKept(event.target.checked)} required />
            <span>{say('haveKept', { code: other.split('-')[0] ?? '' })}</span>
          </label>
        )}
        <ErrorMessage error={actionError} />
        <p role="status">{notice}</p>
      </form>
      <LostCode />
      {recoverByEmail && <Recover />}
    </div>
  );
}

function holdsAnything({ balances, features, subscriptions }: OpenWallet): boolean {
  return features.length > 0 || subscriptions.length > 0 || balances.some(({ balance, held }) => balance > 0 || held > 0);
}

function Recover() {
  const { recover, pending, actionError } = useWallet();
  const { say } = useMessages();
  const [email, setEmail] = useState('');
  const [sent, setSent] = useState(false);
  const input = useId();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (pending) return;
    setSent(false);
    if (await recover(email.trim())) setSent(true);
  };
  return (
    <details>
      <summary>{say('forgotten')}</summary>
      <form onSubmit={(event) => void submit(event)}>
        <label htmlFor={input}>{say('paidWith')}</label>
        <div className="scrip-field">
          <input
            id={input}
            type="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            autoComplete="email"
            maxLength={254}
            required
          />
          <button type="submit" className="scrip-button" aria-busy={pending} disabled={pending}>
            {say('mailIt')}
          </button>
        </div>
        <ErrorMessage error={actionError} />
        <p role="status">{sent && say('mailed')}</p>
      </form>
    </details>
  );
}
