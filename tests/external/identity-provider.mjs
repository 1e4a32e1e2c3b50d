// A real OpenID Connect provider, oidc-provider with its pages for development: any name that is typed signs in as that person, with
// an address at example.com. `eve` has an address that is not verified. Says on standard error where it is.
import http from 'node:http';
import Provider from 'oidc-provider';

const { BASE } = process.env;
const server = http.createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: 'scrip', client_secret: 'what the provider gave', redirect_uris: [`${BASE}/dashboard/sign-in/oidc/callback`] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  pkce: { required: () => true },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@Example.com`, email_verified: id !== 'eve' }),
  }),
});
server.on('request', provider.callback());
console.error(`provider at ${issuer} `);
