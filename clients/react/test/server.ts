// The real service, one for all tests of a run; each test opens a shop of its own in it.
import { startService } from '@scrip-wallet/kit';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    baseUrl: string;
    adminToken: string;
    /** The major version of React that is tried. */
    react: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { baseUrl, adminToken, stop } = await startService();
  project.provide('react', project.name.replace('react-', ''));
  project.provide('baseUrl', baseUrl);
  project.provide('adminToken', adminToken);
  return stop;
}
