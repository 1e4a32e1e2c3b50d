// The packages as somebody installs them: packed, into an empty folder, imported and required, in Node, Bun,
// Deno and where there is nothing but fetch and Web Crypto; their types in strict projects; the code of their
// READMEs. Prints what each weighs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const binary = process.env.SCRIP_BINARY ?? join(root, '../target/debug/scrip');
if (!existsSync(binary)) throw new Error(`no binary at ${binary}: cargo build`);
const shop = mkdtempSync(join(tmpdir(), 'scrip-smoke-'));
const run = (program, words, options = {}) => execFileSync(program, words, { cwd: shop, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options });
const write = (name, text) => writeFileSync(join(shop, name), text);
const tsc = join(root, 'node_modules/.bin/tsc');

const packages = ['browser', 'server'];
const service = spawn(binary, ['dev', '--listen', '127.0.0.1:0', '--data-dir', join(shop, 'data')], { cwd: shop, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  // Packed and installed.
  write('package.json', '{"private":true}');
  const packed = packages.map((name) => JSON.parse(run('npm', ['pack', '--json', '--silent', '--pack-destination', shop], { cwd: join(root, name) }))[0]);
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packed.map(({ filename }) => `./${filename}`)]);
  for (const [n, name] of packages.entries()) {
    const installed = join(shop, 'node_modules/@scrip-wallet', name);
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).dependencies ?? {}), [], `${name} has dependencies`);
    for (const file of ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.cjs', 'dist/index.d.ts', 'dist/index.d.cts']) assert.ok(existsSync(join(installed, file)), `${name} lacks ${file}`);
    const { outputFiles } = await build({ entryPoints: [join(installed, 'dist/index.js')], bundle: true, minify: true, format: 'esm', write: false });
    const sizes = [`packed ${statSync(join(shop, packed[n].filename)).size}`, `minified and gzipped ${gzipSync(outputFiles[0].contents, { level: 9 }).length}`];
    console.log(`@scrip-wallet/${name}: ${sizes.join(' B, ')} B`);
  }

  // Types: strict, without skipping libraries but the compiler's own, and without Node's where there is none.
  const compile = (files, ...flags) => {
    const names = Object.keys(files);
    for (const name of names) write(name, files[name]);
    run(tsc, ['--noEmit', '--strict', '--skipDefaultLibCheck', '--exactOptionalPropertyTypes', '--target', 'es2022', ...flags, ...names], { stdio: ['ignore', 'inherit', 'inherit'] });
  };
  const readme = (name) => /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, name, 'README.md'), 'utf8'))[1];
  const model = 'declare const question: string, process: { env: Record<string, string | undefined> };\ndeclare function model(prompt: string, options: { signal: AbortSignal }): Promise<{ text: string; tokens: number }>;\n';
  const modes = [['--module', 'nodenext'], ['--module', 'esnext', '--moduleResolution', 'bundler'], ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '5.0']];
  for (const [n, mode] of modes.entries()) {
    const extension = n === 2 ? 'ts' : 'mts';
    // Top-level await is not for CommonJS.
    const wrap = (code) => (n === 2 ? code.replace(/^(import .*\n+(?:const scrip = .*\n)?)([\s\S]*)$/, '$1async function main() {\n$2}\nvoid main();\n') : code);
    const files = { [`browser.${extension}`]: wrap(readme('browser')), [`server.${extension}`]: model + wrap(readme('server')) };
    compile(files, '--lib', 'es2022,dom', ...mode);
  }
  // A back end knows Node's types, and no browser's.
  const node = ['--lib', 'es2022', '--types', 'node', '--typeRoots', join(root, 'node_modules/@types'), '--module', 'nodenext'];
  compile({ 'node.mts': "import { ScripServer } from '@scrip-wallet/server';\nnew ScripServer({ baseUrl: '', secretKey: process.env['SK'] });\n" }, ...node);

  // A service to talk to.
  const listening = await new Promise((resolve, reject) => {
    let output = '';
    service.stdout.on('data', (chunk) => {
      const found = /listening on (http:\S+)[\s\S]*idempotencyKey/.exec((output += chunk));
      if (found) resolve(found[1]);
    });
    service.once('exit', (code) => reject(new Error(`scrip dev ended with ${code}: ${output}`)));
  });
  const demo = JSON.parse(readFileSync(join(shop, 'data/dev.json'), 'utf8'));
  const env = { ...process.env, NO_COLOR: '1', BASE: listening, PK: demo.publishable_key, SK: demo.secret_key, PRODUCT: demo.product };
  const use = `
    const env = globalThis.process.env;
    const scrip = new server.ScripServer({ baseUrl: env.BASE, secretKey: env.SK });
    const externalUserId = 'smoke-' + crypto.randomUUID();
    await scrip.credit({ externalUserId, productId: env.PRODUCT, amount: 50, idempotencyKey: 'a' });
    const { balance } = await scrip.withHold({ externalUserId, amount: 20 }, async () => ({ amount: 8 }));
    let refused;
    try { await scrip.deduct({ externalUserId, amount: 99 }); } catch (error) { refused = server.isScripError(error, 'insufficient_credits') && error.shortfall; }
    let forged;
    try { server.verifyWebhook('{}', {}, 'whsec_AAAA'); } catch (error) { forged = error.code; }
    const visitor = new browser.Scrip({ baseUrl: env.BASE, publishableKey: env.PK });
    const { code } = await visitor.ensureWallet();
    const kept = (await visitor.wallet())?.code === code;
    console.log(JSON.stringify({ balance, refused, forged, kept }));
  `;
  const expected = { balance: 42, refused: 57, forged: 'invalid_signature', kept: true };
  write('use.mjs', `import * as server from '@scrip-wallet/server';\nimport * as browser from '@scrip-wallet/browser';\n${use}`);
  write('use.cjs', `const server = require('@scrip-wallet/server');\nconst browser = require('@scrip-wallet/browser');\n(async () => {${use}})();`);
  const runtimes = [
    ['Node', process.execPath, []],
    ['Bun', join(root, 'smoke/node_modules/.bin/bun'), ['run']],
    ['Deno', join(root, 'smoke/node_modules/.bin/deno'), ['run', '--allow-net', '--allow-env', '--allow-read', '--no-prompt']],
  ];
  for (const [name, program, words] of runtimes) {
    if (!existsSync(program)) {
      console.log(`NOT CHECKED: ${name}, which is not installed here`);
      continue;
    }
    for (const file of ['use.mjs', 'use.cjs']) assert.deepEqual(JSON.parse(run(program, [...words, file], { env }).trim()), expected, `${name} ${file}`);
    console.log(`${name}: imported and required`);
  }

  // An edge runtime has no more than this.
  const exports = {};
  const edge = { module: { exports }, exports, console, process: { env }, fetch, crypto, URL, URLSearchParams, Headers, Request, Response, AbortController, AbortSignal, TextEncoder, TextDecoder, setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask };
  edge.globalThis = edge;
  const output = [];
  edge.console = { log: (line) => output.push(line), error: (line) => output.push(line) };
  edge.require = (name) => {
    const module = { exports: {} };
    const code = readFileSync(createRequire(join(shop, 'x.cjs')).resolve(name), 'utf8');
    vm.runInContext(`(function (module, exports, require) {${code}\n})`, edge)(module, module.exports, () => {
      throw new Error(`${name} requires something`);
    });
    return module.exports;
  };
  vm.createContext(edge);
  await vm.runInContext(`(async () => { const server = require('@scrip-wallet/server'), browser = require('@scrip-wallet/browser'); ${use} })()`, edge);
  assert.deepEqual(JSON.parse(output[0]), expected);
  console.log('Nothing but fetch and Web Crypto: works');
} finally {
  service.kill('SIGTERM');
  await new Promise((resolve) => (service.exitCode === null ? service.once('exit', resolve) : resolve()));
  rmSync(shop, { recursive: true, force: true });
}
