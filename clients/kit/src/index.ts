// Starts the service itself, with its demo project, on a port and a data directory of its own.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BINARY: string = process.env['SCRIP_BINARY'] ?? fileURLToPath(new URL('../../../target/debug/scrip', import.meta.url));

/** What the demo project is. */
interface Demo {
  project: string;
  publishable_key: `pay_pk_${string}`;
  secret_key: `pay_sk_${string}`;
  product: string;
  price: string;
  tier: string;
  admin_token: string;
}

export interface Service {
  baseUrl: string;
  publishableKey: `pay_pk_${string}`;
  secretKey: `pay_sk_${string}`;
  project: string;
  /** Holds credits. */
  product: string;
  /** 1,000 credits once. */
  price: string;
  /** 500 credits a month. */
  tier: string;
  adminToken: string;
  /** Presses a button of the sandbox: `pay`, `fail`, `expire`. */
  press(checkoutUrl: string, button: string, fields?: Record<string, string>): Promise<void>;
  /** Calls the admin API. */
  admin<T>(method: string, path: string, body?: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** Starts it; limits that would slow tests down are out of the way unless the environment says otherwise. */
export async function startService(environment: Record<string, string> = {}): Promise<Service> {
  if (!existsSync(BINARY)) throw new Error(`no binary at ${BINARY}: cargo build`);
  const data = await mkdtemp(join(tmpdir(), 'scrip-clients-'));
  const env = { ...process.env, SCRIP_LIMITS_PUBLISHABLE_BURST: '100000', SCRIP_LIMITS_PUBLISHABLE_PER_SECOND: '100000', ...environment };
  const child = spawn(BINARY, ['dev', '--listen', '127.0.0.1:0', '--data-dir', data], { env, cwd: data, stdio: ['ignore', 'pipe', 'pipe'] });
  const baseUrl = await address(child);
  const demo = JSON.parse(await readFile(join(data, 'dev.json'), 'utf8')) as Demo;
  return {
    baseUrl,
    publishableKey: demo.publishable_key,
    secretKey: demo.secret_key,
    project: demo.project,
    product: demo.product,
    price: demo.price,
    tier: demo.tier,
    adminToken: demo.admin_token,
    press: async (url, button, fields = {}) => {
      const reply = await fetch(`${url}/${button}`, { method: 'POST', body: new URLSearchParams(fields) });
      if (!reply.ok) throw new Error(`${button}: ${reply.status} ${await reply.text()}`);
    },
    admin: async <T>(method: string, path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${demo.admin_token}`, 'content-type': 'application/json' };
      const reply = await fetch(`${baseUrl}/api/admin/v1${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
      return (text ? JSON.parse(text) : undefined) as T;
    },
    stop: async () => {
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      if (child.exitCode === null && child.kill('SIGTERM')) await gone;
      await rm(data, { recursive: true, force: true });
    },
  };
}

function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const hear = (chunk: Buffer) => {
      output += String(chunk);
      const found = /listening on (http:\S+)[\s\S]*idempotencyKey/.exec(output)?.[1];
      if (found) resolve(found);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`scrip dev ended with ${code}: ${output}`)));
  });
}
