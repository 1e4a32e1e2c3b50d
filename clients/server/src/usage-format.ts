// Of which kind a provider's usage object is, where the caller leaves that to its shape.
import { ScripError, usageShapes } from '@scrip-wallet/core';

const at = (usage: unknown, path: string): unknown => path.split('.').reduce<unknown>((value, step) => (value as Record<string, unknown> | null | undefined)?.[step], usage);

/** The input with the format of its usage, if it has one. */
export function formatted<T extends object>(input: T): T {
  const { usage, usageFormat } = input as { usage?: unknown; usageFormat?: unknown };
  if (usage == null || usageFormat != null) return input;
  const found = usageShapes.find(([, marks]) => marks.every((paths) => paths.some((path) => at(usage, path) != null)));
  if (!found) throw new ScripError('invalid_request', 'No usageFormat has the shape of this usage.', { param: 'usageFormat' });
  return { ...input, usageFormat: found[0] };
}
