import { defineConfig } from 'tsup';
import { base } from '../tsup.base.js';

export default defineConfig({
  ...base,
  noExternal: [],
  // Copied components import what the package exports; inside the package that is this file.
  esbuildOptions(options) {
    options.alias = { '@scrip/react': './src/headless.ts' };
  },
  // A bundler drops the directive of a file, and with it what a server's renderer must know: this puts it back.
  treeshake: false,
  banner: { js: "'use client';" },
});
