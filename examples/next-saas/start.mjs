// Starts `scrip dev` and the application. Both end with Ctrl-C; who signed up is forgotten, what was bought stays
// under ./.scrip.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '../../target');
const binary = process.env.SCRIP_BINARY ?? ['release', 'debug'].map((kind) => join(target, kind, 'scrip')).find((path) => existsSync(path));
if (!binary) throw new Error('there is no scrip yet: cargo build');
const dataDir = process.env.SAAS_DATA_DIR ?? join(here, '.scrip');
const port = process.env.SAAS_PORT ?? '3000';

/** A program, and its address once it says it. */
async function start(program, words, env, said) {
  const child = spawn(program, words, { cwd: here, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const found = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      const match = said.exec((text += chunk));
      if (match) resolve(match[1]);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${text}`)));
  });
  return { child, found };
}

const scrip = await start(binary, ['dev', '--listen', process.env.SAAS_SCRIP_LISTEN ?? '127.0.0.1:8787', '--data-dir', dataDir], {}, /listening on (http\S+)[\s\S]*idempotencyKey/);
const { secret_key: secretKey } = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
const home = `http://127.0.0.1:${port}`;
const env = { SCRIP_URL: scrip.found, SCRIP_SECRET_KEY: secretKey, APP_URL: home, AUTH_SECRET: randomBytes(32).toString('hex'), NEXT_TELEMETRY_DISABLED: '1' };
const next = await start(process.execPath, [join(here, 'node_modules/next/dist/bin/next'), 'start', '--hostname', '127.0.0.1', '--port', port], env, /(Ready in)/);
console.log(`The application is open: ${home}/\nScrip is at ${scrip.found}, its dashboard at ${scrip.found}/dashboard`);

const all = [scrip.child, next.child];
const end = async (code) => {
  for (const child of all) child.removeAllListeners('exit');
  const running = all.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ended = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ended);
  process.exit(code);
};
// One does not go on without the other.
for (const child of all) child.once('exit', () => void end(1));
process.once('SIGINT', () => void end(0)).once('SIGTERM', () => void end(0));
