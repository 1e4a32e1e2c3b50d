'use client';

import { useAction, useMessages, useScrip, useWallet } from '@scrip-wallet/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface PortalButtonProps {
  children?: ReactNode;
  /** Where the portal leads back to; this page when left out. */
  returnUrl?: string;
  className?: string;
}

/** Leads to the payment provider's portal: invoices, cards, subscriptions. Nothing without a wallet. */
export function PortalButton({ children, returnUrl, className }: PortalButtonProps) {
  const client = useScrip();
  const { say } = useMessages();
  const { wallet } = useWallet();
  const { run, pending, error } = useAction();
  if (!wallet) return null;
  const open = () => void run(() => client.redirectToPortal({ returnUrl }));
  return (
    <span className={`scrip scrip-portal ${className ?? ''}`}>
      <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={open}>
        {pending ? say('opening') : (children ?? say('manageBilling'))}
      </button>
      {error?.code !== 'aborted' && <ErrorMessage error={error} />}
    </span>
  );
}
