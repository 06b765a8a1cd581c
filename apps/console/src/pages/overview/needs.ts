import type { ApprovalView, ServerView } from '@app/api-client';
import { stateOfServer } from '../../model/server-state.js';
import { texts } from '../../texts/index.js';
import type { State } from '../../ui/state-mark.js';

/** Something that only a person can mend. */
export interface Need {
  readonly id: string;
  readonly server: string;
  readonly state: State;
  /** Instead of the usual word of the state. */
  readonly word?: string;
  readonly reason: string;
  readonly since: string | null;
  readonly action: 'server' | 'authorize' | 'approvals';
}

function needOfServer(server: ServerView): Need | undefined {
  const state = stateOfServer(server);
  if (state !== 'failing' && state !== 'slow' && state !== 'login') return undefined;
  return {
    id: server.id,
    server: server.name,
    state,
    reason: server.error_message ?? server.warnings[0] ?? texts.overview.noReason,
    since: server.updated_at,
    action: state === 'login' ? 'authorize' : 'server',
  };
}

function needOfApprovals(server: string, waiting: readonly ApprovalView[]): Need {
  return {
    id: `approvals ${server}`,
    server,
    state: 'withheld',
    word: texts.overview.withheld(waiting.length),
    reason: waiting.map(({ name }) => name).join(', '),
    since: waiting[0]?.changed_at ?? null,
    action: 'approvals',
  };
}

const order: readonly State[] = ['login', 'failing', 'withheld', 'slow'];

/** What waits for a person: first what a person alone can mend. */
export function needsOf(
  servers: readonly ServerView[],
  approvals: readonly ApprovalView[],
): readonly Need[] {
  const byServer = Map.groupBy(approvals, ({ server_name: server }) => server);
  const needs = [
    ...servers.flatMap((server) => needOfServer(server) ?? []),
    ...[...byServer].map(([server, waiting]) => needOfApprovals(server, waiting)),
  ];
  return needs.sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
}
