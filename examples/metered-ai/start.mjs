// Starts `scrip dev` and the chat. Both end with Ctrl-C; what was bought stays under ./.scrip.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScripServer } from '@scrip-wallet/server';
import { chat } from './server.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '../../target');
const binary = process.env.SCRIP_BINARY ?? ['release', 'debug'].map((kind) => join(target, kind, 'scrip')).find((path) => existsSync(path)) ?? 'scrip';
const dataDir = process.env.CHAT_DATA_DIR ?? join(here, '.scrip');

const service = spawn(binary, ['dev', '--listen', process.env.CHAT_SCRIP_LISTEN ?? '127.0.0.1:8787', '--data-dir', dataDir], {
  cwd: here,
  stdio: ['ignore', 'pipe', 'inherit'],
});
// Neither goes on without the other.
process.once('exit', () => service.kill());
service.once('exit', () => fail('Scrip has ended.'));
service.once('error', () => fail(`${binary} cannot be started: build it (cargo build), or name one in SCRIP_BINARY.`));
const baseUrl = await new Promise((resolve) => {
  let output = '';
  service.stdout.on('data', (chunk) => {
    output += chunk;
    const [, found] = /listening on (http\S+)[\s\S]*idempotencyKey/.exec(output) ?? [];
    if (found) resolve(found);
  });
});

const { secret_key: secretKey, product: productId, project } = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
const applied = spawnSync(binary, ['apply', join(here, 'scrip.toml'), '--data-dir', dataDir, '--project', project], { encoding: 'utf8' });
if (applied.status !== 0) fail(`The rate card was refused: ${applied.stderr}`);
const scrip = new ScripServer({ baseUrl, secretKey });
const server = chat({ scrip, baseUrl, productId, delayMs: Number(process.env.CHAT_DELAY_MS ?? 40) });
const port = process.env.CHAT_PORT ?? '3000';
server.once('error', ({ code }) => fail(code === 'EADDRINUSE' ? `Port ${port} is in use: name another in CHAT_PORT.` : `Cannot listen on port ${port}: ${code}.`));
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
console.log(`The chat is open: http://127.0.0.1:${server.address().port}/\nScrip is at ${baseUrl}, its dashboard at ${baseUrl}/dashboard`);

/** Ends everything with a sentence. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

const end = async () => {
  service.removeAllListeners('exit');
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  server.close();
  server.closeAllConnections();
  await ended;
  process.exit(0);
};
process.once('SIGINT', end).once('SIGTERM', end);
