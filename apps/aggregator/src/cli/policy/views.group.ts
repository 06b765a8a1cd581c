import { Command } from '@commander-js/extra-typings';
import { collect, count } from '../option-values.js';
import type { Perform } from '../session.js';
import { changeView, cloneView, createView, removeView } from './change-views.js';
import { listViews, previewView, showView } from './show-views.js';

const PATTERNS = `
A pattern is server.tool, in which * stands for any text ('docs.search*'); a server alone is all that it has, * is
everything. Offered is what is included and not excluded; a view that includes nothing offers nothing.
"switchboard policy export" and "switchboard import" take rules of every kind.`;

export function viewsGroup(perform: Perform) {
  const group = new Command('views').description('which tools are offered at /mcp/views/<view>');
  group
    .command('list', { isDefault: true })
    .description('list all views')
    .action(() => perform(listViews));
  group
    .command('show <view>')
    .description('show the rules of a view')
    .action((view) => perform((rest) => showView(rest, view)));
  withRules(group.command('create <view>'))
    .description('make a view')
    .action((view, options) => perform((rest) => createView(rest, view, options)));
  withRules(group.command('edit <view>'))
    .description('add rules to a view, drop rules, or change its texts')
    .option('--drop <number>', 'rule to drop, by its number in "views show"; repeatable', collect)
    .action((view, options) => perform((rest) => changeView(rest, view, options)));
  group
    .command('clone <view> <name>')
    .description('make another view with the same rules, without grants and overrides')
    .action((view, name) => perform((rest) => cloneView(rest, view, name)));
  group
    .command('remove <view>')
    .description('remove a view with its grants and overrides')
    .action((view) => perform((rest) => removeView(rest, view)));
  group
    .command('preview <view>')
    .description('list the tools that a view offers')
    .option('--as <subject>', 'to token:name, user:name, group:name, client:name or anyone')
    .action((view, { as }) => perform((rest) => previewView(rest, view, as)));
  return group;
}

function withRules<A extends unknown[]>(command: Command<A>) {
  return command
    .option('--include <pattern>', 'offer these tools; may be repeated', collect)
    .option('--exclude <pattern>', 'never offer these; may be repeated', collect)
    .option('--skill <skill>', 'offer tools with this skill; may be repeated', collect)
    .option('--read-only', 'of what is included, only tools that are annotated read-only')
    .option('--title <text>', 'title; "" removes it')
    .option('--description <text>', 'description; "" removes it')
    .option('--budget <tokens>', 'shorten results of tools beyond it', count)
    .addHelpText('after', PATTERNS);
}
