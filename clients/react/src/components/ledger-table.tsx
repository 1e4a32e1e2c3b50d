'use client';

import { formatCredits, formatDelta, formatInstant, useLedger, useLocale, useMessages, useTimeZone, type LedgerEntry, type LedgerFilter, type Messages } from '@scrip-wallet/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface LedgerTableProps extends LedgerFilter {
  /** The table's caption. */
  caption?: ReactNode;
  /** What an entry was for, in words of your own. */
  renderReason?: (entry: LedgerEntry) => ReactNode;
  className?: string;
}

/** The wallet's entries, newest first. */
export function LedgerTable({ caption: given, renderReason, className, ...filter }: LedgerTableProps) {
  const { entries, loading, error, refresh, hasOlder, loadOlder, loadingOlder, olderError } = useLedger(filter);
  const locale = useLocale();
  const timeZone = useTimeZone();
  const { messages, say } = useMessages();
  const caption = given ?? say('ledger');
  const classes = `scrip scrip-ledger ${className ?? ''}`;
  if (loading) return <p role="status" className={classes}>{say('loading')}</p>;
  if (!entries) return <ErrorMessage error={error} onRetry={() => void refresh()} className={className} />;
  if (entries.length === 0) {
    return (
      <div className={classes}>
        <p className="scrip-caption">{caption}</p>
        <p className="scrip-muted">{say('nothingYet')}</p>
      </div>
    );
  }
  return (
    <div className={classes}>
      {/* A narrow screen scrolls it, with the keyboard too. */}
      <div className="scrip-scroll" tabIndex={0} role="region" aria-label={typeof caption === 'string' ? caption : say('ledger')}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{say('when')}</th>
              <th scope="col">{say('what')}</th>
              <th scope="col" className="scrip-number">{say('change')}</th>
              <th scope="col" className="scrip-number">{say('left')}</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <tr key={entry.id}>
                <td>
                  <time dateTime={entry.createdAt}>{formatInstant(entry.createdAt, locale, timeZone)}</time>
                </td>
                <td>
                  <Explained entry={entry}>{renderReason?.(entry) ?? words(entry, messages, say)}</Explained>
                </td>
                <td className={`scrip-number ${entry.delta > 0 ? 'scrip-more' : ''}`}>{formatDelta(entry.delta, locale)}</td>
                <td className="scrip-number">{formatCredits(entry.balanceAfter, entry.creditUnit, locale)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ErrorMessage error={olderError} />
      {hasOlder && (
        <button type="button" className="scrip-button" aria-busy={loadingOlder} disabled={loadingOlder} onClick={() => void loadOlder()}>
          {loadingOlder ? say('loading') : say('showOlder')}
        </button>
      )}
    </div>
  );
}

/** What was used, and its exact cost, where a rate card priced it. */
function Explained({ entry: { rate, creditUnit }, children }: { entry: LedgerEntry; children: ReactNode }) {
  const locale = useLocale();
  const { messages, say } = useMessages();
  if (!rate) return <>{children}</>;
  // Its type knows no texts, which are written to the last digit.
  const cost = new Intl.NumberFormat(locale, { maximumFractionDigits: 18 }).format(rate.cost as unknown as number);
  return (
    <details>
      <summary>{children}</summary>
      <ul className="scrip-muted">
        {Object.entries(rate.attributes).map(([name, value]) => <li key={name}>{value}</li>)}
        {/* `cachedInput` as words. */}
        {Object.entries(rate.quantities).map(([unit, count]) => <li key={unit}>{formatCredits(count, unit.replace(/[A-Z]/g, (letter) => ` ${letter}`).toLowerCase(), locale)}</li>)}
        <li>{say('exactCost', { cost: `${cost} ${creditUnit ?? messages.credits}` })}</li>
      </ul>
    </details>
  );
}

/** `Used: upscale`, by the note that deductions usually carry. */
function words({ reason, meta }: LedgerEntry, messages: Messages, say: ReturnType<typeof useMessages>['say']): string {
  // A reason that is newer than this client is shown by its name.
  const known = messages[reason as 'deduction'] ?? reason;
  const feature = (meta as Record<string, unknown> | null | undefined)?.['feature'];
  return typeof feature === 'string' ? say('reasonFor', { reason: known, feature }) : known;
}
