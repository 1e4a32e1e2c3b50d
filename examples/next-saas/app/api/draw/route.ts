import { isScripError } from '@scrip-wallet/server';
import { auth } from '../../../lib/auth';
import { spenderOf } from '../../../lib/better-auth-scrip';
import { scrip } from '../../../lib/scrip';

const COST = 5;

/** What the application does for credits: here, a drawing. It is the server that takes them. */
export async function POST(request: Request): Promise<Response> {
  const signedIn = await auth.api.getSession({ headers: request.headers });
  if (!signedIn) return Response.json({ code: 'unauthorized', message: 'Sign in first.' }, { status: 401 });
  const { id } = (await request.json()) as { id?: unknown };
  if (typeof id !== 'string' || !/^[\w-]{8,64}$/.test(id)) return Response.json({ code: 'invalid_request', message: 'Which drawing?' }, { status: 400 });
  try {
    // One press, one drawing: a request that is sent again takes nothing.
    await scrip.deduct({ ...spenderOf(signedIn), amount: COST, idempotencyKey: `drawing-${id}`, meta: { feature: 'drawing' } });
    return Response.json({ drawing: draw(id) });
  } catch (error) {
    if (!isScripError(error, 'insufficient_credits') && !isScripError(error, 'limit_exceeded')) throw error;
    return Response.json(error, { status: error.status });
  }
}

/** A few circles, by the request's name. */
function draw(id: string): string {
  const numbers = [...id].map((letter) => letter.charCodeAt(0));
  const circles = numbers.slice(0, 12).map((n, at) => `<circle cx="${(n * 37 + at * 29) % 200}" cy="${(n * 53 + at * 17) % 120}" r="${8 + (n % 20)}" fill="hsl(${(n * 11) % 360} 60% 60% / .7)"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 120">${circles.join('')}</svg>`;
}
