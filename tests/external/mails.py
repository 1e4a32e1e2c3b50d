# A mail server that reads each mail with Python's own parser. Prints its port, and then a line for each mail that it took;
# what it answers depends on whom a mail is for. With a certificate and its key it insists on STARTTLS.
import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP

SEEN = {}


def read(session, envelope):
    mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
    parts = list(mail.iter_parts())
    once = ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"]
    return {
        "to": envelope.rcpt_tos,
        "from": envelope.mail_from,
        "tls": session.ssl is not None,
        "kinds": [mail.get_content_type()] + [part.get_content_type() for part in parts],
        "charsets": [part.get_content_charset() for part in parts],
        "defects": [str(it) for one in [mail, *parts] for it in one.defects],
        "repeated": [name for name in once if len(mail.get_all(name, [])) != 1],
        "longest": max(len(line) for line in envelope.content.split(b"\r\n")),
        "headers": {name: str(value) for name, value in mail.items()},
        "text": mail.get_body(["plain"]).get_content(),
        "html": mail.get_body(["html"]).get_content(),
    }


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        name = address.split("@")[0]
        SEEN[name] = SEEN.get(name, 0) + 1
        refusals = {"nobody": "550 5.1.1 no such user", "blocked": "550 5.7.1 blocked", "full": "552 5.2.2 mailbox full"}
        if name in refusals:
            return refusals[name]
        if name == "busy" and SEEN[name] == 1:
            return "451 4.7.1 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        print(json.dumps(read(session, envelope)), flush=True)
        return "250 OK"


class Server(SMTP):
    async def smtp_DATA(self, arg):
        names = [address.split("@")[0] for address in self.envelope.rcpt_tos]
        if names == ["cut"] and SEEN["cut"] == 1:
            # In the middle of the mail.
            await self.push("354 go on")
            self.transport.abort()
            return
        await super().smtp_DATA(arg)


async def serve(certificate):
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)

    def session():
        return Server(Handler(), hostname="mail.example", tls_context=context, require_starttls=bool(context))

    server = await asyncio.get_running_loop().create_server(session, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve(sys.argv[1:]))
