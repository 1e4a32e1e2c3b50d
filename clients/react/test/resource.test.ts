import { describe, expect, it, vi } from 'vitest';
import { Resource } from '../src/store/resource';

/** A reading that ends when the test says. */
function held<T>() {
  const waiting: { resolve: (value: T) => void; reject: (error: unknown) => void }[] = [];
  const read = vi.fn(() => new Promise<T>((resolve, reject) => waiting.push({ resolve, reject })));
  const next = () => waiting.shift() ?? expect.fail('nothing is being read');
  return { read, next };
}

const settle = () => new Promise((done) => setTimeout(done));

describe('a resource', () => {
  it('is read once for all who look, and not at all before', async () => {
    const { read, next } = held<number>();
    const resource = new Resource(read);
    expect(read).not.toHaveBeenCalled();
    // The double effects of strict mode.
    resource.subscribe(() => {})();
    resource.subscribe(() => {});
    resource.subscribe(() => {});
    next().resolve(7);
    await settle();
    expect(resource.snapshot()).toEqual({ data: 7, error: undefined, loading: false });
    resource.subscribe(() => {});
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('never shows an answer that is older than a change', async () => {
    const { read, next } = held<string>();
    const resource = new Resource(read);
    const seen: unknown[] = [];
    resource.subscribe(() => seen.push(resource.snapshot().data));
    resource.invalidate();
    next().resolve('before the change');
    await settle();
    expect(seen).toEqual([]);
    next().resolve('after it');
    await settle();
    expect(seen).toEqual(['after it']);
  });

  it('gathers what changes while it is being read into one more reading', async () => {
    const { read, next } = held<number>();
    const resource = new Resource(read);
    resource.subscribe(() => {});
    for (let n = 0; n < 50; n++) resource.invalidate();
    next().resolve(1);
    await settle();
    next().resolve(2);
    await settle();
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('keeps what it knows when a later reading fails, and says so', async () => {
    const { read, next } = held<number>();
    const resource = new Resource(read);
    resource.subscribe(() => {});
    next().resolve(1);
    await settle();
    resource.invalidate();
    next().reject(new Error('gone'));
    await settle();
    expect(resource.snapshot()).toMatchObject({ data: 1, loading: false, error: { name: 'ScripError', message: 'gone' } });
    void resource.refresh();
    next().resolve(2);
    await settle();
    expect(resource.snapshot()).toEqual({ data: 2, error: undefined, loading: false });
  });

  it('is loading again while what failed is tried again', async () => {
    const { read, next } = held<number>();
    const resource = new Resource(read);
    resource.subscribe(() => {});
    next().reject(new Error('gone'));
    await settle();
    expect(resource.snapshot().loading).toBe(false);
    void resource.refresh();
    expect(resource.snapshot()).toEqual({ data: undefined, error: undefined, loading: true });
  });

  it('reads nothing again while nothing is shown', async () => {
    const { read, next } = held<number>();
    const resource = new Resource(read);
    const leave = resource.subscribe(() => {});
    next().resolve(1);
    await settle();
    leave();
    resource.invalidate();
    resource.invalidate();
    expect(read).toHaveBeenCalledTimes(1);
    resource.subscribe(() => {});
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('reads again where something was put in while it was being read', async () => {
    const { read, next } = held<number>();
    const resource = new Resource(read);
    resource.subscribe(() => {});
    next().resolve(10);
    await settle();
    resource.invalidate();
    resource.put((balance) => balance && balance - 3);
    next().resolve(10);
    await settle();
    expect(resource.snapshot().data).toBe(7);
    next().resolve(7);
    await settle();
    expect(resource.snapshot().data).toBe(7);
  });
});
