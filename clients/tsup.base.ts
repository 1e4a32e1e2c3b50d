// How every package is built: plain ESM and CommonJS with types for each, what they share bundled in.
import type { Options } from 'tsup';

export const base: Options = {
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  dts: true,
  noExternal: ['@scrip-wallet/core'],
  clean: true,
  treeshake: true,
  outExtension: ({ format }) => ({ js: format === 'cjs' ? '.cjs' : '.js' }),
};
