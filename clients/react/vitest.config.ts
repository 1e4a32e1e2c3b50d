import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
// What copied components import is what the package exports.
const own = { find: /^@scrip-wallet\/react$/, replacement: path('src/headless.ts') };

const project = (name: string, react: { find: RegExp; replacement: string }[], include: string[]) => ({
  resolve: { alias: [own, ...react] },
  test: {
    name,
    include,
    environment: 'jsdom',
    globalSetup: ['test/server.ts'],
    setupFiles: ['test/setup.ts'],
    // Debug builds on busy machines are slow.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Else Node itself resolves what these import, and finds the one React of the workspace.
    server: { deps: { inline: react.length > 0 ? [/@testing-library\/react/] : [] } },
  },
});

export default defineConfig({
  test: {
    projects: [
      project('react-19', [], ['test/**/*.test.{ts,tsx}']),
      project(
        'react-18',
        [
          { find: /^(react|react-dom)(\/.*)?$/, replacement: `${path('../react18/node_modules')}/$1$2` },
          // As a module, whose imports can be sent elsewhere.
          { find: /^@testing-library\/react$/, replacement: path('../node_modules/@testing-library/react/dist/@testing-library/react.esm.js') },
        ],
        ['test/**/*.test.tsx'],
      ),
    ],
  },
});
