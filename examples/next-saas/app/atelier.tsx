'use client';

import { AutoTopUp, BalanceBadge, CheckoutNotice, ErrorMessage, LedgerTable, OpenInvoice, PaymentMethod, PricingTable, ScripError, ScripProvider, Usage, useAction, useScrip, useWallet, type OpenWallet, type Product } from '@scrip-wallet/react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { authClient } from '../lib/auth-client';

interface Props {
  scripUrl: string;
  name: string;
  /** Who it is of the team that they work in. */
  member: string | undefined;
  initial: { wallet: OpenWallet; products: Product[] };
}

export function Atelier({ scripUrl, name, member, initial }: Props) {
  const isTeam = member !== undefined;
  const router = useRouter();
  const leave = () => void authClient.signOut().then(() => router.refresh());
  return (
    <ScripProvider baseUrl={scripUrl} session="/api/auth/scrip/session" initial={initial}>
      <header>
        <h1>Atelier</h1>
        <p>{isTeam ? 'The team' : name}: <BalanceBadge /></p>
        <p><Team isTeam={isTeam} /> <button type="button" onClick={leave}>Sign out</button></p>
      </header>
      <CheckoutNotice />
      <OpenInvoice />
      <Draw />
      <section><Usage member={member} /></section>
      <Plan />
      <section><PricingTable popup /></section>
      <section>
        <h2>Automatic top-up</h2>
        <PaymentMethod />
        <AutoTopUp seller="Atelier" />
      </section>
      <section><LedgerTable limit={10} /></section>
    </ScripProvider>
  );
}

/** The user's own wallet, or a team's: all its members spend from it. */
function Team({ isTeam }: { isTeam: boolean }) {
  const router = useRouter();
  const change = async () => {
    if (isTeam) await authClient.organization.setActive({ organizationId: null });
    else {
      const { data } = await authClient.organization.list();
      const team = data?.[0] ?? (await authClient.organization.create({ name: 'Our team', slug: `team-${crypto.randomUUID()}` })).data;
      await authClient.organization.setActive({ organizationId: team?.id ?? null });
    }
    router.refresh();
  };
  return <button type="button" onClick={() => void change()}>{isTeam ? 'Work alone' : 'Work in a team'}</button>;
}

/** The server takes the credits; the page sees them go. */
function Draw() {
  const [drawings, setDrawings] = useState<string[]>([]);
  const { run, pending, error } = useAction();
  const draw = () =>
    run(async () => {
      const reply = await fetch('/api/draw', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: crypto.randomUUID() }) });
      const body = await reply.json();
      // The refusal as Scrip gave it: the page offers what would be enough, until it is bought.
      if (!reply.ok) throw new ScripError(body.code, body.message, { status: reply.status, body });
      setDrawings([body.drawing, ...drawings]);
    });
  return (
    <section className="studio">
      <button type="button" className="main" disabled={pending} onClick={() => void draw()}>Draw (5 credits)</button>
      <ErrorMessage error={error} popup />
      <p className="drawings">{drawings.map((drawing) => <img key={drawing} alt="A drawing" src={`data:image/svg+xml,${encodeURIComponent(drawing)}`} />)}</p>
    </section>
  );
}

/** What is subscribed to, and an end to it. */
function Plan() {
  const scrip = useScrip();
  const { wallet } = useWallet();
  const { run, pending, error } = useAction();
  return wallet?.subscriptions.map(({ id, label, currentPeriodEnd, cancelAtPeriodEnd }) => (
    <section key={id} className="plan">
      <p>{`${label ?? 'Your plan'}, ${cancelAtPeriodEnd ? 'until' : 'renews on'} ${new Date(currentPeriodEnd).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })}`}</p>
      <button type="button" disabled={pending} onClick={() => void run(() => (cancelAtPeriodEnd ? scrip.resumeSubscription({ subscriptionId: id }) : scrip.cancelSubscription({ subscriptionId: id })))}>
        {cancelAtPeriodEnd ? 'Go on after all' : 'Cancel'}
      </button>
      <p role="alert">{error?.message}</p>
    </section>
  ));
}
