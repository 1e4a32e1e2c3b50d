// Starts `scrip dev` and the application. Both end with Ctrl-C; users are forgotten, purchases stay under ./.scrip.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '../../target');
const binary = process.env.SCRIP_BINARY ?? ['release', 'debug'].map((kind) => join(target, kind, 'scrip')).find((path) => existsSync(path)) ?? 'scrip';
const dataDir = process.env.SAAS_DATA_DIR ?? join(here, '.scrip');
const port = process.env.SAAS_PORT ?? '3000';

/** Starts a program; its output names what it found once it is ready. Neither of the two goes on without the other. */
async function start(name, program, words, env, ready) {
  const child = spawn(program, words, { cwd: here, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  child.once('exit', () => fail(`${name} has ended.`));
  child.once('error', () => fail(`${program} cannot be started: build it (cargo build), or name one in SCRIP_BINARY.`));
  const found = await new Promise((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      const match = ready.exec((text += chunk));
      if (match) resolve(match[1]);
    });
  });
  return { child, found };
}

/** Ends everything with a sentence. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

const scrip = await start('Scrip', binary, ['dev', '--listen', process.env.SAAS_SCRIP_LISTEN ?? '127.0.0.1:8787', '--data-dir', dataDir], {}, /listening on (http\S+)[\s\S]*idempotencyKey/);
const { secret_key: secretKey } = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
const home = `http://127.0.0.1:${port}`;
const env = { SCRIP_URL: scrip.found, SCRIP_SECRET_KEY: secretKey, APP_URL: home, AUTH_SECRET: randomBytes(32).toString('hex'), NEXT_TELEMETRY_DISABLED: '1' };
const next = await start(`The application on port ${port} (SAAS_PORT names another)`, process.execPath, [join(here, 'node_modules/next/dist/bin/next'), 'start', '--hostname', '127.0.0.1', '--port', port], env, /(Ready in)/);
console.log(`The application is open: ${home}/\nScrip is at ${scrip.found}, its dashboard at ${scrip.found}/dashboard`);

const end = async () => {
  const all = [scrip.child, next.child];
  for (const child of all) child.removeAllListeners('exit');
  const running = all.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ended = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ended);
  process.exit(0);
};
process.once('SIGINT', end).once('SIGTERM', end);
