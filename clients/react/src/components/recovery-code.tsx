'use client';

import { useMessages, useWallet } from '@scrip-wallet/react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { ErrorMessage } from './error-message';
import { LostCode } from './lost-code';

export interface RecoveryCodeProps {
  /** Whether it is hidden until asked for; true when left out, since anyone who reads it can spend the credits. */
  concealed?: boolean;
  /** Offers to replace a code that became known to others. */
  replaceable?: boolean;
  /** The text beside it. */
  children?: ReactNode;
  /** Markup of your own. */
  render?: (code: string) => ReactNode;
  className?: string;
}

/** The code that opens this browser's wallet elsewhere, to be copied and kept. Nothing without a wallet. */
export function RecoveryCode({ concealed = true, replaceable = false, children, render, className }: RecoveryCodeProps) {
  const { wallet, rotate, pending, actionError } = useWallet();
  const [shown, setShown] = useState(!concealed);
  const [replacing, setReplacing] = useState(false);
  const { say } = useMessages();
  const code = wallet?.code;
  if (!code) return wallet ? null : <LostCode className={className} />;
  if (render) return <>{render(code)}</>;
  const replace = async () => {
    if (await rotate()) setShown(true);
    setReplacing(false);
  };
  return (
    <div role="group" aria-label={say('recoveryCode')} className={`scrip scrip-code ${className ?? ''}`}>
      <p className="scrip-muted">
        {children ?? say('keepCode')}
      </p>
      <p className="scrip-code-line">
        <code translate="no">{shown ? code : veiled(code)}</code>
        <button type="button" className="scrip-button" onClick={() => setShown(!shown)}>
          {say(shown ? 'hide' : 'show')}
        </button>
        <Copy text={code} />
        {replaceable && !replacing && (
          <button type="button" className="scrip-button" onClick={() => setReplacing(true)}>
            {say('replace')}
          </button>
        )}
      </p>
      {replacing && (
        <p className="scrip-code-line">
          {say('replaceWarning')}
          <button type="button" className="scrip-button" disabled={pending} aria-busy={pending} onClick={() => void replace()}>
            {say('replaceIt')}
          </button>
          <button type="button" className="scrip-button" disabled={pending} onClick={() => setReplacing(false)}>
            {say('keepIt')}
          </button>
        </p>
      )}
      <ErrorMessage error={actionError} />
    </div>
  );
}

const NOTICE_MS = 4_000;

function Copy({ text }: { text: string }) {
  const { say } = useMessages();
  const [notice, setNotice] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    let words = say('copied');
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Not everywhere may a page write there.
      words = say('notCopied');
    }
    setNotice(words);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setNotice(''), NOTICE_MS);
  };
  return (
    <>
      <button type="button" className="scrip-button" onClick={() => void copy()}>
        {say('copy')}
      </button>
      <span role="status">{notice}</span>
    </>
  );
}

/** Its first word, so that one tells it from another. */
function veiled(code: string): string {
  const [word = '', ...rest] = code.split('-');
  return [word, ...rest.map((part) => '•'.repeat(part.length))].join('-');
}
