// @vitest-environment node
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registryItemSchema, registrySchema } from 'shadcn/schema';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface File { path: string; target: string; content?: string }
interface Item { name: string; dependencies?: string[]; files: File[] }
const registry = JSON.parse(read('registry.json')) as { items: Item[] };
const components = registry.items.filter(({ name }) => name !== 'scrip-styles');

describe('the build', () => {
  it('keeps the directive for server components, first of all', () => {
    for (const file of ['dist/index.js', 'dist/index.cjs']) expect(read(file)).toMatch(/^'use client';/);
  });

  it('names nothing that only this package knows', () => {
    for (const file of ['dist/index.js', 'dist/index.cjs', 'dist/index.d.ts']) {
      const imports = [...read(file).matchAll(/(?:from |require\()["']([^"']+)/g)].map(([, name]) => name);
      expect(new Set(imports), file).toSatisfy((names: Set<string>) =>
        [...names].every((name) => ['@scrip/browser', 'react', 'react/jsx-runtime'].includes(name)),
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

  it('is source that stands by itself in another project', { timeout: 60_000 }, () => {
    expect(existsSync(join(root, 'dist/index.d.ts')), 'npm run build').toBe(true);
    // Beside the workspace's modules, so that React's types are found.
    const folder = mkdtempSync(join(root, '../node_modules/.scrip-copy-'));
    try {
      for (const { files } of components) {
        for (const { path, target } of files) {
          mkdirSync(dirname(join(folder, target)), { recursive: true });
          cpSync(join(root, path), join(folder, target));
        }
      }
      mkdirSync(join(folder, 'node_modules/@scrip'), { recursive: true });
      symlinkSync(root, join(folder, 'node_modules/@scrip/react'));
      const compilerOptions = {
        target: 'ES2022', module: 'ESNext', moduleResolution: 'bundler', jsx: 'react-jsx', strict: true, noEmit: true, types: [],
        lib: ['ES2022', 'DOM', 'DOM.Iterable'], skipLibCheck: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['components'] }));
      const tsc = join(root, '../node_modules/typescript/bin/tsc');
      expect(() => execFileSync('node', [tsc, '-p', folder], { encoding: 'utf8', stdio: 'pipe' })).not.toThrow();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
