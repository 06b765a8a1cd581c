import type { ViewDto, ViewView } from '@app/api-client';
import { usageError } from '../exit-codes.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { rulesOf, type RuleOptions } from './rule-options.js';
import { describedView } from './show-views.js';

export interface ViewOptions extends RuleOptions {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly budget?: number | undefined;
}

export async function createView(
  rest: RestClient,
  slug: string,
  options: ViewOptions,
): Promise<CommandResult> {
  const body = { slug, rules: rulesOf(options), ...textsOf(options) };
  return shown(await rest.ask((api) => api.createView({ body })));
}

export async function changeView(
  rest: RestClient,
  slug: string,
  options: ViewOptions & { readonly drop?: readonly string[] | undefined },
): Promise<CommandResult> {
  if (Object.keys(options).length === 0) {
    throw usageError(
      'Give what to change, such as --include server.tool. "switchboard views edit --help" shows its usage.',
    );
  }
  const before = await rest.ask((api) => api.getView({ path: { slug } }));
  const dropped = (options.drop ?? []).map(Number);
  const unknown = dropped.find((number) => before.rules[number - 1] === undefined);
  if (unknown !== undefined) {
    throw usageError(`${slug} has no rule ${unknown}: "switchboard views show ${slug}" lists them`);
  }
  const kept = before.rules.filter((_, i) => !dropped.includes(i + 1));
  const { title, description, budget_tokens } = before;
  const rules = [...kept, ...rulesOf(options)];
  const body = { title, description, budget_tokens, ...textsOf(options), rules };
  return shown(await rest.ask((api) => api.replaceView({ path: { slug }, body })));
}

export async function cloneView(
  rest: RestClient,
  slug: string,
  copy: string,
): Promise<CommandResult> {
  const body = { slug: copy };
  return shown(await rest.ask((api) => api.cloneView({ path: { slug }, body })));
}

export async function removeView(rest: RestClient, slug: string): Promise<CommandResult> {
  await rest.ask((api) => api.deleteView({ path: { slug } }));
  return { json: { slug, removed: true }, text: `${slug} is removed.` };
}

function textsOf({ title, description, budget }: ViewOptions): Omit<ViewDto, 'rules'> {
  return {
    ...(title !== undefined && { title: title === '' ? null : title }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(budget !== undefined && { budget_tokens: budget }),
  };
}

function shown(view: ViewView): CommandResult {
  return { json: view, text: (screen) => describedView(view, screen) };
}
