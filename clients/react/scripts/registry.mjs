// Makes the files that `npx shadcn add` takes: each item of registry.json with its sources inside.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';

const root = new URL('../', import.meta.url);
const { $schema: _, items } = JSON.parse(await readFile(new URL('registry.json', root), 'utf8'));
const folder = new URL('registry/', root);
await rm(folder, { recursive: true, force: true });
await mkdir(folder);
for (const item of items) {
  const files = await Promise.all(
    item.files.map(async (file) => ({ ...file, content: await readFile(new URL(file.path, root), 'utf8') })),
  );
  const whole = { $schema: 'https://ui.shadcn.com/schema/registry-item.json', ...item, files };
  await writeFile(new URL(`${item.name}.json`, folder), `${JSON.stringify(whole, null, 2)}\n`);
}
