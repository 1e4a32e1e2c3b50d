import axe from 'axe-core';
import { expect } from 'vitest';

/** Nothing keeps anybody out. What needs a layout, contrast among it, is judged in a browser: examples/shop. */
export async function accessible(element: Element): Promise<void> {
  const { violations, passes } = await axe.run(element, { rules: { 'color-contrast': { enabled: false } } });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
  expect(passes.length).toBeGreaterThan(0);
}
