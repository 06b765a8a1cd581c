import { type AuditFilter, planOf } from './audit-filter.js';

const shown = (filter: AuditFilter) => {
  const { scope, partial, rest } = planOf(filter);
  return {
    scope: scope.map(({ column }) => column),
    ...(partial !== undefined && { partial }),
    rest: rest.map(({ sql }) => sql),
  };
};
const TOOL = "(details ->> 'tool')";

describe(planOf.name, () => {
  it.each<[AuditFilter, ReturnType<typeof shown>]>([
    [{}, { scope: [], rest: [] }],
    [{ event: 'a' }, { scope: ['event'], rest: [] }],
    [
      { serverId: 's', event: 'a' },
      { scope: ['server_id', 'event'], rest: [] },
    ],
    [
      { kind: 'calls', serverId: 's' },
      { scope: ['server_id', 'event'], rest: [] },
    ],
    [{ kind: 'calls' }, { scope: ['event'], rest: [] }],
    [{ kind: 'changes' }, { scope: [], partial: "event <> 'tool.called'", rest: [] }],
    [{ outcome: 'failure' }, { scope: ['outcome'], partial: "outcome <> 'success'", rest: [] }],
  ])('finds the entries of %j by an index alone', (filter, plan) => {
    expect(shown(filter)).toEqual(plan);
  });

  it.each<[AuditFilter, ReturnType<typeof shown>]>([
    [{ outcome: 'success' }, { scope: [], rest: ['outcome = ?'] }],
    [
      { tool: 't', actor: 'a' },
      { scope: [TOOL], rest: ['actor = ?'] },
    ],
    [
      { actor: 'a', event: 'e' },
      { scope: ['actor'], rest: ['event = ?'] },
    ],
    [
      { actor: 'a', kind: 'changes' },
      { scope: ['actor'], rest: ['event <> ?'] },
    ],
    [
      { event: 'e', kind: 'calls' },
      { scope: ['event'], rest: ['event = ?'] },
    ],
    [
      { serverId: 's', outcome: 'failure', tool: 't' },
      { scope: ['server_id'], rest: [`${TOOL} = ?`, 'outcome = ?'] },
    ],
  ])('looks for the rest of %j among the entries of the best index', (filter, plan) => {
    expect(shown(filter)).toEqual(plan);
  });

  it('takes a text literally', () => {
    expect(planOf({ text: '50%_\\' }).rest).toEqual([
      { sql: expect.stringContaining('ILIKE ?') as string, value: '%50\\%\\_\\\\%' },
    ]);
  });
});
