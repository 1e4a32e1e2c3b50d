// A real browser, and pages for it to open.
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser } from 'playwright-core';

/** Debian's Chromium. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });

export interface Site {
  url: string;
  close(): void;
}

/** The modules of a built package, by name. */
export const scripts = (dist: URL): Record<string, URL> =>
  Object.fromEntries(readdirSync(dist).filter((name) => name.endsWith('.js')).map((name) => [`/${name}`, new URL(name, dist)]));

/** Serves one page at every path, and files by name. */
export async function serveSite(html: string, files: Record<string, URL> = {}): Promise<Site> {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname;
    const file = files[path];
    response.setHeader('content-type', file ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(file ? await readFile(file) : html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
