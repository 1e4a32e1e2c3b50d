'use client';

import { formatCredits, formatDelta, formatInstant, useLedger, useLocale, type LedgerEntry, type LedgerFilter } from '@scrip/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface LedgerTableProps extends LedgerFilter {
  /** The table's caption. */
  caption?: ReactNode;
  /** What an entry was for, in words of your own. */
  renderReason?: (entry: LedgerEntry) => ReactNode;
  className?: string;
}

/** What came and went, newest first. */
export function LedgerTable({ caption = 'What came and went', renderReason, className, ...filter }: LedgerTableProps) {
  const { entries, loading, error, refresh, hasOlder, loadOlder, loadingOlder, olderError } = useLedger(filter);
  const locale = useLocale();
  const classes = `scrip scrip-ledger ${className ?? ''}`;
  if (loading) return <p role="status" className={classes}>Loading…</p>;
  if (!entries) return <ErrorMessage error={error} onRetry={() => void refresh()} className={className} />;
  if (entries.length === 0) return <p className={classes}>Nothing yet.</p>;
  return (
    <div className={classes}>
      {/* A narrow screen scrolls it, with the keyboard too. */}
      <div className="scrip-scroll" tabIndex={0} role="region" aria-label={typeof caption === 'string' ? caption : 'Ledger'}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">What</th>
              <th scope="col" className="scrip-number">Change</th>
              <th scope="col" className="scrip-number">Left</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <tr key={entry.id}>
                <td>
                  <time dateTime={entry.createdAt}>{formatInstant(entry.createdAt, locale)}</time>
                </td>
                <td>{renderReason?.(entry) ?? words(entry)}</td>
                <td className={`scrip-number ${entry.delta < 0 ? '' : 'scrip-more'}`}>{formatDelta(entry.delta, locale)}</td>
                <td className="scrip-number">{formatCredits(entry.balanceAfter, entry.creditUnit, locale)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ErrorMessage error={olderError} />
      {hasOlder && (
        <button type="button" className="scrip-button" aria-busy={loadingOlder} disabled={loadingOlder} onClick={() => void loadOlder()}>
          {loadingOlder ? 'Loading…' : 'Show older'}
        </button>
      )}
    </div>
  );
}

const REASONS: Record<string, string> = {
  purchase: 'Bought',
  deduction: 'Used',
  free_grant: 'Free',
  manual: 'Granted',
  refund: 'Refunded',
  expiry: 'Expired',
};

/** `Used: upscale`, by the note that deductions usually carry. */
function words({ reason, meta }: LedgerEntry): string {
  const known = REASONS[reason] ?? reason;
  const feature = (meta as Record<string, unknown> | null | undefined)?.['feature'];
  return typeof feature === 'string' ? `${known}: ${feature}` : known;
}
