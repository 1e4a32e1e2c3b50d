// Draws a poster from a few words: the same words, the same poster. Flat shapes, as SVG.

export interface Palette {
  readonly name: string;
  readonly paper: string;
  readonly ink: string;
  readonly colours: readonly string[];
  /** Unlocked by a feature. */
  readonly feature?: string;
}

export const PALETTES: readonly Palette[] = [
  { name: 'Poppy', paper: '#f6ecd9', ink: '#221c17', colours: ['#c7361d', '#e8a33d', '#23576b', '#8fb8a8'] },
  { name: 'Harbour', paper: '#e8efee', ink: '#12263a', colours: ['#1d5c8f', '#f2b134', '#d9532c', '#7fb3c8'] },
  { name: 'Orchard', paper: '#f3f0dd', ink: '#1f2a1c', colours: ['#55803a', '#d9a227', '#b7472a', '#a9c59b'] },
  { name: 'Dusk', paper: '#2a2140', ink: '#f7e9d7', colours: ['#ee6c4d', '#f2c14e', '#7a5cb0', '#4a7fa7'] },
  { name: 'Gold', paper: '#15140f', ink: '#f4e3b2', colours: ['#d9ae4c', '#f4e3b2', '#8f6a1f', '#5b4a25'], feature: 'gold' },
];

export const STYLES = ['Suns', 'Waves', 'Blocks'] as const;
export type Style = (typeof STYLES)[number];

export interface Poster {
  readonly words: string;
  readonly style: Style;
  readonly palette: string;
}

const WIDTH = 300;
const HEIGHT = 420;
/** The words stand below this. */
const FLOOR = 345;

/** Numbers from 0 to 1, the same ones for the same words. */
function chances(words: string): () => number {
  let state = [...words].reduce((sum, letter) => Math.imul(sum ^ (letter.codePointAt(0) ?? 0), 0x01000193), 0x811c9dc5);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Brush {
  readonly chance: () => number;
  readonly palette: Palette;
  /** One of the palette's colours. */
  readonly colour: (index?: number) => string;
}

const round = (value: number) => Math.round(value * 10) / 10;

function suns({ chance, colour, palette }: Brush): string {
  const [x, y] = [90 + chance() * 120, 120 + chance() * 70];
  const rings = Array.from({ length: 5 }, (_, ring) => {
    const radius = round(135 - ring * (19 + chance() * 7));
    return `<circle cx="${round(x)}" cy="${round(y)}" r="${radius}" fill="${ring % 2 ? palette.paper : colour(ring / 2)}"/>`;
  });
  const horizon = 225 + chance() * 40;
  const stripes = Array.from({ length: 7 }, (_, stripe) => {
    const top = round(horizon + stripe * (6 + stripe * 2.2));
    return `<rect x="0" y="${top}" width="${WIDTH}" height="${round(4 + stripe * 1.5)}" fill="${colour(stripe + 1)}"/>`;
  });
  return `${rings.join('')}<rect x="0" y="${round(horizon)}" width="${WIDTH}" height="${HEIGHT}" fill="${palette.paper}"/>${stripes.join('')}`;
}

function waves({ chance, colour }: Brush): string {
  const sun = `<circle cx="${round(60 + chance() * 180)}" cy="${round(80 + chance() * 60)}" r="${round(38 + chance() * 26)}" fill="${colour(0)}"/>`;
  const layers = Array.from({ length: 6 }, (_, layer) => {
    const [base, swing, phase, length] = [150 + layer * 36, 12 + chance() * 20, chance() * 6.3, 90 + chance() * 120];
    const line = Array.from({ length: 31 }, (_, step) => `${step * 10},${round(base + swing * Math.sin(phase + (step * 10 * 6.3) / length))}`);
    return `<path d="M0,${HEIGHT} L${line.join(' L')} L${WIDTH},${HEIGHT} Z" fill="${colour(layer + 1)}"/>`;
  });
  return sun + layers.join('');
}

function blocks({ chance, colour }: Brush): string {
  const size = 60;
  const pieces: string[] = [];
  for (let row = 0; row < 5; row++) {
    for (let column = 0; column < 4; column++) {
      const [x, y] = [30 + column * size, 30 + row * size];
      const turn = Math.floor(chance() * 4) * 90;
      const [one, two] = [colour(), colour()];
      const shape = [
        `<path d="M0,0 H60 A60,60 0 0 1 0,60 Z" fill="${two}"/>`,
        `<circle cx="30" cy="30" r="30" fill="${two}"/>`,
        `<path d="M0,0 L60,0 L0,60 Z" fill="${two}"/>`,
        `<path d="M0,30 A30,30 0 0 1 60,30 Z" fill="${two}"/>`,
        `<circle cx="30" cy="30" r="30" fill="${two}"/><circle cx="30" cy="30" r="13" fill="${one}"/>`,
      ][Math.floor(chance() * 5)];
      pieces.push(
        `<g transform="translate(${x} ${y}) rotate(${turn} 30 30)"><rect x="-0.3" y="-0.3" width="${size + 0.6}" height="${size + 0.6}" fill="${one}"/>${shape}</g>`,
      );
    }
  }
  return pieces.join('');
}

const DRAW: Record<Style, (brush: Brush) => string> = { Suns: suns, Waves: waves, Blocks: blocks };

/** The poster as SVG; a proof has a word across it. */
export function draw({ words, style, palette: name }: Poster, proof = false): string {
  const palette = PALETTES.find((known) => known.name === name) ?? PALETTES[0]!;
  const chance = chances(`${words}/${style}`);
  const { colours } = palette;
  const colour = (index = chance() * colours.length) => colours[Math.floor(index) % colours.length]!;
  const title = escape(words.trim() || 'Untitled');
  const size = Math.max(14, Math.min(38, Math.floor(420 / Math.max(6, words.trim().length))));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="'Bricolage Grotesque Variable', sans-serif" font-weight="700">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${palette.paper}"/>`,
    DRAW[style]({ chance, palette, colour }),
    `<rect y="${FLOOR}" width="${WIDTH}" height="${HEIGHT - FLOOR}" fill="${palette.paper}"/>`,
    `<text x="20" y="${FLOOR + 45}" font-size="${size}" fill="${palette.ink}">${title}</text>`,
    `<text x="20" y="${FLOOR + 62}" font-size="8" letter-spacing="1.6" fill="${palette.ink}">POSTER PRESS</text>`,
    proof && `<text x="150" y="200" font-size="62" fill="${palette.ink}" fill-opacity="0.18" text-anchor="middle" transform="rotate(-32 150 190)">PROOF</text>`,
    '</svg>',
  ]
    .filter(Boolean)
    .join('');
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
