import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

// So that React says what happens outside of what a test waits for.
(globalThis as Record<string, unknown>)['IS_REACT_ACT_ENVIRONMENT'] = true;

// axe-core would look at what ligatures draw; jsdom draws nothing.
if (typeof window !== 'undefined') HTMLCanvasElement.prototype.getContext = () => null;

afterEach(() => {
  // Some tests are a server.
  if (typeof window === 'undefined') return;
  cleanup();
  localStorage.clear();
  history.replaceState(null, '', '/');
});
