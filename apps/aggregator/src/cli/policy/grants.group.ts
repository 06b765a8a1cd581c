import type { GiveGrantDto } from '@app/api-client';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { CliError, exitCodes } from '../exit-codes.js';
import { count, duration, LEVELS } from '../option-values.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult, Perform } from '../session.js';
import { table } from '../table.js';

type Subject = Pick<GiveGrantDto, 'subject_kind' | 'subject'>;
const KINDS = ['token', 'user', 'group', 'client'] as const;

export function grantsGroup(perform: Perform) {
  const group = new Command('grants').description('who may use which view');
  group
    .command('list', { isDefault: true })
    .description('list grants, the oldest first')
    .option('--view <view>', 'only grants on this view')
    .action(({ view }) => perform((rest) => listGrants(rest, view)));
  group
    .command('give')
    .description('let token:name, user:name, group:name, client:name or anyone use a view')
    .argument('<subject>', 'who', subjectOf)
    .argument('<view>')
    .addOption(
      new Option('--level <level>', 'read lists, call_read_only calls read-only tools, call all')
        .choices(LEVELS)
        .default('call' as const),
    )
    .option('--expires <time>', 'after 30d, 12h, 90m or 45s; without it never', duration)
    .option('--calls-per-minute <count>', 'maximum number of calls', count)
    .action((subject, view, { level, expires, callsPerMinute }) =>
      perform(async (rest) => {
        const body = {
          ...subject,
          view,
          level,
          ...(expires !== undefined && { expires_in_seconds: expires }),
          ...(callsPerMinute !== undefined && { calls_per_minute: callsPerMinute }),
        };
        const json = await rest.ask((api) => api.giveGrant({ body }));
        return { json, text: `${keyOf(json)} may use ${json.view}: ${json.level}.` };
      }),
    );
  group
    .command('withdraw')
    .description('withdraw a grant: the next call by it is refused')
    .argument('<subject>', 'who, as in "grants list"', subjectOf)
    .argument('<view>')
    .action((subject, view) => perform((rest) => withdrawGrant(rest, subject, view)));
  return group;
}

function subjectOf(text: string): Subject {
  if (text === 'anyone') return { subject_kind: 'anyone' };
  const kind = KINDS.find((one) => text.startsWith(`${one}:`));
  const subject = text.slice((kind?.length ?? 0) + 1);
  if (!kind || subject === '') {
    throw new InvalidArgumentError(
      'It must be anyone, or token:, user:, group: or client: with a name, such as token:ci.',
    );
  }
  return { subject_kind: kind, subject };
}

function keyOf({
  subject_kind: kind,
  subject,
}: {
  readonly subject_kind: string;
  readonly subject?: string | null;
}): string {
  return subject == null ? kind : `${kind}:${subject}`;
}

function allGrants(rest: RestClient, view: string | undefined) {
  return rest.list(
    (api, page) => api.listGrants({ query: { ...page, ...(view !== undefined && { view }) } }),
    ({ grants }) => grants,
  );
}

async function listGrants(rest: RestClient, view: string | undefined): Promise<CommandResult> {
  const { first, items } = await allGrants(rest, view);
  const rows = items.map((grant) => [
    keyOf(grant),
    grant.view,
    grant.level,
    grant.expires_at ?? '',
    grant.calls_per_minute === null ? '' : String(grant.calls_per_minute),
  ]);
  return {
    json: { ...first, grants: items },
    text: (screen) =>
      rows.length === 0
        ? 'There are no grants.'
        : table(['SUBJECT', 'VIEW', 'LEVEL', 'EXPIRES', 'CALLS A MINUTE'], rows, screen),
  };
}

async function withdrawGrant(
  rest: RestClient,
  subject: Subject,
  view: string,
): Promise<CommandResult> {
  const { items } = await allGrants(rest, view);
  const key = keyOf(subject);
  const found = items.find((grant) => keyOf(grant) === key);
  if (!found) {
    const message = `${key} has no grant on ${view}.`;
    throw new CliError(message, exitCodes.notFound, 'GRANT_NOT_FOUND');
  }
  await rest.ask((api) => api.withdrawGrant({ path: { id: found.id } }));
  return {
    json: { id: found.id, subject: key, view, withdrawn: true },
    text: `${key} has no grant on ${view} any longer.`,
  };
}
