import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

// So that React says what happens outside of what a test waits for.
(globalThis as Record<string, unknown>)['IS_REACT_ACT_ENVIRONMENT'] = true;

afterEach(() => {
  // Some tests are a server.
  if (typeof window === 'undefined') return;
  cleanup();
  localStorage.clear();
  history.replaceState(null, '', '/');
});
