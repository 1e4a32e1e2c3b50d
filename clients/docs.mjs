// Every block of TypeScript in the documentation and in the packages' READMEs, compiled strictly: by the compiler
// that the packages are built with and by the newest, as somebody does who pastes it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const clients = fileURLToPath(new URL('.', import.meta.url));
const pages = [
  join(clients, '../README.md'),
  ...readdirSync(join(clients, '../docs')).filter((name) => name.endsWith('.md')).map((name) => join(clients, '../docs', name)),
  ...['ai', 'browser', 'react', 'server'].map((name) => join(clients, name, 'README.md')),
];
/** What a page leaves to its reader. */
const READERS = `
declare const scrip: import('@scrip-wallet/server').ScripServer;
declare const question: string;
declare function model(prompt: string, options: { name?: string; signal: AbortSignal }): Promise<{ text: string; tokens: number; usage: object }>;
declare function paint(prompt: string, size: string): Promise<URL>;
declare function ship(order: import('@scrip-wallet/server').Order): Promise<void>;
declare function currentUser(request: Request): Promise<{ id: string } | null>;
`;
const COMPILERS = ['node_modules/typescript', 'newest/node_modules/typescript'];

// Beside the packages, so that they are found as if they were installed.
const folder = mkdtempSync(join(clients, 'node_modules/.docs-'));
try {
  const files = [];
  for (const page of pages) {
    const text = readFileSync(page, 'utf8');
    for (const [, kind, block] of text.matchAll(/^```(tsx?)\n([\s\S]*?)^```$/gm)) {
      const name = `${page.slice(join(clients, '..').length).replace(/\W+/g, '-').replace(/^-/, '')}-${files.length}.${kind}`;
      // A piece of markup alone is of the components that it names.
      const names = [...new Set([...block.matchAll(/<([A-Z]\w*)/g)].map(([, each]) => each))];
      const isModule = /^(import|export) /m.test(block);
      const markup = `import { ${names.join(', ')} } from '@scrip-wallet/react';\nexport const block = (\n${block});\n`;
      writeFileSync(join(folder, name), isModule ? block : kind === 'tsx' ? markup : `export {};\n${block}`);
      files.push(name);
    }
  }
  if (files.length < 8) throw new Error(`only ${files.length} blocks were found`);
  writeFileSync(join(folder, 'readers.d.ts'), READERS);
  const compilerOptions = {
    target: 'ES2022', lib: ['ES2022', 'DOM', 'DOM.Iterable'], module: 'ESNext', moduleResolution: 'bundler', jsx: 'react-jsx',
    strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: ['node'], typeRoots: [join(clients, 'node_modules/@types')], skipLibCheck: true,
  };
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*'] }));
  for (const compiler of COMPILERS) {
    const { bin, version } = JSON.parse(readFileSync(join(clients, compiler, 'package.json'), 'utf8'));
    const tsc = join(clients, compiler, typeof bin === 'string' ? bin : bin.tsc);
    execFileSync(process.execPath, [tsc, '-p', folder], { cwd: folder, stdio: 'inherit' });
    console.log(`TypeScript ${version}: ${files.length} blocks of ${pages.length} pages compile, strictly`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
