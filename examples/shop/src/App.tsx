import { BalanceBadge, CheckoutNotice, PricingTable, RecoveryCode } from '@scrip-wallet/react';
import { FEATURES } from './features';
import { Gallery, usePosters } from './Gallery';
import { Studio } from './Studio';
import { Wallet } from './Wallet';

/** The whole shop: draw, buy, look after what was bought. Without sign-in. */
export function App() {
  const [posters, keep] = usePosters();
  return (
    <>
      <header className="bar">
        <a className="brand" href="#studio">
          <span className="mark" aria-hidden="true" /> Poster Press
        </a>
        <nav aria-label="Shop">
          <a href="#prices">Prices</a>
          <a href="#wallet">Your credits</a>
        </nav>
        <BalanceBadge className="balance" />
      </header>
      <main>
        <CheckoutNotice className="thanks">
          <RecoveryCode concealed={false}>
            This code is your account: keep it, and your credits open on any device.
          </RecoveryCode>
        </CheckoutNotice>
        <Studio onDrawn={keep} />
        <Gallery posters={posters} />
        <section id="prices" className="section">
          <h2>Prices</h2>
          <p className="lead">Pay once, draw when you like. No account, no subscription.</p>
          <PricingTable level={3} features={FEATURES} />
        </section>
        <Wallet />
      </main>
      <footer className="foot">An example shop for Scrip. The money is not real; the ledger is.</footer>
    </>
  );
}
