import { LedgerTable, PortalButton, RecoveryCode, RedeemCode, useWallet, type LedgerEntry } from '@scrip-wallet/react';

/** What a visitor has: its code, its ledger, and the way to another device. */
export function Wallet() {
  const { wallet } = useWallet();
  return (
    <section id="wallet" className="section">
      <h2>Your credits</h2>
      <div className="cards">
        {wallet && (
          <div className="card">
            <h3>Your code</h3>
            <RecoveryCode replaceable />
            <PortalButton>Receipts and invoices</PortalButton>
          </div>
        )}
        <div className="card">
          <h3>{wallet ? 'Another code' : 'Bought on another device?'}</h3>
          <RedeemCode recoverByEmail />
        </div>
        {wallet && (
          <div className="card wide">
            <LedgerTable limit={10} caption="Every credit that came and went" renderReason={posterWords} />
          </div>
        )}
      </div>
    </section>
  );
}

/** Which poster it was; other entries in the table's own words. */
function posterWords({ meta }: LedgerEntry) {
  const words = (meta as { words?: unknown } | null | undefined)?.words;
  return typeof words === 'string' ? `Poster “${words}”` : undefined;
}
