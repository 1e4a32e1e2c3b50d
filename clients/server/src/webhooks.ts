import { ScripError } from '@scrip/core';
import { Webhook } from 'standardwebhooks';
import type { ScripEvent } from './input.js';

type HeaderBag = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * The event of a webhook, once it is certain that the service sent it, within the last five minutes.
 *
 * `body` is what arrived, byte by byte: an object that a framework made of it does not do. An event may come
 * more than once: its `id` stays the same. Throws `invalid_signature`.
 */
export function verifyWebhook(body: string | Uint8Array, headers: HeaderBag, secret: string): ScripEvent {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new ScripError('invalid_options', 'verifyWebhook needs the body as it arrived: a text or its bytes.');
  let webhook: Webhook;
  try {
    webhook = new Webhook(secret);
  } catch {
    throw new ScripError('invalid_options', 'Not the secret of a webhook (whsec_…).');
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const given = Object.fromEntries(NAMES.map((name) => [name, header(headers, name)]));
  try {
    // The library throws errors of its own kinds, and a SyntaxError for what is no JSON.
    const event = webhook.verify(text, given) as Omit<ScripEvent, 'id'>;
    return { ...event, id: given['webhook-id'] as string };
  } catch (cause) {
    throw new ScripError('invalid_signature', 'This webhook was not signed with this secret, or is too old.', { cause });
  }
}

function header(headers: HeaderBag, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  // Node's are in lower case, a proxy's or a test's need not be.
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : (found?.[0] ?? '');
}
