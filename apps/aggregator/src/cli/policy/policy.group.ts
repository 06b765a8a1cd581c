import { Command } from '@commander-js/extra-typings';
import { writeFile } from 'node:fs/promises';
import { CliError, exitCodes } from '../exit-codes.js';
import { count } from '../option-values.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult, Perform } from '../session.js';
import { fields, table } from '../table.js';
import { toolId } from '../tools/find-tool.js';
import { ruleText } from './show-views.js';

export function policyGroup(perform: Perform) {
  const group = new Command('policy').description('all views, grants and overrides together');
  group
    .command('export')
    .description('print views, grants and overrides, for "switchboard import"')
    .argument('[file]', 'file to write; by default standard output')
    .action((file) => perform((rest) => exportPolicy(rest, file)));
  group
    .command('history')
    .description('list changes of views, grants and overrides, the newest first')
    .option('--limit <count>', 'maximum number of changes', count, 50)
    .action(({ limit }) => perform((rest) => listHistory(rest, limit)));
  return group;
}

export function accessGroup(perform: Perform) {
  const group = new Command('access').description('who may list and call which tool');
  group
    .command('explain')
    .description('say why a caller sees a tool in a view and may call it, or not')
    .argument('<subject>', 'token:name, user:name, group:name, client:name or anyone')
    .argument('<view>')
    .argument('<tool>')
    .option('--with <subjects...>', 'further subjects of the same caller, such as its groups')
    .action((subject, view, tool, { with: others = [] }) =>
      perform((rest) => explain(rest, [subject, ...others], view, tool)),
    );
  return group;
}

async function exportPolicy(rest: RestClient, file: string | undefined): Promise<CommandResult> {
  const json = await rest.ask((api) => api.exportPolicy());
  const text = JSON.stringify(json, null, 2);
  if (file === undefined || file === '-') return { json, text };
  try {
    // Preset arguments may be secret.
    await writeFile(file, `${text}\n`, { mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new CliError(`Cannot write the file ${file}${code}`, exitCodes.failed);
  }
  const views = Object.keys(json.views).length;
  return { json, text: `${file} has ${views} ${views === 1 ? 'view' : 'views'}.` };
}

async function listHistory(rest: RestClient, limit: number): Promise<CommandResult> {
  const json = await rest.ask((api) => api.listPolicyHistory({ query: { limit } }));
  const rows = json.entries.map((one) => [one.created_at, one.change, one.subject, one.actor]);
  return {
    json,
    text: (screen) =>
      rows.length === 0
        ? 'Nothing has been changed.'
        : table(['TIME', 'CHANGE', 'WHAT', 'BY'], rows, screen),
  };
}

async function explain(
  rest: RestClient,
  subjects: string[],
  view: string,
  name: string,
): Promise<CommandResult> {
  // Tools that are withheld or not granted to this user are in no list, but have a name.
  const tool = name.includes('.')
    ? { tool_name: name }
    : { tool: Number(await toolId(rest, name)) };
  const json = await rest.ask((api) => api.explainAccess({ body: { subjects, view, ...tool } }));
  const text = fields([
    ['listed', json.is_listed ? 'yes' : 'no'],
    ['callable', json.is_callable ? 'yes' : 'no'],
    ['because', json.message],
    ['offered as', json.offered_as],
    ['level', json.level],
    ['approval', json.approval_id],
    ['rule', json.rule && `${json.rule.effect} ${ruleText(json.rule)}`],
  ]);
  return { json, text };
}
