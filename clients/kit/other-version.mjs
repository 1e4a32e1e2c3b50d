// The service as another version of it would answer, before the service itself. "yesterday" has the operations of the
// oldest document of the API that is kept, without some, and answers only the fields that it requires. "tomorrow" adds
// what no document names: fields, kinds of rows, headers, and events in streams.
//
//   node other-version.mjs yesterday|tomorrow http://127.0.0.1:4000     prints its address, until it is ended
import { readFileSync, readdirSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = '/api/v1';
const kept = new URL('../../docs/openapi/released/v1/', import.meta.url);
const [oldest] = readdirSync(kept).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
const released = JSON.parse(readFileSync(new URL(oldest, kept), 'utf8'));

/** What a service of yesterday is without, although the document has it. */
for (const path of ['/holds/{holdId}/draw', '/usage', '/sessions']) delete released.paths[path];

/** The operations of the released document: names before placeholders, as `/wallets/external` is no code's. */
const paths = Object.entries(released.paths)
  .sort(([a], [b]) => a.split('{').length - b.split('{').length)
  .map(([path, operations]) => ({ pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), operations }));
const operationOf = (method, path) => paths.find(({ pattern }) => pattern.test(path))?.operations[method.toLowerCase()];

const resolve = (schema) => (schema?.$ref ? resolve(schema.$ref.split('/').slice(1).reduce((at, step) => at[step], released)) : schema);
/** Everything that a schema says of this value: of alternatives, those that fit it. */
function facts(schema, value, into = { required: [], properties: {} }) {
  const at = resolve(schema);
  if (!at) return into;
  into.required.push(...(at.required ?? []));
  for (const [name, field] of Object.entries(at.properties ?? {})) into.properties[name] ??= field;
  into.items ??= at.items;
  into.values ??= at.enum;
  for (const part of at.allOf ?? []) facts(part, value, into);
  for (const part of at.oneOf ?? at.anyOf ?? []) if (fits(resolve(part), value)) facts(part, value, into);
  return into;
}
const fits = (schema, value) => {
  if (schema.enum) return schema.enum.includes(value);
  if (value === null || typeof value !== 'object') return schema.type !== 'object';
  return schema.type !== 'null' && (schema.required ?? []).every((name) => name in value);
};

function yesterday(value, schema) {
  const { required, properties, items } = facts(schema, value);
  if (Array.isArray(value)) return value.map((item) => yesterday(item, items));
  if (value === null || typeof value !== 'object' || Object.keys(properties).length === 0) return value;
  const there = Object.entries(value).filter(([name]) => required.includes(name));
  return Object.fromEntries(there.map(([name, field]) => [name, yesterday(field, properties[name])]));
}

const UNKNOWN = 'of_tomorrow';
function tomorrow(value, schema) {
  const { properties, items } = facts(schema, value);
  if (Array.isArray(value)) {
    const rows = value.map((item) => tomorrow(item, items));
    // One more row, of a kind that nobody knows: an entry with another reason, an event of another type.
    const [first] = value;
    const kinds = Object.entries(facts(items, first).properties).filter(([name, field]) => facts(field, first?.[name]).values && typeof first?.[name] === 'string');
    return kinds.length > 0 ? [...rows, { ...rows[0], ...Object.fromEntries(kinds.map(([name]) => [name, UNKNOWN])) }] : rows;
  }
  if (value === null || typeof value !== 'object' || Object.keys(properties).length === 0) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, tomorrow(field, properties[name])]);
  return { ...Object.fromEntries(fields), tomorrow: { rows: [{ of: null }], value: 1.5 } };
}

const change = { yesterday, tomorrow };
const EVENT = `event: ${UNKNOWN}\ndata: {"rows":[1]}\n\nretry: 1000\n\n: a comment\nof: tomorrow\n\n`;

/** Starts it, before the service at an address. */
export async function otherVersion(kind, upstream) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, upstream);
    const operation = operationOf(request.method, pathname.slice(ROOT.length));
    if (kind === 'yesterday' && pathname.startsWith(ROOT) && !operation) {
      response.writeHead(404, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ code: 'route_not_found', message: 'There is no such route.', requestId: 'req_0', docs: '/docs/errors#route_not_found' }));
    }
    const onwards = ask(new URL(request.url, upstream), { method: request.method, headers: { ...request.headers, 'accept-encoding': 'identity' } }, (answer) => {
      const headers = { ...answer.headers, ...(kind === 'tomorrow' && { 'x-tomorrow': '1', deprecation: '@1893456000', link: '</>; rel="successor-version"' }) };
      if (/event-stream/.test(headers['content-type'])) {
        response.writeHead(answer.statusCode, headers);
        if (kind === 'tomorrow') response.write(EVENT);
        return answer.pipe(response);
      }
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        let body = Buffer.concat(chunks);
        const schema = operation?.responses[answer.statusCode]?.content?.['application/json']?.schema;
        if (schema && body.length > 0) body = Buffer.from(JSON.stringify(change[kind](JSON.parse(body), schema)));
        delete headers['transfer-encoding'];
        response.writeHead(answer.statusCode, { ...headers, 'content-length': body.length });
        response.end(body);
      });
    });
    onwards.on('error', () => response.destroy());
    response.on('close', () => onwards.destroy());
    request.pipe(onwards);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

if (argv[1] === fileURLToPath(import.meta.url)) console.log((await otherVersion(argv[2], argv[3])).url);
