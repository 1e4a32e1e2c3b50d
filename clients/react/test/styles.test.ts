// @vitest-environment node
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('../styles.css', import.meta.url), 'utf8');

/** The colours of a block of variables. */
function colours(block: string | undefined): Record<string, string> {
  return Object.fromEntries([...(block ?? '').matchAll(/--scrip-([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
}

/** How bright a colour is, as WCAG reckons it. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const [light, dark] = css.split('@media (prefers-color-scheme: dark)').map(colours) as [Record<string, string>, Record<string, string>];

describe.each([
  ['by day', light],
  ['by night', dark],
])('%s', (_, scheme) => {
  it.each([
    ['text', 'surface'],
    ['muted', 'surface'],
    ['good', 'surface'],
    ['on-accent', 'accent'],
    ['error', 'error-surface'],
    ['text', 'error-surface'],
  ])('%s can be read on %s', (front, back) => {
    expect(contrast(scheme[front] ?? '', scheme[back] ?? '')).toBeGreaterThanOrEqual(4.5);
  });
});

it('both schemes set the same colours', () => {
  expect(Object.keys(dark)).toEqual(Object.keys(light));
});

it('no rule weighs more than one of the shop’s own would', () => {
  const selectors = css.replace(/\/\*[\s\S]*?\*\//g, '').match(/^[^@\s{}][^{}]*(?=\{)/gm) ?? [];
  expect(selectors.length).toBeGreaterThan(20);
  expect(selectors.filter((selector) => !/^:where\([\s\S]*\)\s*$/.test(selector))).toEqual([]);
});
