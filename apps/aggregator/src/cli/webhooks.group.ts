import type { WebhookView } from '@app/api-client';
import { Command, Option } from '@commander-js/extra-typings';
import { usageError } from './exit-codes.js';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';
import { fields, table } from './table.js';

const TOPICS = ['server', 'catalogue', 'health', 'session', 'approval', 'policy'] as const;
type Topic = (typeof TOPICS)[number];

export function webhooksGroup(perform: Perform) {
  const group = new Command('webhooks').description('programs that are sent events');
  group
    .command('list', { isDefault: true })
    .description('all webhooks, and how their events are taken; never a secret')
    .action(() => perform(listWebhooks));
  group
    .command('show <id>')
    .description('one webhook')
    .action((id) => perform(async (rest) => shown(await one(rest, id))));
  group
    .command('create <url>')
    .description('send events to a URL, and print the secret of their signatures this once')
    .addOption(topicsOption().makeOptionMandatory())
    .option('--servers <servers...>', 'only events about these servers')
    .option('--description <text>', 'what it is for')
    .action((url, options) => perform((rest) => createWebhook(rest, url, options)));
  group
    .command('edit <id>')
    .description('change a webhook; what waits goes to the new URL')
    .option('--url <url>', 'another address')
    .addOption(topicsOption())
    .option('--servers <servers...>', 'only events about these servers; "all" for every server')
    .option('--description <text>', 'what it is for')
    .action((id, options) => perform((rest) => editWebhook(rest, id, options)));
  group
    .command('enable <id>')
    .description('send what waits, and what happens')
    .action((id) => perform((rest) => change(rest, id, { enabled: true })));
  group
    .command('disable <id>')
    .description('send nothing; events wait')
    .action((id) => perform((rest) => change(rest, id, { enabled: false })));
  group
    .command('remove <id>')
    .description('remove a webhook, and the events that wait for it')
    .action((id) => perform((rest) => removeWebhook(rest, id)));
  return group;
}

function topicsOption() {
  return new Option('--topics <topics...>', 'which events').choices(TOPICS);
}

interface WebhookOptions {
  readonly url?: string | undefined;
  readonly topics?: readonly Topic[] | undefined;
  readonly servers?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

async function listWebhooks(rest: RestClient): Promise<CommandResult> {
  const { first, items } = await rest.list(
    (api, page) => api.listWebhooks({ query: page }),
    ({ webhooks }) => webhooks,
  );
  const rows = items.map((webhook) => [
    webhook.id,
    webhook.url,
    webhook.topics.join(' '),
    stateOf(webhook),
    String(webhook.waiting),
    String(webhook.dead),
  ]);
  return {
    json: { ...first, webhooks: items },
    text: (screen) =>
      rows.length === 0
        ? 'There are no webhooks.'
        : table(['ID', 'URL', 'TOPICS', 'STATE', 'WAITING', 'DEAD'], rows, screen),
  };
}

async function createWebhook(
  rest: RestClient,
  url: string,
  { topics = [], servers, description }: WebhookOptions,
): Promise<CommandResult> {
  const body = {
    url,
    topics: [...topics],
    ...(servers && { servers: [...servers] }),
    ...(description !== undefined && { description }),
  };
  const webhook = await rest.ask((api) => api.createWebhook({ body }));
  const { json, text } = shown(webhook);
  return { json, text: `${fields([['secret', webhook.secret]])}\n${String(text)}` };
}

async function editWebhook(
  rest: RestClient,
  id: string,
  { url, topics, servers, description }: WebhookOptions,
): Promise<CommandResult> {
  const isOfAll = servers?.length === 1 && servers[0] === 'all';
  const body = {
    ...(url !== undefined && { url }),
    ...(topics && { topics: [...topics] }),
    ...(servers && { servers: isOfAll ? null : [...servers] }),
    ...(description !== undefined && { description }),
  };
  if (Object.keys(body).length === 0) throw usageError('Give at least one option to change.');
  return change(rest, id, body);
}

interface Changes {
  readonly url?: string;
  readonly description?: string;
  readonly topics?: Topic[];
  readonly servers?: string[] | null;
  readonly enabled?: boolean;
}

async function change(rest: RestClient, id: string, body: Changes): Promise<CommandResult> {
  return shown(await rest.ask((api) => api.changeWebhook({ path: { id }, body })));
}

async function removeWebhook(rest: RestClient, id: string): Promise<CommandResult> {
  await rest.ask((api) => api.removeWebhook({ path: { id } }));
  return { json: { id, removed: true }, text: 'It is removed; nothing more is sent to it.' };
}

function one(rest: RestClient, id: string): Promise<WebhookView> {
  return rest.ask((api) => api.getWebhook({ path: { id } }));
}

function shown(webhook: WebhookView): CommandResult {
  return {
    json: webhook,
    text: fields([
      ['id', webhook.id],
      ['url', webhook.url],
      ['description', webhook.description],
      ['topics', webhook.topics.join(' ')],
      ['servers', webhook.servers?.join(' ') ?? 'all'],
      ['state', stateOf(webhook)],
      ['waiting', String(webhook.waiting)],
      ['dead', String(webhook.dead)],
      ['taken last', webhook.delivered_at],
      ['failing since', webhook.failing_since],
      ['last error', webhook.last_error],
    ]),
  };
}

function stateOf({ enabled, failing_since }: WebhookView): string {
  if (!enabled) return 'disabled';
  return failing_since === null ? 'enabled' : 'failing';
}
