'use client';

import { useAction, useLedger, useMessages, useScrip, useWallet } from '@scrip-wallet/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface PortalButtonProps {
  children?: ReactNode;
  /** Where the portal leads back to; this page when left out. */
  returnUrl?: string;
  /** Shows it to those, too, who have bought nothing that a wallet shows: a plan without credits that has ended, say. */
  always?: boolean;
  className?: string;
}

/** Leads to the payment provider's portal: invoices, cards, subscriptions. Nothing for those who never bought. */
export function PortalButton({ always = false, ...props }: PortalButtonProps) {
  const { wallet } = useWallet();
  if (!wallet) return null;
  const hasBought = always || wallet.subscriptions.length > 0 || wallet.features.length > 0;
  return hasBought ? <Portal {...props} /> : <PortalOfBuyer {...props} />;
}

function PortalOfBuyer(props: PortalButtonProps) {
  const { entries } = useLedger({ reason: 'purchase', limit: 1 });
  return entries?.length ? <Portal {...props} /> : null;
}

function Portal({ children, returnUrl, className }: PortalButtonProps) {
  const client = useScrip();
  const { say } = useMessages();
  const { run, pending, error } = useAction();
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
