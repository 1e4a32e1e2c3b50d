// The standard's own library for JavaScript: it verifies each delivery with each secret, and nothing that
// was changed on the way.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';

const { secrets, deliveries } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
let verified = 0;
for (const { headers, body } of deliveries) {
  for (const secret of secrets) {
    const webhook = new Webhook(secret);
    assert.deepEqual(webhook.verify(body, headers), JSON.parse(body));
    verified += 1;
    assert.throws(() => webhook.verify(`${body} `, headers));
    assert.throws(() => webhook.verify(body, { ...headers, 'webhook-id': 'evt_other' }));
  }
  const stranger = new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`);
  assert.throws(() => stranger.verify(body, headers));
}
console.log(`${verified} verified`);
