'use client';

import { useAction, useScrip, useWallet } from '@scrip/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface PortalButtonProps {
  children?: ReactNode;
  /** Where the portal leads back to; this page when left out. */
  returnUrl?: string;
  className?: string;
}

/** Leads to the payment provider's portal: invoices, cards, subscriptions. Nothing without a wallet. */
export function PortalButton({ children = 'Manage billing', returnUrl, className }: PortalButtonProps) {
  const client = useScrip();
  const { wallet } = useWallet();
  const { run, pending, error } = useAction();
  if (!wallet) return null;
  const open = () => void run(() => client.redirectToPortal({ returnUrl }));
  return (
    <span className={`scrip scrip-portal ${className ?? ''}`}>
      <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={open}>
        {pending ? 'Opening…' : children}
      </button>
      {error?.code !== 'aborted' && <ErrorMessage error={error} />}
    </span>
  );
}
