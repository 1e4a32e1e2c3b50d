#!/usr/bin/env node
// Runs the program out of the package for this machine, which npm installs beside this one.
'use strict';
const { spawn } = require('node:child_process');
const { isatty } = require('node:tty');
const { optionalDependencies } = require('../package.json');

function fail(message) {
  console.error(`scrip: ${message}`);
  process.exit(1);
}

const platform = `${process.platform}-${process.arch}`;
const name = `@scrip-wallet/cli-${platform}`;
if (!optionalDependencies[name]) {
  const there = Object.keys(optionalDependencies).map((each) => each.slice('@scrip-wallet/cli-'.length));
  fail(`there is no program for ${platform}, only for ${there.join(' and ')}`);
}
let program;
try {
  program = require.resolve(`${name}/bin/scrip`);
} catch {
  fail(
    `the package ${name}, which has the program, is not installed. npm leaves it out with --omit=optional ` +
      'and with a lockfile or node_modules from another kind of machine: install again without them',
  );
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => fail(`${program}: ${error.message}`));
// A terminal's interrupt reaches the program by itself, and a second one would not wait for requests in flight.
const signals = ['SIGTERM', 'SIGHUP', ...([0, 1, 2].some(isatty) ? [] : ['SIGINT'])];
process.on('SIGINT', () => {});
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
