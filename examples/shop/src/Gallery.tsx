import { useState } from 'react';
import { draw, type Poster } from './poster';

const KEPT = 'posters';

/** What was printed here, kept in this browser. */
export function usePosters(): [readonly Poster[], (poster: Poster) => void] {
  const [posters, setPosters] = useState<readonly Poster[]>(() => {
    try {
      return JSON.parse(localStorage.getItem(KEPT) ?? '[]') as Poster[];
    } catch {
      return [];
    }
  });
  const keep = (poster: Poster) => {
    const all = [poster, ...posters];
    setPosters(all);
    try {
      localStorage.setItem(KEPT, JSON.stringify(all));
    } catch {
      // A browser that keeps nothing: they last as long as the page.
    }
  };
  return [posters, keep];
}

/** The posters, each to download. */
export function Gallery({ posters }: { posters: readonly Poster[] }) {
  if (posters.length === 0) return null;
  return (
    <section id="printed" className="section">
      <h2>Printed for you</h2>
      <ul className="gallery">
        {posters.map((poster, index) => {
          const image = draw(poster);
          return (
            <li key={posters.length - index}>
              <div role="img" aria-label={`Poster: ${poster.words}`} dangerouslySetInnerHTML={{ __html: image }} />
              <a href={`data:image/svg+xml,${encodeURIComponent(image)}`} download={`${poster.words}.svg`}>
                Download<span className="unseen"> {poster.words}</span>
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
