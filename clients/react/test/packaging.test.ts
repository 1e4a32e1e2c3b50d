// @vitest-environment node
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { registryItemSchema, registrySchema } from 'shadcn/schema';
import { describe, expect, it } from 'vitest';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface File { path: string; target: string; content?: string }
interface Item { name: string; dependencies?: string[]; files: File[] }
const registry = JSON.parse(read('registry.json')) as { items: Item[] };
const components = registry.items.filter(({ name }) => name !== 'scrip-styles');

describe('the build', () => {
  it('keeps the directive for server components, first of all', () => {
    for (const file of ['dist/client.js', 'dist/client.cjs']) expect(read(file)).toMatch(/^'use client';/);
  });

  it('leaves to servers what needs no browser', async () => {
    for (const file of ['dist/index.js', 'dist/format.js', 'dist/messages.js', 'dist/index.cjs', 'dist/format.cjs']) expect(read(file)).not.toContain('use client');
    // As a server component does, which may call nothing of what is marked.
    const { formatPrice, isScripError } = (await import(join(root, 'dist/index.js'))) as typeof import('../src');
    expect(formatPrice({ amountCents: 900, currency: 'EUR', interval: 'month' }, 'en')).toBe('€9.00 a month');
    expect(isScripError(new Error('no'))).toBe(false);
  });

  it('names nothing that only this package knows', () => {
    for (const file of ['index', 'client', 'format', 'messages'].flatMap((name) => [`dist/${name}.js`, `dist/${name}.cjs`]).concat('dist/index.d.ts')) {
      const imports = [...read(file).matchAll(/(?:from |require\()["']([^"']+)/g)].map(([, name]) => name);
      expect(new Set(imports), file).toSatisfy((names: Set<string>) =>
        [...names].every((name) => ['@scrip-wallet/browser', 'react', 'react/jsx-runtime'].includes(name ?? '') || existsSync(join(root, 'dist', name ?? '')) || existsSync(join(root, 'dist', (name ?? '').replace(/\.js$/, '.d.ts')))),
      );
    }
  });
});

describe('the registry', () => {
  it('is as shadcn has it', () => {
    expect(registrySchema.safeParse(registry).error).toBeUndefined();
  });

  it('has every component', () => {
    const files = readdirSync(join(root, 'src/components')).map((file) => file.replace('.tsx', ''));
    expect(components.map(({ name }) => name).sort()).toEqual(files.sort());
  });

  it.each(registry.items.map((item) => [item.name, item] as const))('%s carries the source itself, and all that it needs', (name, item) => {
    const built = JSON.parse(read(`registry/${name}.json`)) as Item;
    expect(registryItemSchema.safeParse(built).error).toBeUndefined();
    expect(built.files.map(({ path, content }) => [path, content])).toEqual(item.files.map(({ path }) => [path, read(path)]));
    const there = new Set(built.files.map(({ target }) => target));
    for (const { content, target } of built.files) {
      const relative = [...(content ?? '').matchAll(/from '(\.[^']*)'/g)].map(([, to]) => join(dirname(target), `${to}.tsx`));
      expect(relative.filter((file) => !there.has(file))).toEqual([]);
      if (target.endsWith('.tsx')) expect(content).toMatch(/^'use client';/);
    }
  });

  it('is put into another project by shadcn’s own command, where it stands by itself', { timeout: 120_000 }, async () => {
    expect(existsSync(join(root, 'dist/index.d.ts')), 'npm run build').toBe(true);
    // Beside the workspace's modules, so that React's types are found.
    const folder = mkdtempSync(join(root, '../node_modules/.scrip-copy-'));
    const write = (path: string, value: object) => writeFileSync(join(folder, path), JSON.stringify(value));
    // The command asks shadcn's own site for a colour of its own.
    const site = createServer((_, response) => {
      const colours = { light: {}, dark: {} };
      response.end(JSON.stringify({ inlineColors: colours, cssVars: colours, inlineColorsTemplate: '', cssVarsTemplate: '' }));
    });
    await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
    try {
      const paths = { '@/*': ['./src/*'] };
      const aliases = Object.fromEntries(['components', 'utils', 'ui', 'lib', 'hooks'].map((name) => [name, `@/${name}`]));
      const tailwind = { config: '', css: 'src/index.css', baseColor: 'neutral', cssVariables: false };
      mkdirSync(join(folder, 'src'));
      writeFileSync(join(folder, 'src/index.css'), '');
      write('package.json', { private: true, type: 'module', dependencies: { react: '19' } });
      write('components.json', { style: 'new-york', rsc: true, tsx: true, tailwind, aliases });
      const compilerOptions = {
        target: 'ES2022', module: 'ESNext', moduleResolution: 'bundler', jsx: 'react-jsx', strict: true, noEmit: true, types: [],
        lib: ['ES2022', 'DOM', 'DOM.Iterable'], skipLibCheck: true, baseUrl: '.', paths,
      };
      write('tsconfig.json', { compilerOptions, include: ['src'] });
      const items = registry.items.map(({ name }) => {
        // It would be fetched from npm: here it is what was just built.
        const { dependencies: _, ...item } = JSON.parse(read(`registry/${name}.json`)) as Item;
        write(`${name}.json`, item);
        return `./${name}.json`;
      });
      const env = { ...process.env, REGISTRY_URL: `http://127.0.0.1:${(site.address() as AddressInfo).port}` };
      const shadcn = join(root, '../node_modules/shadcn/dist/index.js');
      await execute('node', [shadcn, 'add', ...items, '--yes', '--overwrite'], { cwd: folder, env });
      for (const { files } of registry.items) {
        for (const { path, target } of files) expect(readFileSync(join(folder, 'src', target), 'utf8'), target).toBe(read(path));
      }
      mkdirSync(join(folder, 'node_modules/@scrip-wallet'), { recursive: true });
      symlinkSync(root, join(folder, 'node_modules/@scrip-wallet/react'));
      await execute('node', [join(root, '../node_modules/typescript/bin/tsc'), '-p', folder]);
    } finally {
      site.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
