# The same as webhooks.mjs, by the standard's own library for Python.
import base64
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def refuses(webhook, body, headers):
    try:
        webhook.verify(body, headers)
    except WebhookVerificationError:
        return True
    return False


with open(sys.argv[1], encoding="utf-8") as file:
    sent = json.load(file)
verified = 0
for delivery in sent["deliveries"]:
    headers, body = delivery["headers"], delivery["body"]
    for secret in sent["secrets"]:
        webhook = Webhook(secret)
        assert webhook.verify(body, headers) == json.loads(body)
        verified += 1
        assert refuses(webhook, body + " ", headers)
        assert refuses(webhook, body, {**headers, "webhook-id": "evt_other"})
    stranger = Webhook("whsec_" + base64.b64encode(bytes(32)).decode())
    assert refuses(stranger, body, headers)
print(f"{verified} verified")
