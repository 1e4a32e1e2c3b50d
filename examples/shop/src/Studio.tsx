import { ErrorMessage, Paywall, useBalance, useDeduct, useFeature } from '@scrip-wallet/react';
import { useState } from 'react';
import { FEATURES } from './features';
import { draw, PALETTES, STYLES, type Poster, type Style } from './poster';

const COST = 5;

/** Where a poster is made: to look at is free, to have it takes credits. */
export function Studio({ onDrawn }: { onDrawn: (poster: Poster) => void }) {
  const [words, setWords] = useState('Slow mornings');
  const [style, setStyle] = useState<Style>('Suns');
  const [palette, setPalette] = useState(PALETTES[0]!.name);
  const [notice, setNotice] = useState('');
  const { productId } = useBalance();
  const { deduct, pending, error } = useDeduct(productId ? { productId } : {});
  const { enabled: gold } = useFeature('gold');
  const locked = PALETTES.some(({ name, feature }) => name === palette && feature) && !gold;
  const poster = { words, style, palette };

  /** Another proof: the notice is about the one before. */
  const change = (set: (value: string) => void) => (value: string) => {
    setNotice('');
    set(value);
  };
  const print = async () => {
    setNotice('');
    if (!(await deduct({ amount: COST, meta: { feature: 'poster', words } }))) return;
    onDrawn(poster);
    setNotice('It is yours: below, to download.');
  };

  return (
    <section id="studio" className="studio">
      <div className="easel" role="img" aria-label={`Proof of a poster that says ${words}`} dangerouslySetInnerHTML={{ __html: draw(poster, true) }} />
      <div className="controls">
        <h1>Your words, on the wall.</h1>
        <p className="lead">Type a few words, pick a hand and its colours. Looking is free; five credits make it yours.</p>
        <label className="words">
          The words
          <input value={words} maxLength={28} onChange={(event) => change(setWords)(event.target.value)} />
        </label>
        <Choice legend="The hand" options={STYLES.map((name) => ({ name }))} chosen={style} choose={change((name) => setStyle(name as Style))} />
        <Choice legend="The colours" options={PALETTES} chosen={palette} choose={change(setPalette)} />
        {locked ? (
          <Paywall feature="gold" features={FEATURES} className="gold">
            {null}
          </Paywall>
        ) : (
          <button type="button" className="print" disabled={pending || !productId || !words.trim()} aria-busy={pending} onClick={() => void print()}>
            {pending ? 'Printing…' : `Print it for ${COST} credits`}
          </button>
        )}
        <p role="status" className="notice">
          {notice}
        </p>
        <ErrorMessage error={error} />
      </div>
    </section>
  );
}

interface ChoiceProps {
  legend: string;
  options: readonly { name: string; colours?: readonly string[]; paper?: string; feature?: string }[];
  chosen: string;
  choose: (name: string) => void;
}

function Choice({ legend, options, chosen, choose }: ChoiceProps) {
  return (
    <fieldset className="choice">
      <legend>{legend}</legend>
      {options.map(({ name, colours, paper }) => (
        <label key={name}>
          <input type="radio" name={legend} checked={name === chosen} onChange={() => choose(name)} />
          {colours && (
            <span className="swatch" aria-hidden="true">
              {[paper, ...colours].slice(0, 3).map((colour) => (
                <i key={colour} style={{ background: colour }} />
              ))}
            </span>
          )}
          {name}
        </label>
      ))}
    </fieldset>
  );
}
