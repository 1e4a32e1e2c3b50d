// The back end. Who asks is known by a cookie, which takes the place of your own sign-in; what they may spend is
// known by Scrip.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { isScripError, scripNodeHandler } from '@scrip-wallet/server';
import { answer, count } from './model.mjs';

const MAX_TOKENS = 60;
const WELCOME = 500;
/** A rate card says what tokens of this model cost: scrip.toml. */
const PRICED = { rateCard: 'chat', attributes: { model: 'words' } };
const page = new URL('./page.html', import.meta.url);
/** The modules of @scrip-wallet/browser, which the page imports as they are. */
const modules = fileURLToPath(new URL('.', import.meta.resolve('@scrip-wallet/browser')));

/** The chat as an HTTP server that does not listen yet. `productId` is what tokens are paid with. */
export function chat({ scrip, baseUrl, productId, delayMs }) {
  // The page sees what its user has, as it happens, and buys in place; it can take nothing.
  const openSession = scripNodeHandler({ scrip, identify: who });

  /** Streams an answer, a line of JSON for each token, and charges what it took. */
  async function ask(request, response, externalUserId) {
    const { prompt, id } = await body(request);
    if (typeof prompt !== 'string' || !prompt.trim() || prompt.length > 2_000 || !/^[\w-]{8,64}$/.test(id ?? '')) return send(response, 400, { message: 'Ask something.' });
    const asked = count(prompt);
    const gone = new AbortController();
    response.once('close', () => gone.abort());

    const { charged, balance } = await scrip.withHold(
      // The most that it can cost. A page that sends a question twice is answered once.
      { externalUserId, ...PRICED, quantities: { input: asked, output: MAX_TOKENS }, idempotencyKey: `chat-${id}`, meta: { feature: 'chat' } },
      async ({ signal }) => {
        let said = 0;
        try {
          for await (const token of answer(prompt, { maxTokens: MAX_TOKENS, signal, delayMs })) {
            if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
            response.write(`${JSON.stringify({ token })}\n`);
            said += 1;
          }
        } catch (error) {
          // A reader who leaves pays for what was streamed until then. Any other failure costs nothing.
          if (!gone.signal.aborted) throw error;
        }
        // As OpenAI reports it: of a model of yours its own usage object.
        return { usage: { prompt_tokens: asked, completion_tokens: said } };
      },
      { signal: gone.signal },
    );
    response.end(`${JSON.stringify({ charged, balance })}\n`);
  }

  /** What somebody has, and what it went on. */
  async function account(response, externalUserId) {
    // The first time there is something to begin with; the key sees to it that it is the first time only.
    const { balance } = await scrip.credit({ externalUserId, productId, amount: WELCOME, idempotencyKey: 'welcome' });
    const { items } = await scrip.ledger({ externalUserId }, { limit: 8 });
    send(response, 200, { user: externalUserId, baseUrl, productId, balance, entries: items });
  }

  return createServer(async (request, response) => {
    try {
      const user = who(request);
      const route = `${request.method} ${request.url?.split('?')[0]}`;
      if (route === 'POST /session') return await openSession(request, response);
      // A page elsewhere must not spend a visitor's credits.
      if (request.method === 'POST' && request.headers['content-type'] !== 'application/json') return send(response, 415, { message: 'JSON, please.' });
      if (route === 'GET /') response.setHeader('content-type', 'text/html; charset=utf-8').end(await readFile(page));
      else if (route === 'GET /account') await account(response, user);
      else if (route === 'POST /ask') await ask(request, response, user);
      else if (/^GET \/scrip\/[\w-]+\.js$/.test(route)) response.setHeader('content-type', 'text/javascript').end(await readFile(modules + route.slice('GET /scrip/'.length)));
      else send(response, 404, { message: 'There is nothing here.' });
    } catch (error) {
      fail(response, error);
    }
  });
}

/** Who asks. In an application of yours its own sign-in knows. */
const who = (request) => /(?:^|; )user=([\w-]{1,40})/.exec(request.headers.cookie ?? '')?.[1] ?? 'ann';

/** Says what a visitor may know; the rest is for the log. */
function fail(response, error) {
  if (response.writableEnded || response.destroyed) return;
  if (response.headersSent) return void response.end(`${JSON.stringify({ error: 'The answer broke off. It cost nothing.' })}\n`);
  if (isScripError(error, 'insufficient_credits')) return send(response, 402, { message: error.message, shortfall: error.shortfall, prices: error.prices });
  if (isScripError(error, 'hold_replayed')) return send(response, 409, { message: 'This question is being answered already.' });
  if (isScripError(error) && error.status >= 400 && error.status < 500) return send(response, error.status, { message: error.message });
  if (error?.code === 'ENOENT') return send(response, 404, { message: 'There is nothing here.' });
  if (error instanceof SyntaxError) return send(response, 400, { message: 'This is no JSON.' });
  console.error(error);
  send(response, 502, { message: 'Something went wrong. It cost nothing.' });
}

const send = (response, status, value) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

async function body(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > 10_000) throw new SyntaxError('too long');
  }
  return Object(JSON.parse(text));
}
