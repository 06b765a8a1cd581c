import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { stateQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { count, duration } from '../../ui/format.js';
import { Pane } from '../../ui/pane.js';
import { TimeAgo } from '../../ui/time.js';

const { settings: t } = texts;

export function Figures() {
  const { data: state } = useQuery(stateQuery);
  if (!state) return null;
  return (
    <Pane title={t.figures}>
      <dl className="px-5 pb-4">
        <Figure name={t.uptime}>{duration(state.uptime_seconds * 1_000)}</Figure>
        <Figure name={t.tools}>{count(state.total_tools)}</Figure>
        <Figure name={t.classified}>{count(state.classified_tools)}</Figure>
        <Figure name={t.lastChange}>
          <TimeAgo at={state.last_sync} />
        </Figure>
        <Figure name={t.checkEvery}>{t.seconds(state.health_check_interval_seconds)}</Figure>
      </dl>
    </Pane>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex min-h-7 items-baseline justify-between gap-3">
      <dt className="text-text-2">{name}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  );
}
