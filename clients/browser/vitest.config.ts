import { defineConfig } from 'vitest/config';

// Debug builds on busy machines are slow to start.
export default defineConfig({ test: { testTimeout: 60_000, hookTimeout: 60_000 } });
