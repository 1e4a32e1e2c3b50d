// Starts `scrip dev` and the shop, and applies the shop's catalog. Both end with Ctrl-C; data stays under ./.scrip.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const NAME = 'Poster Press';
const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '../../target');
const binary = process.env.SCRIP_BINARY ?? ['release', 'debug'].map((kind) => join(target, kind, 'scrip')).find((path) => existsSync(path)) ?? 'scrip';
const dataDir = process.env.SHOP_DATA_DIR ?? join(here, '.scrip');

const scrip = spawn(binary, ['dev', '--listen', process.env.SHOP_SCRIP_LISTEN ?? '127.0.0.1:8787', '--data-dir', dataDir], {
  cwd: here,
  stdio: ['ignore', 'pipe', 'inherit'],
});
// Neither goes on without the other.
process.once('exit', () => scrip.kill());
scrip.once('exit', () => fail('Scrip has ended.'));
scrip.once('error', () => fail(`${binary} cannot be started: build it (cargo build), or name one in SCRIP_BINARY.`));
const url = await new Promise((resolve) => {
  let output = '';
  scrip.stdout.on('data', (chunk) => {
    output += chunk;
    const [, found] = /listening on (http\S+)[\s\S]*idempotencyKey/.exec(output) ?? [];
    if (found) resolve(found);
  });
});

const { admin_token: token } = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
async function admin(method, path, body) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/admin/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer.json();
}

const { projects } = await admin('GET', '/projects');
const project = projects.find(({ name }) => name === NAME) ?? (await admin('POST', '/projects', { name: NAME }));
await admin('PATCH', `/projects/${project.id}`, { provider: { kind: 'sandbox' } });
execFileSync(binary, ['apply', 'catalog.toml', '--url', url, '--data-dir', dataDir, '--project', project.id], { cwd: here });
const { keys } = await admin('GET', `/projects/${project.id}/keys`);

// What the page may know: an address and a key that are public.
process.env.VITE_SCRIP_URL = url;
process.env.VITE_SCRIP_KEY = keys.find(({ kind, revokedAt }) => kind === 'publishable' && !revokedAt).key;
const shop = await createServer({ root: here, server: { host: '127.0.0.1', port: Number(process.env.SHOP_PORT ?? 5173) } });
await shop.listen();
const [address] = shop.resolvedUrls.local;
console.log(`${NAME} is open: ${address}\nScrip is at ${url}, its dashboard at ${url}/dashboard (administrator token ${token})`);

/** Ends everything with a sentence. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

const end = async () => {
  scrip.removeAllListeners('exit');
  const ended = new Promise((done) => scrip.once('exit', done));
  scrip.kill('SIGTERM');
  await Promise.all([ended, shop.close()]);
  process.exit(0);
};
process.once('SIGINT', end).once('SIGTERM', end);
