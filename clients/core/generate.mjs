// Writes the types that all clients share, from the API's own description, and the marks of usage objects.
// `--check` only says whether they are stale.
import { readFile, writeFile } from 'node:fs/promises';
import openapi, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const source = new URL('../../docs/openapi/api.json', import.meta.url);
const administration = new URL('../../docs/openapi/admin.json', import.meta.url);
const usage = new URL('../usage.json', import.meta.url);
const target = new URL('./src/api.generated.ts', import.meta.url);

const words = (values) => values.map((value) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(value)));
// Within v1 new values may come: a program that knows none of them still compiles, and the known ones are
// still offered by an editor.
const open = (values) =>
  ts.factory.createUnionTypeNode([
    ...words(values),
    ts.factory.createParenthesizedType(
      ts.factory.createIntersectionTypeNode([
        ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword),
        ts.factory.createTypeLiteralNode([]),
      ]),
    ),
  ]);

/** The values that a text field may have, where its description begins with them: "`a`, `b` or `c`". */
const values = ({ type, description }) => {
  if (type !== 'string' || !description) return undefined;
  const list = /^(`[a-z_]+`)((?:, `[a-z_]+`)*) or `[a-z_]+`/.exec(description);
  return list?.[0].match(/[a-z_]+(?=`)/g);
};

/** Every code with which an endpoint may refuse, with its status: the responses' descriptions begin with them. */
const codes = (api) => {
  const found = new Map();
  for (const operations of Object.values(api.paths))
    for (const { responses = {} } of Object.values(operations))
      for (const [status, { description }] of Object.entries(responses))
        if (Number(status) >= 400) for (const [, code] of description.matchAll(/`([a-z_]+)`: /g)) found.set(code, Number(status));
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
};

const member = (type, name) => type.members.find((each) => each.name?.text === name)?.type;

/** What a query may ask, by operation: all that the clients need to know of paths and operations. */
const queries = (operations) => {
  const found = [];
  for (const operation of operations.members) {
    const query = member(member(operation.type, 'parameters'), 'query');
    if (query.members) found.push(ts.factory.createPropertySignature(undefined, operation.name, undefined, query));
  }
  const exported = [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)];
  return ts.factory.createInterfaceDeclaration(exported, 'queries', undefined, undefined, found);
};

/** A model's own usage in the AI SDK has a shape of its own, and the same format. */
const shape = ({ name, marks }) => `    ${JSON.stringify([name.replace(/\.model$/, ''), marks])},`;

export const generate = async () => {
  const api = JSON.parse(await readFile(source, 'utf8'));
  const types = await openapi(api, {
    alphabetize: true,
    transform: (schema, { path }) => {
      // What only goes in stays exact: a misspelled word is better found at once.
      if (schema.enum && !/\/(FeatureAction|Limit(Unit|Window)|OnShortfall)$/.test(path ?? '')) return open(schema.enum);
      const known = values(schema);
      return known && open(known);
    },
  });
  const { shapes } = JSON.parse(await readFile(usage, 'utf8'));
  const events = JSON.parse(await readFile(administration, 'utf8')).components.schemas.EventType.enum;
  const refusals = codes(api);
  const declared = (name) => types.find((node) => node.name?.text === name);
  return [
    '// Made by core/generate.mjs from docs/openapi/api.json: do not change it by hand.\n',
    astToString(declared('components')),
    '/** What may be asked in an address. */',
    astToString(queries(declared('operations'))),
    '/** The codes with which the service refuses. */',
    `export type ServiceErrorCode =\n${refusals.map(([code]) => `    | "${code}"`).join('\n')};\n`,
    '/** The HTTP status of each. */',
    `export const statuses: Readonly<Record<string, number>> = {\n${refusals.map(([code, status]) => `    ${code}: ${status},`).join('\n')}\n};\n`,
    '/** The types of events that an endpoint may ask for. */',
    `export type DescribedEventType =\n${events.map((type) => `    | "${type}"`).join('\n')};\n`,
    '/** Formats of usage objects, with their marks: an object has the first format of which it has one mark of each list. */',
    `export const usageShapes: readonly (readonly [string, readonly (readonly string[])[]])[] = [\n${shapes.map(shape).join('\n')}\n];\n`,
  ].join('\n');
};

if (import.meta.url === new URL(process.argv[1], 'file://').href) {
  const wanted = await generate();
  if (process.argv.includes('--check')) {
    if ((await readFile(target, 'utf8')) !== wanted) {
      console.error('clients/core/src/api.generated.ts is stale: npm run generate --prefix clients');
      process.exit(1);
    }
  } else await writeFile(target, wanted);
}
