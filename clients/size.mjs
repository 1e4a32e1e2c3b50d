// Prints what each package weighs in a page or a server, minified and gzipped, and fails where that is too much.
// What is loaded only when it is needed is counted apart.
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const LIMITS = [
  { name: '@scrip-wallet/browser', entry: 'browser/dist/index.js', limit: 6_300, later: 2_500 },
  { name: '@scrip-wallet/react', entry: 'react/dist/index.js', limit: 17_300, external: ['@scrip-wallet/browser'] },
  { name: '@scrip-wallet/react, styles.css', entry: 'react/styles.css', limit: 2_000 },
  { name: '@scrip-wallet/ai', entry: 'ai/dist/index.js', limit: 4_000, external: ['ai', '@scrip-wallet/server'] },
  // No page loads it; the gathering of deductions is 2,300 of it.
  { name: '@scrip-wallet/server', entry: 'server/dist/index.js', limit: 14_900 },
];
const weigh = (files) => files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);

let failed = false;
for (const { name, entry, limit, later = 0, external = [] } of LIMITS) {
  const options = { bundle: true, minify: true, format: 'esm', target: 'es2022', outdir: 'out', write: false, logLevel: 'error' };
  const common = { ...options, entryPoints: [new URL(entry, import.meta.url).pathname] };
  const never = ['react', 'react-dom', 'react/jsx-runtime', ...external];
  // As a bundler packs it: what is loaded later is apart, and what both need is a file of its own.
  const { outputFiles, metafile } = await build({ ...common, external: never, splitting: true, metafile: true });
  const loaded = new Set();
  const load = (path) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind } of metafile.outputs[path]?.imports ?? []) if (kind === 'import-statement') load(next);
  };
  load(Object.keys(metafile.outputs).find((path) => metafile.outputs[path].entryPoint?.endsWith(entry)));
  const isLoaded = ({ path }) => [...loaded].some((each) => path.endsWith(each));
  const now = weigh(outputFiles.filter(isLoaded));
  const all = weigh(outputFiles);
  const extra = all - now;
  failed ||= now > limit || extra > later;
  console.log(`${name}: ${now} B of ${limit}${extra > 0 ? `, and ${extra} B of ${later} with the first session or checkout` : ''}`);
}
process.exit(failed ? 1 : 0);
