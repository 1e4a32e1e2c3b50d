// What a packed npm package says of itself.
import { gunzipSync } from 'node:zlib';

const BLOCK = 512;

/** The `package.json` in a `.tgz`. */
export function manifestOf(bytes) {
  const tar = gunzipSync(bytes);
  const text = (from, length) => tar.toString('utf8', from, from + length).replace(/\0.*$/s, '');
  for (let at = 0; at + BLOCK <= tar.length && text(at, 100); ) {
    const size = parseInt(text(at + 124, 12), 8);
    const from = at + BLOCK;
    if (text(at, 100) === 'package/package.json') return JSON.parse(tar.toString('utf8', from, from + size));
    at = from + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error('a package without a package.json');
}
