// The package as somebody installs it: packed, into an empty folder, with React 18 and with React 19; imported and
// required, rendered on a server, its types and the code of its README checked strictly.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const clients = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'scrip-packed-'));
const run = (cwd, program, ...words) => execFileSync(program, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const pack = (name) => {
  const [{ filename, size }] = JSON.parse(run(join(clients, name), 'npm', 'pack', '--json', '--silent', '--pack-destination', folder));
  return { path: join(folder, filename), size };
};
const readme = /```tsx\n([\s\S]*?)```/.exec(readFileSync(join(clients, 'react/README.md'), 'utf8'))[1];
const look = `
const html = renderToString(createElement(ScripProvider, { baseUrl: 'http://localhost', publishableKey: 'pay_pk_1' }, createElement(PricingTable)));
if (!html.includes('Loading prices')) throw new Error(html);
console.log(version.split('.')[0]);
`;

try {
  const packages = ['browser', 'react'].map(pack);
  console.log(`@scrip-wallet/react: packed ${packages[1].size} B`);
  for (const major of ['18', '19']) {
    const app = join(folder, major);
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{"private":true}');
    const words = [`react@${major}`, `react-dom@${major}`, `@types/react@${major}`, `@types/react-dom@${major}`, ...packages.map(({ path }) => path)];
    run(app, 'npm', 'install', '--silent', '--no-audit', '--no-fund', ...words);
    const installed = join(app, 'node_modules/@scrip-wallet/react');
    for (const file of ['LICENSE', 'README.md', 'styles.css', 'registry/pricing-table.json', 'src/components/paywall.tsx', 'dist/index.d.cts']) assert.ok(existsSync(join(installed, file)), `${file} is missing`);
    const names = { react: 'createElement, version', 'react-dom/server': 'renderToString', '@scrip-wallet/react': 'PricingTable, ScripProvider' };
    const code = (line) => Object.entries(names).map(line).join('\n') + look;
    writeFileSync(join(app, 'import.mjs'), code(([from, what]) => `import { ${what} } from '${from}';`));
    writeFileSync(join(app, 'require.cjs'), code(([from, what]) => `const { ${what} } = require('${from}');`));
    for (const file of ['import.mjs', 'require.cjs']) assert.equal(run(app, process.execPath, file).trim(), major, file);
    writeFileSync(join(app, 'app.tsx'), readme);
    const flags = ['--noEmit', '--strict', '--skipDefaultLibCheck', '--exactOptionalPropertyTypes', '--jsx', 'react-jsx', '--target', 'es2022', '--lib', 'es2022,dom', '--types', 'react'];
    // Once as bundlers resolve, once as Node does.
    const mode = major === '18' ? ['--module', 'nodenext'] : ['--module', 'esnext', '--moduleResolution', 'bundler'];
    // By the newest compiler, too, which asks what a style sheet is.
    for (const compiler of ['node_modules', 'newest/node_modules']) run(app, process.execPath, join(clients, compiler, 'typescript/bin/tsc'), ...flags, ...mode, 'app.tsx');
  }
  console.log('@scrip-wallet/react: imported, required, rendered and type-checked as installed, with React 18 and 19');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
