import { defineConfig, type Options } from 'tsup';
import { base } from '../tsup.base.js';

/** What is a file of its own in the package, by how the sources name it. */
const FILES: Record<string, string> = { './client': 'client', './format': 'format', './messages/en': 'messages', '../messages/en': 'messages' };

const shared = (format: string): NonNullable<Options['esbuildPlugins']>[number] => ({
  name: 'files of their own',
  setup(build) {
    build.onResolve({ filter: /^\.\.?\/(client|format|messages\/en)$/ }, ({ path, importer }) => {
      const file = FILES[path];
      // Messages are made of themselves.
      if (!file || importer.includes('/messages/')) return undefined;
      return { path: `./${file}.${format === 'cjs' ? 'cjs' : 'js'}`, external: true };
    });
  },
});

// Once for each format: what they import of one another is called differently.
const builds = (options: Options): Options[] =>
  (['esm', 'cjs'] as const).map((format) => ({ ...base, noExternal: [], clean: false, format, esbuildPlugins: [shared(format)], ...options }));

export default defineConfig([
  ...builds({
    entry: { client: 'src/client.ts' },
    dts: false,
    // Copied components import what the package exports; inside the package that is this file.
    esbuildOptions(options) {
      options.alias = { '@scrip-wallet/react': './src/headless.ts' };
    },
  }),
  ...builds({ entry: { index: 'src/index.ts', format: 'src/format.ts', messages: 'src/messages/index.ts' }, dts: { entry: { index: 'src/index.ts', messages: 'src/messages/index.ts' } } }),
]);
