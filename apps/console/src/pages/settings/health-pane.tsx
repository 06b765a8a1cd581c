import type { HealthChecksView, HealthView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX, ExternalLink, TriangleAlert } from 'lucide-react';
import { stateQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { count } from '../../ui/format.js';
import { LinkButton } from '../../ui/link-button.js';
import { ErrorPane, Pane, SkeletonRows } from '../../ui/pane.js';
import { StateMark, type State } from '../../ui/state-mark.js';
import { Figures } from './figures.js';
import { healthQuery } from './settings-queries.js';

const { settings: t } = texts;

const verdictLooks = {
  healthy: { icon: CircleCheck, look: 'text-ok' },
  degraded: { icon: TriangleAlert, look: 'text-warn' },
  unhealthy: { icon: CircleX, look: 'text-bad' },
} as const;

export function HealthPane() {
  const health = useQuery(healthQuery);
  return (
    <div className="flex flex-col rail:min-h-full rail:flex-row">
      <div className="min-w-0 grow">
        {health.isPending && <SkeletonRows />}
        {health.isError && (
          <ErrorPane
            title={texts.errors.couldNotBeRead(t.health)}
            error={health.error}
            onRetry={() => void health.refetch()}
          />
        )}
        {health.data && <Health health={health.data} />}
      </div>
      <aside className="border-line shrink-0 rail:w-80 rail:border-l">
        <Figures />
        <Links />
      </aside>
    </div>
  );
}

function Health({ health }: { readonly health: HealthView }) {
  const { icon: Icon, look } = verdictLooks[health.status];
  const { data: state } = useQuery(stateQuery);
  return (
    <>
      <p className="flex items-center gap-3 px-5 py-4 text-verdict font-semibold" role="status">
        <Icon size={20} aria-hidden className={classNames('shrink-0', look)} />
        {t.verdicts[health.status]}
      </p>
      <Pane
        title={t.checks}
        aside={state && t.serversConnected(state.connected_servers, state.total_servers)}
        className="border-t"
      >
        <Checks checks={health.checks} />
      </Pane>
      {health.issues !== undefined && health.issues.length > 0 && (
        <Pane title={t.issues} aside={count(health.issues.length)}>
          <ul className="pb-3">
            {health.issues.map((issue) => (
              <li key={issue} className="flex min-h-8 items-center gap-2 px-5">
                <TriangleAlert size={14} aria-hidden className="text-warn shrink-0" />
                <span className="[overflow-wrap:anywhere]">{issue}</span>
              </li>
            ))}
          </ul>
          <p className="px-5 pb-4">
            <LinkButton to="/servers">{t.toServers}</LinkButton>
          </p>
        </Pane>
      )}
    </>
  );
}

const states: Readonly<Record<string, State>> = {
  ok: 'ready',
  embedded: 'ready',
  degraded: 'slow',
  unknown: 'off',
  down: 'failing',
};

function Checks({ checks }: { readonly checks: HealthChecksView }) {
  const rows = [
    { name: 'database', word: checks.database, hint: t.checkHints.database[checks.database] },
    { name: 'qdrant', word: checks.qdrant, hint: t.checkHints.qdrant[checks.qdrant] },
    { name: 'sessions', word: checks.sessions, hint: t.checkHints.sessions[checks.sessions] },
  ] as const;
  return (
    <ul>
      {rows.map(({ name, word, hint }) => (
        <li
          key={name}
          className="border-line grid min-h-8 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 border-t px-5 py-1.5 tab:grid-cols-[160px_120px_minmax(0,1fr)]"
        >
          <span className="font-medium">{t.checkNames[name]}</span>
          <StateMark state={states[word] ?? 'off'}>{t.checkWords[word]}</StateMark>
          <span className="text-text-2 col-span-2 tab:col-span-1">{hint}</span>
        </li>
      ))}
    </ul>
  );
}

const links = [
  { path: '/docs', label: t.linkDocs },
  { path: '/docs/openapi.json', label: t.linkOpenApi },
  { path: '/metrics', label: t.linkMetrics },
  { path: '/health', label: t.linkHealth },
] as const;

function Links() {
  return (
    <Pane title={t.links}>
      <ul className="pb-3">
        {links.map(({ path, label }) => (
          <li key={path}>
            <a
              href={path}
              target="_blank"
              rel="noreferrer"
              className="hover:bg-hover flex min-h-8 items-center gap-2 px-5"
            >
              <span className="grow">{label}</span>
              <span className="text-text-2 font-mono text-small">{path}</span>
              <ExternalLink size={13} aria-hidden className="shrink-0" />
            </a>
          </li>
        ))}
      </ul>
    </Pane>
  );
}
