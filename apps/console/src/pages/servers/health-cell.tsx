import { useQuery } from '@tanstack/react-query';
import type { ServerView } from '@app/api-client';
import { barsOf, healthHistoryQuery } from '../../servers/health-history.js';
import { texts } from '../../texts/index.js';
import { HealthStrip } from '../../ui/health-strip.js';

/** The last 24 hours of a server; only rows that are visible read it. */
export function HealthCell({ server }: { readonly server: ServerView }) {
  const { data } = useQuery(healthHistoryQuery(server.id));
  if (!data) return null;
  const bars = barsOf(data);
  return (
    <HealthStrip
      label={texts.servers.strip(server.name, runsOf(bars.map(({ state }) => state)))}
      bars={bars}
    />
  );
}

/** `20 h ready`, `4 h failing`. */
function runsOf(states: readonly (keyof typeof texts.servers.barStates)[]): string[] {
  const runs: { state: keyof typeof texts.servers.barStates; hours: number }[] = [];
  for (const state of states) {
    const last = runs.at(-1);
    if (last?.state === state) last.hours += 1;
    else runs.push({ state, hours: 1 });
  }
  return runs.map(({ state, hours }) => `${hours} h ${texts.servers.barStates[state]}`);
}

const legend = ['ready', 'slow', 'failing', 'login', 'off'] as const;

/** What the heights mean; below the list. */
export function HealthLegend() {
  return (
    <p
      aria-hidden
      className="text-text-2 hidden flex-wrap items-center gap-x-5 gap-y-1 px-5 py-3 text-small tab:flex"
    >
      {legend.map((state) => (
        <span key={state} className="inline-flex items-end gap-1.5">
          <HealthStrip
            label=""
            bars={[
              { state, label: '' },
              { state, label: '' },
            ]}
          />
          {texts.servers.barStates[state]}
        </span>
      ))}
      <span className="text-text-3 ml-auto">{texts.servers.barIs}</span>
    </p>
  );
}
