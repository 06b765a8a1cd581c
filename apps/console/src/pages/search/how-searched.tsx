import type { SearchView } from '@app/api-client';
import type { ReactNode } from 'react';
import { texts } from '../../texts/index.js';
import { count } from '../../ui/format.js';
import { Pane } from '../../ui/pane.js';

const { search: t } = texts;

/** What the service did with the query. */
export function HowSearched({ answer }: { readonly answer: SearchView }) {
  const { metadata: m, explanation, matched_skills: skills } = answer;
  return (
    <Pane title={t.query}>
      <dl className="grid gap-1 px-5 pb-4 text-small">
        {explanation && <Fact name={t.model}>{explanation.embedding_model ?? t.noModel}</Fact>}
        <Fact name={t.strategyUsed}>{t.strategiesUsed[m.strategy_used]}</Fact>
        <Fact name={t.skills}>
          {skills.length === 0
            ? t.noSkills
            : skills.map(({ id, score }) => `${id} ${t.score(score)}`).join(', ')}
        </Fact>
        {explanation && (
          <Fact name={t.thresholds}>
            {`${t.score(explanation.tool_threshold)}, ${t.score(explanation.skill_threshold)}`}
          </Fact>
        )}
        <Fact name={t.time}>{`${t.took(m.vector_time_ms)}, ${t.took(m.ranking_time_ms)}`}</Fact>
        <Fact name={t.searched}>{count(m.servers_searched)}</Fact>
        {m.excluded_servers.length > 0 && (
          <Fact name={t.excluded}>
            {m.excluded_servers.map(({ name, reason }) => (
              <span key={name} title={reason} className="block font-mono">
                {name}
              </span>
            ))}
          </Fact>
        )}
      </dl>
    </Pane>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-3">
      <dt className="text-text-2 shrink-0">{name}</dt>
      <dd className="min-w-0 text-right [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
