// Follows docs/quick-start.md to the letter, in an empty folder: its commands in terminals, its page in
// Chromium, its answers compared. What it installs of @scrip-wallet/* are the packages of this folder, packed, as
// `scrip dev` serves them; all else comes from where npm usually has it. Prints how long it took from the empty
// folder to a spent credit, and to a paid one of a user who signed in.
//
// SCRIP_PACKAGES=FOLDER node follow.mjs BINARY
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '../external/node_modules/playwright-core/index.mjs';

const binary = resolve(process.argv[2]);
const page = readFileSync(fileURLToPath(new URL('../../docs/quick-start.md', import.meta.url)), 'utf8');

/** The page's blocks in order, without how to build Scrip: that is done. */
const blocks = [...page.slice(page.indexOf('\n## 1.')).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({ kind, text }));
/** These go on until they are ended. */
const SERVERS = ['scrip dev', 'npx vite', 'node members.mjs'];
/** The page names them, so they have to be free. */
const PORTS = [8787, 5173, 3000];

const folder = mkdtempSync(join(tmpdir(), 'scrip-quick-start-'));
const shop = join(folder, 'shop');
const started = [];

const taken = (port) =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true) || socket.end());
    socket.once('error', () => done(false));
  });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(what, seconds, look) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(100)) if (await look()) return;
  throw new Error(`not within ${seconds} s: ${what}`);
}

/** A terminal in the folder: what is pasted into it, and what it says. */
class Terminal {
  said = '';
  constructor(env) {
    // A group of its own, so that what it started ends with it.
    this.shell = spawn('bash', ['--norc'], { cwd: shop, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    for (const output of [this.shell.stdout, this.shell.stderr]) output.on('data', (chunk) => (this.said += chunk));
    started.push(this);
  }
  type(text) {
    this.shell.stdin.write(text);
  }
  /** Pastes commands and waits for their end: what they said, and whether the last one went well. */
  async paste(text) {
    const before = this.said.length;
    const mark = `done-${before}-${text.length}`;
    this.type(`${text}ended=$?; echo; echo "${mark} $ended"\n`);
    const ended = () => new RegExp(`${mark} (\\d+)`).exec(this.said.slice(before));
    await until(text, 300, () => ended() || this.shell.exitCode !== null);
    const said = this.said.slice(before);
    assert.equal(ended()?.[1], '0', `this failed:\n${text}\n${said}`);
    return said.slice(0, said.indexOf(mark)).trim();
  }
  end() {
    try {
      process.kill(-this.shell.pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
  }
}

/** What the page says to do at an address: buy, enter any address, press Pay, and draw. */
async function buyAndDraw(address) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const tab = await browser.newPage();
    await tab.goto(address);
    await tab.getByRole('button', { name: /buy/i }).first().click();
    await tab.getByRole('textbox', { name: /mail/i }).fill('ann@mail.example');
    await tab.getByRole('button', { name: /^pay(?! later)/i }).click();
    await tab.getByText('1,000').first().waitFor();
    await tab.getByRole('button', { name: 'Draw (1 credit)' }).click();
    await tab.getByText('999').first().waitFor();
  } finally {
    await browser.close();
  }
}

try {
  for (const port of PORTS) await until(`port ${port} is free, which the quick start names`, 60, async () => !(await taken(port)));
  mkdirSync(shop);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(binary, join(folder, 'bin/scrip'));
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };

  const begun = performance.now();
  const seconds = () => ((performance.now() - begun) / 1000).toFixed(1);
  const second = new Terminal(env);
  let last = '';
  for (const { kind, text } of blocks) {
    if (kind !== 'sh') {
      const shown = text.trim();
      assert.ok(last.endsWith(shown), `the page shows:\n${shown}\nand it said:\n${last}`);
      if (shown.includes('"deducted":true')) console.log(`a credit spent with curl ${seconds()} s after the empty folder`);
    } else if (SERVERS.includes(text.trim())) {
      const terminal = new Terminal(env);
      terminal.type(text);
      const port = PORTS[SERVERS.indexOf(text.trim())];
      await until(`${text.trim()} listens: ${terminal.said}`, 60, () => taken(port));
      if (port === 5173) {
        await buyAndDraw('http://localhost:5173');
        console.log(`a credit spent in React after ${seconds()} s`);
      }
      if (port === 3000) {
        await buyAndDraw('http://localhost:3000/sign-in/cleo');
        console.log(`a credit that a signed-in user paid for spent after ${seconds()} s`);
      }
    } else {
      last = await second.paste(text);
    }
  }
  console.log(`the whole page after ${seconds()} s`);
} catch (error) {
  for (const terminal of started) console.error(`--- a terminal said:\n${terminal.said.slice(-3000)}`);
  throw error;
} finally {
  for (const terminal of started) terminal.end();
  await pause(500);
  rmSync(folder, { recursive: true, force: true });
}
