import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';

const { search: t } = texts;

interface ScoreBarProps {
  readonly lexical: number;
  readonly dense: number;
  /** Hits with a lower score are not shown. */
  readonly threshold: number;
  /** Of a tool that is left out: its score is known, not its shares. */
  readonly isGhost?: boolean;
}

const widthOf = (share: number) => ({ width: `${Math.min(1, Math.max(0, share)) * 100}%` });

/** What a score is made of, on a scale from 0 to 1, against the line from which hits are shown. */
export function ScoreBar({ lexical, dense, threshold, isGhost = false }: ScoreBarProps) {
  const label = isGhost
    ? t.score(lexical + dense)
    : `${t.words} ${t.score(lexical)}, ${t.meaning} ${t.score(dense)}`;
  return (
    <span role="img" aria-label={label} title={label} className="relative block h-2 w-full">
      {isGhost ? (
        <span
          className="border-control-line absolute inset-y-0 left-0 rounded-1 border border-dashed"
          style={widthOf(lexical + dense)}
        />
      ) : (
        <span className="absolute inset-0 flex gap-px">
          <span className="bg-c1 rounded-l-1" style={widthOf(lexical)} />
          <span className="bg-c2 rounded-r-1" style={widthOf(dense)} />
        </span>
      )}
      <span
        className="border-text-3 absolute -inset-y-1 border-l border-dashed"
        style={{ left: `${threshold * 100}%` }}
      />
    </span>
  );
}

const looks = { lexical: 'bg-c1', dense: 'bg-c2', skill: 'bg-c3' } as const;

export function Swatch({ of }: { readonly of: keyof typeof looks }) {
  return <span aria-hidden className={classNames('size-2 shrink-0 rounded-1', looks[of])} />;
}

/** `threshold` is undefined until the first answer. */
export function ScoreLegend({ threshold }: { readonly threshold: number | undefined }) {
  return (
    <span className="text-text-2 flex flex-wrap gap-x-3 text-small">
      <span className="inline-flex items-center gap-1.5">
        <Swatch of="lexical" /> {t.words}
      </span>
      <span className="inline-flex items-center gap-1.5">
        <Swatch of="dense" /> {t.meaning}
      </span>
      {threshold !== undefined && (
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden className="border-text-3 h-3 border-l border-dashed" />
          {t.shownFrom(threshold)}
        </span>
      )}
    </span>
  );
}
