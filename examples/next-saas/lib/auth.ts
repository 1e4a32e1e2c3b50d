import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { nextCookies } from 'better-auth/next-js';
import { organization } from 'better-auth/plugins';
import { scripSessions } from './better-auth-scrip';
import { scrip } from './scrip';

type Tables = Record<string, Record<string, unknown>[]>;
const kept = globalThis as typeof globalThis & { tables?: Tables };
// In memory, for a look: a database of yours goes here. One for all parts that Next makes of this application.
kept.tables ??= { user: [], session: [], account: [], verification: [], organization: [], member: [], invitation: [] };

export const auth = betterAuth({
  baseURL: process.env.APP_URL ?? 'http://127.0.0.1:3000',
  secret: process.env.AUTH_SECRET ?? 'only for a look: set AUTH_SECRET',
  database: memoryAdapter(kept.tables),
  emailAndPassword: { enabled: true },
  plugins: [organization(), scripSessions(scrip), nextCookies()],
});
