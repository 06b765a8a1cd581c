import type { OverrideDto, OverrideView } from '@app/api-client';
import { Command } from '@commander-js/extra-typings';
import { usageError } from '../exit-codes.js';
import { isMembers, type JsonMembers, objectIn } from '../input.js';
import { collect, count } from '../option-values.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult, Perform } from '../session.js';
import { fields, table } from '../table.js';
import { membersText } from '../tools/call-tool.js';
import { toolId } from '../tools/find-tool.js';

interface OverrideOptions {
  readonly view?: string | undefined;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotation?: readonly string[] | undefined;
  readonly hide?: readonly string[] | undefined;
  readonly preset?: readonly string[] | undefined;
  readonly budget?: number | undefined;
}

export function overridesGroup(perform: Perform) {
  const group = new Command('overrides').description(
    'tools that are offered under another name, text or with other arguments',
  );
  group
    .command('list', { isDefault: true })
    .description('list all overrides')
    .action(() => perform(listOverrides));
  group
    .command('show <tool>')
    .description('show how a tool is offered')
    .option('--view <view>', 'in this view; by default in every view')
    .action((tool, { view }) => perform((rest) => showOverride(rest, tool, view)));
  group
    .command('set <tool>')
    .description('offer a tool otherwise than its server defines it; replaces an earlier override')
    .option('--view <view>', 'in this view; by default in every view')
    .option('--name <name>', 'name that clients see and call')
    .option('--title <text>', 'title that clients see')
    .option('--description <text>', 'description that clients see')
    .option('--annotation <name=value>', 'such as readOnlyHint=true; may be repeated', collect)
    .option('--hide <argument>', 'argument that clients do not see; may be repeated', collect)
    .option('--preset <name=value>', 'sent unless the client gives it; may be repeated', collect)
    .option('--budget <tokens>', 'shorten its results beyond it', count)
    .addHelpText(
      'after',
      `
A value that is valid JSON is sent as JSON, any other as text. In a preset value \${NAME} stands for an environment
variable of the service and \${user.name} for the caller. Preset and hidden, an argument cannot be changed by clients.`,
    )
    .action((tool, options) => perform((rest) => setOverride(rest, tool, options)));
  group
    .command('remove <tool>')
    .description('offer a tool as its server defines it again')
    .option('--view <view>', 'in this view; by default in every view')
    .action((tool, { view }) => perform((rest) => removeOverride(rest, tool, view)));
  return group;
}

async function listOverrides(rest: RestClient): Promise<CommandResult> {
  const { views, overrides } = await rest.ask((api) => api.exportPolicy());
  const found = [
    ...overridesIn(overrides, null),
    ...Object.entries(views).flatMap(([slug, view]) =>
      isMembers(view) && isMembers(view['overrides']) ? overridesIn(view['overrides'], slug) : [],
    ),
  ];
  const rows = found.map(({ tool, view, changes }) => [tool, view ?? '(every view)', changes]);
  return {
    json: { overrides: found.map(({ tool, view, override }) => ({ tool, view, override })) },
    text: (screen) =>
      rows.length === 0 ? 'There are no overrides.' : table(['TOOL', 'VIEW', 'SETS'], rows, screen),
  };
}

function overridesIn(overrides: JsonMembers, view: string | null) {
  return Object.entries(overrides).map(([tool, override]) => ({
    tool,
    view,
    override,
    changes: isMembers(override) ? Object.keys(override).join(', ') : '',
  }));
}

async function showOverride(
  rest: RestClient,
  tool: string,
  view: string | undefined,
): Promise<CommandResult> {
  const id = await toolId(rest, tool);
  return shown(await rest.ask((api) => api.getOverride({ path: { id }, query: inView(view) })));
}

async function setOverride(
  rest: RestClient,
  tool: string,
  options: OverrideOptions,
): Promise<CommandResult> {
  const body = bodyOf(options);
  if (Object.keys(body).length === 0) {
    throw usageError(
      'Give what to set, such as --name or --preset. "switchboard overrides set --help" shows its usage.',
    );
  }
  const id = await toolId(rest, tool);
  const query = inView(options.view);
  return shown(await rest.ask((api) => api.setOverride({ path: { id }, query, body })));
}

async function removeOverride(
  rest: RestClient,
  tool: string,
  view: string | undefined,
): Promise<CommandResult> {
  const id = await toolId(rest, tool);
  await rest.ask((api) => api.removeOverride({ path: { id }, query: inView(view) }));
  return { json: { tool, view: view ?? null, removed: true }, text: `${tool} has no override.` };
}

function inView(view: string | undefined): { view?: string } {
  return view === undefined ? {} : { view };
}

function bodyOf(options: OverrideOptions): OverrideDto {
  const { name, title, description, annotation, hide, preset, budget } = options;
  return {
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(annotation && { annotations: objectIn(membersText(annotation), 'The annotations') }),
    ...(hide && { hidden_arguments: [...hide] }),
    ...(preset && { preset_arguments: objectIn(membersText(preset), 'The preset arguments') }),
    ...(budget !== undefined && { budget_tokens: budget }),
  };
}

function shown(override: OverrideView): CommandResult {
  const { annotations, preset_arguments: preset } = override;
  const text = fields([
    ['tool', override.tool],
    ['view', override.view ?? '(every view)'],
    ['name', override.name],
    ['title', override.title],
    ['description', override.description],
    ['annotations', annotations && JSON.stringify(annotations)],
    ['hidden', override.hidden_arguments.join(', ')],
    ['preset', Object.keys(preset).length > 0 ? JSON.stringify(preset) : null],
    ['budget', override.budget_tokens === null ? null : `${override.budget_tokens} tokens`],
    ['drifted', override.has_drifted ? 'yes: the server has changed the tool, check it' : null],
  ]);
  return { json: override, text };
}
