'use client';

import {
  formatCredits,
  formatDay,
  formatDays,
  formatFeature,
  formatInstant,
  useBalance,
  useLimits,
  useLocale,
  useMessages,
  useScrip,
  useTimeZone,
  useUsage,
  type Limit,
  type LimitsState,
  type UsageInput,
} from '@scrip-wallet/react';
import { useId, type ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface UsageProps {
  /** Whose share to show of limits that are about each member, and whose use by day. */
  member?: string;
  /** Which limits to show; all when left out. */
  filter?: (limit: Limit) => boolean;
  /** How many days the chart has, which users who are signed in see; 30 when left out, none for 0. */
  days?: number;
  /** Whose credits the chart shows; the first product that holds any when left out. */
  productId?: string;
  /** Markup of your own. */
  render?: (state: LimitsState) => ReactNode;
  className?: string;
}

/** What is left, of what, until when: for each limit of the wallet; and what was used by day. Nothing where there is neither. */
export function Usage({ member, filter = () => true, days = 30, productId, render, className }: UsageProps) {
  const state = useLimits({ member });
  const { productId: shown } = useBalance(productId);
  const { bySession } = useScrip();
  const { say } = useMessages();
  if (render) return <>{render(state)}</>;
  const { loading, error, refresh } = state;
  const classes = `scrip scrip-usage ${className ?? ''}`;
  if (loading) return <p role="status" className={classes}>{say('loading')}</p>;
  if (error) return <ErrorMessage error={error} onRetry={() => void refresh()} className={className} />;
  const limits = state.limits?.filter(filter) ?? [];
  const isCharted = bySession && days > 0 && shown !== undefined;
  if (limits.length === 0 && !isCharted) return null;
  return (
    <div className={classes}>
      {limits.length > 0 && (
        <ul aria-label={say('usage')}>
          {limits.map((limit) => <Left key={JSON.stringify([limit.scope, limit.window, limit.unit, limit.productId])} limit={limit} member={member} />)}
        </ul>
      )}
      {isCharted && <ByDay productId={shown} member={member} days={days} />}
    </div>
  );
}

/** The chart, and its numbers as a table. */
function ByDay(input: UsageInput) {
  const { days, loading, error, refresh } = useUsage(input);
  const { unit } = useBalance(input.productId);
  const locale = useLocale();
  const { messages, say } = useMessages();
  const label = useId();
  if (loading) return <p role="status">{say('loading')}</p>;
  if (!days) return <ErrorMessage error={error} onRetry={() => void refresh()} />;
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return null;
  const most = Math.max(...days.map(({ used }) => used));
  const sum = days.reduce((before, { used }) => before + used, 0);
  const day = ({ start }: { start: string }) => <time dateTime={start.slice(0, 10)}>{formatDay(start, locale)}</time>;
  return (
    <div>
      <p id={label}>{say('usageOf', { what: say(input.member === undefined ? 'everything' : 'yourShare'), window: formatDays(days.length, locale) })}</p>
      <svg role="img" aria-labelledby={`${label} ${label}-sum`} viewBox={`0 0 ${days.length} 1`} preserveAspectRatio="none">
        <path d={days.map(({ used }, at) => `M${at + 0.1} 1h.8V${1 - used / Math.max(most, 1)}h-.8z`).join('')} />
      </svg>
      <p className="scrip-muted scrip-ends">{day(first)} {day(last)}</p>
      <p className="scrip-muted" id={`${label}-sum`}>{say('usedDaily', { amount: formatCredits(sum, unit ?? messages.credits, locale), most: formatCredits(most, null, locale) })}</p>
      <details className="scrip-ledger">
        <summary>{say('byDay')}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{say('when')}</th>
              <th scope="col" className="scrip-number">{say('deduction')}</th>
            </tr>
          </thead>
          <tbody>
            {days.map((each) => (
              <tr key={each.start}>
                <td>{day(each)}</td>
                <td className="scrip-number">{formatCredits(each.used, null, locale)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

function Left({ limit, member }: { limit: Limit; member: string | undefined }) {
  const { amount, remaining, resetsAt } = limit;
  const balance = useBalance(limit.productId ?? undefined);
  const locale = useLocale();
  const timeZone = useTimeZone();
  const { messages, say } = useMessages();
  const label = useId();
  const unit = limit.unit === 'operations' ? messages.operations : (balance.unit ?? messages.credits);
  const words = { left: formatCredits(remaining, null, locale), amount: formatCredits(amount, unit, locale), when: resetsAt ? formatInstant(resetsAt, locale, timeZone) : '' };
  const window = messages[`window.${limit.window}` as 'window.day'] ?? limit.window;
  return (
    <li>
      <p id={label}>{say('usageOf', { what: subject(limit, member, say), window })}</p>
      {/* A meter has a range: of nothing, nothing is left. */}
      <meter aria-labelledby={label} value={amount - remaining} max={Math.max(amount, 1)} />
      <p className="scrip-muted">{say(resetsAt ? 'leftUntil' : 'leftOf', words)}</p>
    </li>
  );
}

/** Whose use it counts, or for what. */
function subject({ scope }: Limit, member: string | undefined, say: ReturnType<typeof useMessages>['say']): string {
  const [kind, ...rest] = scope.split(':');
  const name = rest.join(':');
  if (kind === 'wallet') return say('everything');
  if (kind === 'member') return member !== undefined && (name === '*' || name === member) ? say('yourShare') : name === '*' ? say('eachMember') : name;
  if (name === '*') return say(kind === 'feature' ? 'eachFeature' : 'eachKey');
  return kind === 'feature' ? formatFeature(name) : name;
}
