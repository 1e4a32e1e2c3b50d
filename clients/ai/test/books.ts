// What holds do at the service, in memory: what is asked over the wire, and what is left.
import { ScripServer } from '@scrip-wallet/server';

export interface Books {
  scrip: ScripServer;
  /** What can be spent, what is set aside, what was taken. */
  state(): { balance: number; held: number; charged: number };
  /** Every call, such as `draw 3`. */
  asked: string[];
  /** Refuses what is asked of this kind from now on. */
  fail(verb: string): void;
}

export function books(balance: number): Books {
  const asked: string[] = [];
  const failing = new Set<string>();
  let [held, drawn, charged] = [0, 0, 0];
  let open = false;
  const answer = (status: number, body: object) => new Response(JSON.stringify(body), { status });
  const short = (requested: number) => answer(402, { code: 'insufficient_credits', message: 'Not enough credits.', balance, requested, shortfall: requested - balance, prices: [] });
  /** Takes from the hold, and what that lacks from the balance. */
  const take = (amount: number) => {
    const fromHold = Math.min(held, amount);
    held -= fromHold;
    balance -= amount - fromHold;
    charged += amount;
  };
  const fetch = (async (url: unknown, init: RequestInit = {}) => {
    const verb = String(url).split('/').at(-1) ?? '';
    const body = JSON.parse(String(init.body ?? '{}')) as { amount?: number };
    const amount = body.amount ?? 0;
    asked.push(`${verb}${body.amount === undefined ? '' : ` ${amount}`}`);
    if (failing.has(verb)) throw new TypeError('connection reset');
    switch (verb) {
      case 'holds':
        if (amount > balance) return short(amount);
        [balance, held, drawn, open] = [balance - amount, amount, 0, true];
        return answer(200, { holdId: 'hold_1', amount, balance, expiresAt: new Date(Date.now() + 900_000).toISOString() });
      case 'draw':
        if (amount > held + balance) return short(amount);
        take(amount);
        drawn += amount;
        return answer(200, { balance, deducted: true, drawn, held });
      case 'settle': {
        if (!open) return answer(409, { code: 'hold_closed', message: 'It is closed.' });
        const rest = Math.min(amount - drawn, held + balance);
        if (rest >= 0) take(rest);
        else [charged, balance] = [charged + rest, balance - rest];
        [balance, held, open] = [balance + held, 0, false];
        return answer(200, { balance, deducted: true, charged: drawn + rest, owed: 0, uncovered: amount - drawn - rest });
      }
      default:
        [balance, held, open] = [balance + held, 0, false];
        return answer(200, { balance });
    }
  }) as typeof globalThis.fetch;
  return {
    scrip: new ScripServer({ baseUrl: 'https://pay.example', secretKey: 'pay_sk_1', fetch, retries: 0 }),
    state: () => ({ balance, held, charged }),
    asked,
    fail: (verb) => void failing.add(verb),
  };
}
