import type { FoundToolView } from '@app/api-client';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { Badge } from '../../ui/badge.js';
import { classNames } from '../../ui/class-names.js';
import { ToolName } from '../../ui/tool-name.js';
import { HitDetails } from './hit-details.js';
import { OpenHit } from './open-hit.js';
import { ScoreBar } from './score-bar.js';

const { search: t } = texts;

interface HitRowProps {
  readonly hit: FoundToolView;
  readonly rank: number;
  readonly threshold: number;
  /** Of the search that found it; null if searches do not learn. */
  readonly searchId: string | null;
  readonly isOpen: boolean;
  readonly hasClauses: boolean;
  /** In one of two columns. */
  readonly isCompact: boolean;
  /** Its place in the other search; undefined if it is not compared, null if it is not there. */
  readonly otherRank: number | null | undefined;
  readonly onToggle: () => void;
}

export const rowTracks = (isCompact: boolean): string =>
  isCompact
    ? 'grid-cols-[20px_minmax(0,1fr)_44px]'
    : 'grid-cols-[20px_minmax(0,1fr)_44px] tab:grid-cols-[20px_minmax(0,1fr)_minmax(120px,300px)_44px_84px]';

/** A hit with what its score is made of; a click shows the figures. */
export function HitRow(props: HitRowProps) {
  const { hit, rank, threshold, searchId, isOpen, isCompact, otherRank, onToggle } = props;
  const { explanation } = hit;
  const words = explanation?.matched_words.map(({ word }) => word) ?? [];
  return (
    <li className={classNames('border-line border-b', isOpen && 'bg-accent-weak')}>
      <div className={classNames('grid items-center gap-x-3 px-5 py-1.5', rowTracks(isCompact))}>
        <span className="text-text-2 self-start pt-0.5 text-right">{rank}</span>
        <button
          type="button"
          aria-expanded={isOpen}
          title={t.details(hit.name)}
          onClick={onToggle}
          className="hover:bg-hover -mx-1 min-w-0 rounded-2 px-1 text-left"
        >
          <span className="flex flex-wrap items-center gap-x-2">
            <ToolName name={hit.name} />
            {props.hasClauses && explanation != null && (
              <Badge tint="accent">
                {explanation.clause === null ? t.wholeQuery : t.clause(explanation.clause + 1)}
              </Badge>
            )}
            {otherRank !== undefined && <Moved rank={rank} otherRank={otherRank} />}
          </span>
          <span className="text-text-2 block truncate text-small">{hit.description}</span>
        </button>
        {explanation && (
          <span
            className={classNames(
              'min-w-0',
              isCompact
                ? 'order-5 col-span-2 col-start-2 pt-1'
                : 'order-5 col-span-2 col-start-2 pt-1 tab:order-none tab:col-span-1 tab:col-start-auto tab:pt-0',
            )}
          >
            <ScoreBar
              lexical={explanation.shares.lexical}
              dense={explanation.shares.dense + explanation.shares.learnt}
              threshold={threshold}
            />
            <span className="text-text-2 mt-1 flex flex-wrap items-center gap-x-2 text-small">
              {words.length > 0 ? t.matched(words) : t.mostlyMeaning}
              {explanation.skill && <Badge tint="ok">{explanation.skill.id}</Badge>}
            </span>
          </span>
        )}
        <span className="text-right font-semibold" title={t.fit(hit.fit)}>
          {t.score(hit.score)}
        </span>
        {!isCompact && (
          <span className="hidden justify-self-end tab:block">
            {hit.source_server && <OpenHit name={hit.name} searchId={searchId} />}
          </span>
        )}
      </div>
      {isOpen && <HitDetails hit={hit} searchId={searchId} />}
    </li>
  );
}

function Moved({ rank, otherRank }: { readonly rank: number; readonly otherRank: number | null }) {
  if (otherRank === null) return <Badge tint="warn">{t.onlyHere}</Badge>;
  const places = otherRank - rank;
  if (places === 0) return null;
  const Icon = places > 0 ? ArrowUp : ArrowDown;
  return (
    <span className="text-text-2 inline-flex items-center gap-0.5 text-label">
      <Icon size={11} aria-hidden />
      {places > 0 ? t.moved.up(places) : t.moved.down(-places)}
    </span>
  );
}
