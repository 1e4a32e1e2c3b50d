// Work against a hold, against the service itself: nothing stays held and nothing is free, however it ends.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripServer, isScripError, type Outcome, type RunningHold } from '../src/index.js';

let service: Service;
let scrip: ScripServer;
beforeAll(async () => {
  service = await startService();
  scrip = new ScripServer(service);
});
afterAll(() => service?.stop());

const user = async (amount: number) => {
  const externalUserId = `user-${randomUUID()}`;
  await scrip.credit({ externalUserId, productId: service.product, amount, idempotencyKey: 'first' });
  return externalUserId;
};
const state = async (externalUserId: string) => {
  const [found] = (await scrip.wallet({ externalUserId })).balances;
  return [found?.balance, found?.held ?? 0];
};

it('is charged what it cost, and no more', async () => {
  const externalUserId = await user(100);
  const outcome = await scrip.withHold({ externalUserId, amount: 40 }, async (hold) => {
    expect(await state(externalUserId)).toEqual([60, 40]);
    expect(hold).toMatchObject({ amount: 40, balance: 60, holdId: expect.stringMatching(/^hold_/) });
    return { amount: 12, value: 'an answer' };
  });
  expectTypeOf(outcome).toEqualTypeOf<Outcome<string>>();
  expect(outcome).toEqual({ value: 'an answer', balance: 88, charged: 12, owed: 0, uncovered: 0 });
  expect(await state(externalUserId)).toEqual([88, 0]);
});

it('may be noted, over the note of its hold, also where it is paid for later', async () => {
  const externalUserId = await user(100);
  const hold = { externalUserId, amount: 40, onShortfall: 'refuse', meta: { feature: 'chat', run: 1 } } as const;
  const call = scrip.withHold(hold, async ({ draw }) => {
    await draw(3, { meta: { run: 2 } });
    return { amount: 130, meta: { estimated: true } };
  });
  const error = await call.catch((thrown: unknown) => thrown);
  if (!isScripError(error, 'settle_failed')) throw error;
  await scrip.credit({ externalUserId, productId: service.product, amount: 100, idempotencyKey: 'more' });
  await error.resume();
  const { items } = await scrip.ledger({ externalUserId }, { reason: 'deduction' });
  expect(items.map(({ delta, meta }) => [delta, meta])).toEqual([
    [-127, { feature: 'chat', run: 1, estimated: true }],
    [-3, { feature: 'chat', run: 2 }],
  ]);
});

it('that turned out free costs nothing', async () => {
  const externalUserId = await user(100);
  expect(await scrip.withHold({ externalUserId, amount: 40 }, async () => ({ amount: 0 }))).toMatchObject({ charged: 0, balance: 100 });
  expect(await state(externalUserId)).toEqual([100, 0]);
});

it('that cost more than was held takes the rest from the balance', async () => {
  const externalUserId = await user(100);
  expect(await scrip.withHold({ externalUserId, amount: 40 }, async () => ({ amount: 90 }))).toMatchObject({ charged: 90, balance: 10, uncovered: 0 });
});

it('that cost more than there is takes what there is, delivers, and says what is missing', async () => {
  const externalUserId = await user(100);
  const outcome = await scrip.withHold({ externalUserId, amount: 40 }, async () => ({ amount: 130, value: 'done' }));
  expect(outcome).toEqual({ value: 'done', charged: 100, balance: 0, owed: 0, uncovered: 30 });
  expect(await state(externalUserId)).toEqual([0, 0]);
});

it('that may not come short is not settled, but not lost: what was made is on the error, to be paid for later', async () => {
  const externalUserId = await user(100);
  const call = scrip.withHold({ externalUserId, amount: 40, onShortfall: 'refuse' }, async () => ({ amount: 130, value: 'done' }));
  const error = await call.catch((thrown: unknown) => thrown);
  if (!isScripError(error, 'settle_failed')) throw error;
  expect(error).toMatchObject({ status: 402, amount: 130, value: 'done', cause: { code: 'insufficient_credits' }, holdId: expect.stringMatching(/^hold_/) });
  expect(await state(externalUserId)).toEqual([60, 40]);
  await scrip.credit({ externalUserId, productId: service.product, amount: 50, idempotencyKey: 'more' });
  expect(await error.resume()).toEqual({ value: 'done', charged: 130, balance: 20, owed: 0, uncovered: 0 });
});

it('that throws costs nothing, and its own error comes out', async () => {
  const externalUserId = await user(100);
  const broken = new RangeError('the model is on fire');
  await expect(
    scrip.withHold({ externalUserId, amount: 40 }, async () => {
      throw broken;
    }),
  ).rejects.toBe(broken);
  expect(await state(externalUserId)).toEqual([100, 0]);
});

it('that does not say what it cost is refused, and costs nothing', async () => {
  const externalUserId = await user(100);
  for (const amount of [undefined, NaN, -1, 1.5, '3', 2 ** 53])
    await expect(scrip.withHold({ externalUserId, amount: 40 }, async () => ({ amount: amount as number }))).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'amount',
    });
  // @ts-expect-error: nor does it compile.
  await expect(scrip.withHold({ externalUserId, amount: 40 }, async () => undefined)).rejects.toMatchObject({ code: 'invalid_request' });
  expect(await state(externalUserId)).toEqual([100, 0]);
});

it('is not begun where credits are missing', async () => {
  const externalUserId = await user(10);
  let begun = false;
  const call = scrip.withHold({ externalUserId, amount: 40 }, async () => {
    begun = true;
    return { amount: 1 };
  });
  await expect(call).rejects.toSatisfy((error) => isScripError(error, 'insufficient_credits') && error.shortfall === 30);
  expect(begun).toBe(false);
});

describe('an abort', () => {
  const untilAborted = (hold: RunningHold) => new Promise<never>((_, reject) => hold.signal.addEventListener('abort', () => reject(hold.signal.reason)));

  it('reaches the work, and gives all of it back', async () => {
    const externalUserId = await user(100);
    const stop = new AbortController();
    const reason = new Error('the user closed the tab');
    const work = async (hold: RunningHold) => {
      const ended = untilAborted(hold);
      stop.abort(reason);
      return ended;
    };
    await expect(scrip.withHold({ externalUserId, amount: 40 }, work, { signal: stop.signal })).rejects.toBe(reason);
    expect(await state(externalUserId)).toEqual([100, 0]);
  });

  it('that came before places no hold', async () => {
    const externalUserId = await user(100);
    const call = scrip.withHold({ externalUserId, amount: 40 }, async () => ({ amount: 1 }), { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(await state(externalUserId)).toEqual([100, 0]);
  });

  it('while the hold is placed gives it back, and begins nothing', async () => {
    const externalUserId = await user(100);
    const stop = new AbortController();
    const slow = new ScripServer({
      ...service,
      fetch: async (...given) => {
        const response = await fetch(...given);
        if (String(given[0]).endsWith('/holds')) stop.abort();
        return response;
      },
    });
    let begun = false;
    const work = async () => {
      begun = true;
      return { amount: 1 };
    };
    await expect(slow.withHold({ externalUserId, amount: 40 }, work, { signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' });
    expect(begun).toBe(false);
    expect(await state(externalUserId)).toEqual([100, 0]);
  });

  it('charges what was done until then, where the work says so', async () => {
    const externalUserId = await user(100);
    const stop = new AbortController();
    const outcome = await scrip.withHold(
      { externalUserId, amount: 40 },
      async (hold) => {
        const ended = untilAborted(hold).catch(() => undefined);
        stop.abort();
        await ended;
        return { amount: 5, value: 'half an answer' };
      },
      { signal: stop.signal },
    );
    expect(outcome).toMatchObject({ charged: 5, balance: 95 });
  });
});

describe('a key of the caller', () => {
  it('is used once: what was begun under it before is not done for free', async () => {
    const externalUserId = await user(100);
    let runs = 0;
    const run = () =>
      scrip.withHold({ externalUserId, amount: 40, idempotencyKey: 'chat-1' }, async () => {
        runs += 1;
        return { amount: 10 };
      });
    await run();
    await expect(run()).rejects.toMatchObject({ code: 'hold_replayed', idempotencyKey: 'chat-1' });
    expect(runs).toBe(1);
    expect(await state(externalUserId)).toEqual([90, 0]);
  });

  it('of many at once lets one of them in', async () => {
    const externalUserId = await user(100);
    let runs = 0;
    const all = Array.from({ length: 10 }, () =>
      scrip.withHold({ externalUserId, amount: 5, idempotencyKey: 'same' }, async () => {
        runs += 1;
        return { amount: 5 };
      }),
    );
    const ends = await Promise.allSettled(all);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(runs).toBe(1);
  });

  it('may be used again where nothing was charged under it', async () => {
    const externalUserId = await user(100);
    const key = { externalUserId, amount: 40, idempotencyKey: 'job-6' };
    const failing = async () => Promise.reject(new Error('the work is on fire'));
    for (let at = 1; at <= 3; at++) await expect(scrip.withHold({ ...key, resume: at > 1 }, failing)).rejects.toThrow('on fire');
    expect(await scrip.withHold(key, async () => ({ amount: 9 }))).toMatchObject({ charged: 9, balance: 91 });
    await expect(scrip.withHold(key, async () => ({ amount: 9 }))).rejects.toMatchObject({ code: 'hold_replayed', idempotencyKey: 'job-6#4' });
    expect(await state(externalUserId)).toEqual([91, 0]);
  });

  it('of two runs of a job leaves the hold to the one that works when the other fails', async () => {
    const externalUserId = await user(100);
    const key = { externalUserId, amount: 40, idempotencyKey: 'job-5', resume: true };
    const outcome = await scrip.withHold(key, async () => {
      await expect(scrip.withHold(key, async () => Promise.reject(new Error('the work is on fire')))).rejects.toThrow('on fire');
      return { amount: 9 };
    });
    expect(outcome).toMatchObject({ charged: 9, balance: 91 });
  });

  it('takes up an open hold where it is asked to, and no closed one', async () => {
    const externalUserId = await user(100);
    const key = { externalUserId, amount: 40, idempotencyKey: 'job-7' };
    // A worker that died.
    await scrip.hold(key);
    expect(await scrip.withHold({ ...key, resume: true }, async () => ({ amount: 9 }))).toMatchObject({ charged: 9, balance: 91 });
    await expect(scrip.withHold({ ...key, resume: true }, async () => ({ amount: 9 }))).rejects.toMatchObject({ code: 'hold_closed' });
    expect(await state(externalUserId)).toEqual([91, 0]);
  });
});

describe('a run that takes long', () => {
  // Its own clock alone: what goes to the service takes the time that it takes.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it('keeps its hold open', async () => {
    const externalUserId = await user(100);
    const extended: Promise<Response>[] = [];
    const watched: typeof fetch = (...given) => {
      const answer = fetch(...given);
      if (String(given[0]).endsWith('/extend')) extended.push(answer);
      return answer;
    };
    const patient = new ScripServer({ ...service, fetch: watched });
    await patient.withHold({ externalUserId, amount: 40, expiresInSeconds: 60 }, async ({ holdId, expiresAt }) => {
      // Three times as long as it would be open by itself, and never within half of its end.
      for (let n = 0; n < 9; n++) {
        vi.advanceTimersByTime(20_000);
        expect((await extended[n])?.status).toBe(200);
      }
      expect(Date.parse((await scrip.getHold(holdId)).expiresAt)).toBeGreaterThan(Date.parse(expiresAt));
      return { amount: 3 };
    });
    vi.advanceTimersByTime(60_000);
    expect(extended).toHaveLength(9);
    expect(await state(externalUserId)).toEqual([97, 0]);
  });

  it('is aborted when its hold is closed while it runs', async () => {
    const externalUserId = await user(100);
    const call = scrip.withHold({ externalUserId, amount: 40, expiresInSeconds: 60 }, async (hold) => {
      await scrip.release(hold.holdId);
      vi.advanceTimersByTime(20_000);
      await new Promise((resolve) => hold.signal.addEventListener('abort', resolve));
      throw hold.signal.reason;
    });
    await expect(call).rejects.toMatchObject({ code: 'hold_closed' });
    expect(await state(externalUserId)).toEqual([100, 0]);
  });
});

describe('a draw', () => {
  it('charges while the work goes on, and what is settled counts it in', async () => {
    const externalUserId = await user(100);
    const outcome = await scrip.withHold({ externalUserId, amount: 40 }, async (hold) => {
      expect(await hold.draw(10)).toMatchObject({ deducted: true, drawn: 10, held: 30 });
      expect(await hold.draw(5, { idempotencyKey: 'second' })).toMatchObject({ deducted: true, drawn: 15 });
      expect(await hold.draw(5, { idempotencyKey: 'second' })).toMatchObject({ deducted: false, drawn: 15 });
      expect(await state(externalUserId)).toEqual([60, 25]);
      return { amount: 22 };
    });
    expect(outcome).toMatchObject({ charged: 22, balance: 78 });
    expect(await state(externalUserId)).toEqual([78, 0]);
  });

  it('stays charged where the work then throws', async () => {
    const externalUserId = await user(100);
    const broken = async (hold: RunningHold) => {
      await hold.draw(10);
      throw new RangeError('the model is on fire');
    };
    await expect(scrip.withHold({ externalUserId, amount: 40 }, broken)).rejects.toThrow(RangeError);
    expect(await state(externalUserId)).toEqual([90, 0]);
  });

  it('whose answer was lost took its credits, and says so', async () => {
    const externalUserId = await user(100);
    const lossy = losing(/\/draw$/, 2);
    await lossy.withHold({ externalUserId, amount: 40 }, async (hold) => {
      expect(await hold.draw(10)).toMatchObject({ deducted: true, drawn: 10 });
      return { amount: 10 };
    });
    expect(await state(externalUserId)).toEqual([90, 0]);
  });
});

/** A client that never receives the first answers of an address; of all of them where no number is given. */
function losing(address: RegExp, times = Infinity) {
  let lost = 0;
  return new ScripServer({
    ...service,
    fetch: async (...given) => {
      const response = await fetch(...given);
      if (address.test(String(given[0])) && lost++ < times) throw new TypeError('connection reset');
      return response;
    },
  });
}

describe('an answer that is lost', () => {
  it('while the hold is placed ends nothing, with a key of the caller either: it is the same run', async () => {
    const externalUserId = await user(100);
    const outcome = await losing(/holds$/, 1).withHold({ externalUserId, amount: 40, idempotencyKey: 'chat-1' }, async () => ({ amount: 9 }));
    expect(outcome).toMatchObject({ charged: 9, balance: 91 });
    expect(await state(externalUserId)).toEqual([91, 0]);
  });

  it('does not let a run in whose key another one has, nor one that comes after it', async () => {
    const externalUserId = await user(100);
    const key = { externalUserId, amount: 40, idempotencyKey: 'chat-2' };
    await scrip.hold({ ...key, expiresInSeconds: 600 });
    let begun = false;
    const work = async () => {
      begun = true;
      return { amount: 9 };
    };
    await expect(losing(/holds$/, 1).withHold(key, work)).rejects.toMatchObject({ code: 'hold_replayed' });
    await scrip.withHold({ ...key, resume: true }, async () => ({ amount: 9 }));
    await expect(losing(/holds$/, 1).withHold(key, work)).rejects.toMatchObject({ code: 'hold_replayed' });
    expect(begun).toBe(false);
  });

  it('of a settlement that never arrives leaves what was made on the error, and is paid for once', async () => {
    const externalUserId = await user(100);
    const call = losing(/settle$/).withHold({ externalUserId, amount: 40, idempotencyKey: 'chat-3' }, async () => ({ amount: 12, value: { text: 'an answer' } }));
    const error = await call.catch((thrown: unknown) => thrown);
    if (!isScripError(error, 'settle_failed')) throw error;
    expect(error).toMatchObject({ idempotencyKey: 'chat-3', amount: 12, value: { text: 'an answer' }, cause: { code: 'network_error' } });
    // It had been taken; asked again, it is not taken again.
    expect(await state(externalUserId)).toEqual([88, 0]);
    expect((await scrip.getHold(error.holdId)).status).toBe('settled');
    await expect(error.resume()).rejects.toMatchObject({ code: 'settle_failed', value: { text: 'an answer' } });
    expect(await state(externalUserId)).toEqual([88, 0]);
  });
});

// Last: it moves the clock of the project on.
it('whose hold ended while it ran, unnoticed, is charged all the same', async () => {
  const externalUserId = await user(100);
  const outcome = await scrip.withHold({ externalUserId, amount: 40, expiresInSeconds: 60 }, async ({ holdId }) => {
    await service.admin('POST', `/projects/${service.project}/sandbox/advance`, { seconds: 3_600 });
    expect((await scrip.getHold(holdId)).status).toBe('expired');
    return { amount: 12, value: 'made too late' };
  });
  expect(outcome).toEqual({ value: 'made too late', charged: 12, owed: 0, uncovered: 0, balance: 88 });
  expect(await state(externalUserId)).toEqual([88, 0]);
});
