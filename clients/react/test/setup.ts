import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

// axe-core would look at what ligatures draw; jsdom draws nothing.
if (typeof window !== 'undefined') HTMLCanvasElement.prototype.getContext = () => null;

// A busy machine takes its time.
configure({ asyncUtilTimeout: 15_000 });

afterEach(() => {
  // Some tests are a server.
  if (typeof window === 'undefined') return;
  cleanup();
  localStorage.clear();
  history.replaceState(null, '', '/');
});
