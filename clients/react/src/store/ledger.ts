// A wallet's ledger as far as it was looked at, newest first.
import { isScripError, type LedgerEntry, type LedgerFilter as Filter, type Scrip } from '@scrip-wallet/browser';
import { Resource } from './resource';

/** What a list of entries may be narrowed to. */
export type LedgerFilter = Omit<Filter, 'cursor'>;

export interface LedgerPages {
  readonly entries: readonly LedgerEntry[];
  readonly nextCursor: string | null;
}

const EMPTY: LedgerPages = { entries: [], nextCursor: null };

export class Ledger {
  readonly pages: Resource<LedgerPages>;
  readonly #client: Scrip;
  readonly #filter: LedgerFilter;
  #older: Promise<void> | undefined;

  constructor(client: Scrip, filter: LedgerFilter) {
    this.#client = client;
    this.#filter = filter;
    this.pages = new Resource((before) => this.#newest(before));
  }

  /** Reads the next page, once however often it is asked for. */
  older(): Promise<void> {
    this.#older ??= this.#append().finally(() => {
      this.#older = undefined;
    });
    return this.#older;
  }

  async #newest(before: LedgerPages | undefined): Promise<LedgerPages> {
    const page = await this.#client.ledger(this.#filter).catch((error: unknown) => {
      if (isScripError(error, 'no_wallet') || isScripError(error, 'wallet_not_found')) return null;
      throw error;
    });
    if (!page) return EMPTY;
    const entries = page.items;
    // Entries never change, so older pages stay good where the new one meets them.
    const known = before?.entries[0]?.id;
    const met = known === undefined ? -1 : entries.findIndex(({ id }) => id === known);
    if (!before || met < 0) return { entries, nextCursor: page.nextCursor };
    return { entries: [...entries.slice(0, met), ...before.entries], nextCursor: before.nextCursor };
  }

  async #append(): Promise<void> {
    const cursor = this.pages.snapshot().data?.nextCursor;
    if (!cursor) return;
    const page = await this.#client.ledger({ ...this.#filter, cursor });
    this.pages.put((now) =>
      // Another wallet's ledger may have been opened.
      now?.nextCursor === cursor
        ? { entries: [...now.entries, ...page.items], nextCursor: page.nextCursor }
        : now,
    );
  }
}
