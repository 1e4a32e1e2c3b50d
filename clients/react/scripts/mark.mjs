// A bundler drops the directive of a file, and with it what a server's renderer must know: this puts it back.
import { readFile, writeFile } from 'node:fs/promises';

for (const name of ['client.js', 'client.cjs']) {
  const file = new URL(`../dist/${name}`, import.meta.url);
  await writeFile(file, `'use client';\n${await readFile(file, 'utf8')}`);
}
