import { ScripServer } from '@scrip-wallet/server';

export const SCRIP_URL = process.env.SCRIP_URL ?? 'http://127.0.0.1:8787';

/** Scrip, with everything that its secret key may do. Never leaves the server. */
export const scrip = new ScripServer({ baseUrl: SCRIP_URL, secretKey: process.env.SCRIP_SECRET_KEY });
