import { ScripError, newKey, type ScripEvent } from '@scrip-wallet/core';
import { Webhook } from 'standardwebhooks';

type HeaderBag = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * The event of a webhook, once it is certain that the service sent it, within the last five minutes.
 *
 * `body` is what arrived, byte by byte: an object that a framework made of it does not do. An event may come
 * more than once: its `id` stays the same. Several secrets: one of them has to fit, as while one is replaced.
 * Throws `invalid_signature`.
 */
export function verifyWebhook(body: string | Uint8Array, headers: HeaderBag, secret: string | readonly string[]): ScripEvent {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new ScripError('invalid_options', 'verifyWebhook needs the body as it arrived: a text or its bytes.');
  const webhooks = [secret].flat().map(webhookOf);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const given = Object.fromEntries(NAMES.map((name) => [name, header(headers, name)]));
  let cause: unknown;
  for (const webhook of webhooks) {
    try {
      // The library throws errors of its own kinds, and a SyntaxError for what is no JSON.
      const event = webhook.verify(text, given) as ScripEvent;
      return { ...event, id: given['webhook-id'] as string };
    } catch (error) {
      cause = error;
    }
  }
  throw new ScripError('invalid_signature', 'This webhook was not signed with this secret, or is too old.', { cause });
}

/** A delivery as the service would make it, for tests of an endpoint: its body, and its headers. */
export function signWebhook(
  event: Omit<ScripEvent, 'id' | 'timestamp' | 'recordedAt'> & Partial<ScripEvent>,
  secret: string,
): { body: string; headers: Record<(typeof NAMES)[number] | 'content-type', string> } {
  const now = new Date();
  const { id = `evt_${newKey()}`, ...rest } = event;
  const body = JSON.stringify({ timestamp: now.toISOString(), recordedAt: now.toISOString(), ...rest });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': webhookOf(secret).sign(id, now, body),
  };
  return { body, headers };
}

function webhookOf(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    throw new ScripError('invalid_options', 'Not the secret of a webhook (whsec_…).');
  }
}

function header(headers: HeaderBag, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  // Node's are in lower case, a proxy's or a test's need not be.
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : (found?.[0] ?? '');
}
