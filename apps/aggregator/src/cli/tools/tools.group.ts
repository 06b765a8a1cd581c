import { Command } from '@commander-js/extra-typings';
import { collect, count } from '../option-values.js';
import type { Perform } from '../session.js';
import { callTool } from './call-tool.js';
import { resetLearning } from './reset-learning.js';
import { listTools, showTool } from './show-tools.js';

export function toolsGroup(perform: Perform) {
  const group = new Command('tools').description('list, inspect and call tools');
  group
    .command('list', { isDefault: true })
    .description('list the tools of all servers, ordered by name')
    .option('--server <server>', 'only tools of this server')
    .option('--skill <skill>', 'only tools with this skill')
    .option('--unclassified', 'only tools without a skill')
    .option('--limit <count>', 'maximum number of tools', count, 100)
    .action(({ server, skill, unclassified, limit }) =>
      perform((rest) =>
        listTools(rest, { server, skill, isClassified: unclassified ? false : undefined }, limit),
      ),
    );
  group
    .command('show <tool>')
    .description('show a tool and the schema of its arguments')
    .action((tool) => perform((rest) => showTool(rest, tool)));
  group
    .command('reset-learning <tool>')
    .description('forget what searches learnt from the use of a tool')
    .action((tool) => perform((rest) => resetLearning(rest, tool)));
  group.addCommand(callCommand(perform));
  return group;
}

/** Also `switchboard call`. */
export function callCommand(perform: Perform) {
  return new Command('call')
    .description('call a tool, as server.tool or by its bare name')
    .argument('<tool>')
    .argument(
      '[arguments...]',
      "name=value, one JSON object '{…}', or - for JSON on standard input",
    )
    .option('--arg <name=value>', 'an argument; may be repeated', collect)
    .option('--json-args <json>', "all arguments as one JSON object '{…}'; - is standard input")
    .addHelpText(
      'after',
      `
A value that is valid JSON is sent as JSON (5, true, ["a"]), any other value as text. Quote a number to send it as text: '"5"'.`,
    )
    .action((tool, given, options) =>
      perform((rest) => callTool(rest, tool, { given, ...options })),
    );
}
