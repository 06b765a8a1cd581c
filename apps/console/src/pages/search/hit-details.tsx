import type { FoundToolView, HitExplanationView } from '@app/api-client';
import type { ReactNode } from 'react';
import { texts } from '../../texts/index.js';
import { OpenHit } from './open-hit.js';
import { Swatch } from './score-bar.js';

const { search: t } = texts;

interface HitDetailsProps {
  readonly hit: FoundToolView;
  readonly searchId: string | null;
}

/** The figures behind a score. */
export function HitDetails({ hit, searchId }: HitDetailsProps) {
  const { explanation, classified_by: by } = hit;
  return (
    <div className="grid gap-1 px-5 pb-3 pl-13 text-small">
      <p className="text-text-2 mb-1 max-w-180 [overflow-wrap:anywhere]">{hit.description}</p>
      {explanation && <Shares explanation={explanation} by={by} />}
      {!hit.source_server && <p className="text-text-2">{t.ownTool}</p>}
      {hit.source_server && (
        <p className="pt-1 tab:hidden">
          <OpenHit name={hit.name} searchId={searchId} />
        </p>
      )}
    </div>
  );
}

interface SharesProps {
  readonly explanation: HitExplanationView;
  readonly by: string | null;
}

function Shares({ explanation, by }: SharesProps) {
  const { shares, matched_words: words, skill, bm25, cosine } = explanation;
  const { lexical_rank: lexicalRank, dense_rank: denseRank } = explanation;
  return (
    <>
      <Share of="lexical" name={t.words} value={t.score(shares.lexical)}>
        {words.length === 0
          ? t.noWords
          : words
              .map(({ word, fields }) =>
                t.inFields(word, fields.map((field) => t.fields[field]).join(', ')),
              )
              .join('; ')}
        {bm25 !== null && lexicalRank !== null && `. ${t.bm25(bm25, lexicalRank)}`}
      </Share>
      <Share of="dense" name={t.meaning} value={t.score(shares.dense)}>
        {cosine !== null && denseRank !== null ? t.cosine(cosine, denseRank) : t.noMeaning}
      </Share>
      {shares.learnt > 0 && (
        <Share of="dense" name={t.uses} value={t.score(shares.learnt)}>
          {t.usedLikeThis}
        </Share>
      )}
      <Share of="skill" name={t.skill} value="">
        {skill === null ? t.noSkill : `${t.skillIs(skill.id, skill.score)}; ${t.skillNote}`}
        {skill !== null && by !== null && `; ${t.classifiedBy(by)}`}
      </Share>
    </>
  );
}

interface ShareProps {
  readonly of: 'lexical' | 'dense' | 'skill';
  readonly name: string;
  readonly value: string;
  readonly children: ReactNode;
}

function Share({ of, name, value, children }: ShareProps) {
  return (
    <p className="grid grid-cols-[76px_36px_minmax(0,1fr)] items-baseline gap-x-2">
      <span className="inline-flex items-center gap-1.5">
        <Swatch of={of} /> {name}
      </span>
      <span className="text-right font-medium">{value}</span>
      <span className="text-text-2 [overflow-wrap:anywhere]">{children}</span>
    </p>
  );
}
