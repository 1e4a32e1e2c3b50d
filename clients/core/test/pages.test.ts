import { expect, it } from 'vitest';
import { entries } from '../src/index.js';

const collect = async <T>(from: AsyncIterable<T>) => {
  const all: T[] = [];
  for await (const each of from) all.push(each);
  return all;
};

it('reads page after page, and none that was not asked for', async () => {
  const asked: unknown[] = [];
  const page = async (cursor: string | null | undefined) => {
    asked.push(cursor);
    const n = Number(cursor ?? 0);
    return { items: [n, n + 1], nextCursor: n < 4 ? String(n + 2) : null };
  };
  expect(await collect(entries(page))).toEqual([0, 1, 2, 3, 4, 5]);
  asked.length = 0;
  for await (const n of entries(page, '2')) if (n === 3) break;
  expect(asked).toEqual(['2']);
});

it('ends where a cursor stands still', async () => {
  expect(await collect(entries(async () => ({ items: [1], nextCursor: 'same' }), 'same'))).toEqual([1]);
});
