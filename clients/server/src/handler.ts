// Opens sessions for the users who are signed in to your application, and does nothing else. Requests of other sites'
// pages are refused before the user is identified.
import { isPassing, type Session } from '@scrip-wallet/core';
import type { SessionInput, Who } from './input.js';

export interface HandlerOptions<R> {
  /** The client that opens the sessions. */
  scrip: { session(input: SessionInput): Promise<Session> };
  /** Whose wallet it is: the id of the user who is signed in, or null. Never an id that the request itself names. */
  identify: (request: R) => Identified | Promise<Identified>;
  /** As a session takes them. */
  can?: SessionInput['can'];
  expiresInSeconds?: number | undefined;
}

type Identified = string | Who | null | undefined;

/** What is used of a request of Node's, Express' or Fastify's. */
export interface NodeRequest {
  method?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

interface Answer {
  status: number;
  body: object;
}

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };
const refused = (status: number, code: string, message: string): Answer => ({ status, body: { code, message } });

/** A route for frameworks with `Request` and `Response`: Next.js, Hono, Bun, Deno, workers. */
export const scripHandler =
  <R extends Request = Request>(options: HandlerOptions<R>) =>
  async (request: R): Promise<Response> => {
    const { url, method, headers } = request;
    const { status, body } = await answer(options, request, method, [new URL(url).host, headers.get('host')], (name) => headers.get(name));
    return new Response(JSON.stringify(body), { status, headers: HEADERS });
  };

/** The same for Express, and others with Node's own requests. */
export const scripNodeHandler =
  <R extends NodeRequest>(options: HandlerOptions<R>) =>
  async (request: R, response: NodeResponse, next?: (error: unknown) => unknown): Promise<void> => {
    const header = (name: string) => [request.headers[name]].flat()[0];
    try {
      const { status, body } = await answer(options, request, request.method, [header('host')], header);
      response.statusCode = status;
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      response.end(JSON.stringify(body));
    } catch (error) {
      if (!next) throw error;
      next(error);
    }
  };

async function answer<R>(
  { scrip, identify, can, expiresInSeconds }: HandlerOptions<R>,
  request: R,
  method: string | undefined,
  hosts: (string | null | undefined)[],
  header: (name: string) => string | null | undefined,
): Promise<Answer> {
  if (method !== 'POST') return refused(405, 'method_not_allowed', 'A session is asked for by POST.');
  if (isCrossSite(hosts, header)) return refused(403, 'cross_site', 'Another site asked.');
  const who = await identify(request);
  if (who == null) return refused(401, 'no_wallet', 'Nobody is signed in.');
  try {
    return { status: 200, body: await scrip.session({ ...(typeof who === 'string' ? { externalUserId: who } : who), can, expiresInSeconds }) };
  } catch (error) {
    // The page tries again after what passes. The rest is for the operator: a wrong key, say.
    if (!isPassing(error)) throw error;
    return refused(503, 'session_failed', 'No session could be had at the moment.');
  }
}

/** By what the browser says of itself, and where it says nothing, by where the page is from. */
function isCrossSite(hosts: (string | null | undefined)[], header: (name: string) => string | null | undefined): boolean {
  const site = header('sec-fetch-site');
  if (site) return site !== 'same-origin';
  const origin = header('origin');
  return !!origin && !hosts.includes(/^https?:\/\/(.+)$/.exec(origin)?.[1]);
}
