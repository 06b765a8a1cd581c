import type { ViewDto, ViewRuleDto, ViewView } from '@app/api-client';

/** What is edited; `budget` as it is typed. */
export interface Draft {
  readonly title: string;
  readonly description: string;
  readonly budget: string;
  readonly rules: readonly ViewRuleDto[];
}

const LEAST_BUDGET = 1_000;

export function draftOf(view: ViewView): Draft {
  const { title, description, budget_tokens: budget, rules } = view;
  return {
    title: title ?? '',
    description: description ?? '',
    budget: budget === null ? '' : String(budget),
    rules: rules.map(cleanRule),
  };
}

/** Without what stands for any. */
export function cleanRule({
  effect,
  kind,
  server,
  name,
  skill,
  annotation,
}: ViewRuleDto): ViewRuleDto {
  return {
    effect: effect ?? 'include',
    ...(kind !== undefined && kind !== 'any' && { kind }),
    ...(server && { server }),
    ...(name && { name }),
    ...(skill && { skill }),
    ...(annotation && { annotation }),
  };
}

export function isBudget(text: string): boolean {
  return text === '' || (/^\d{1,8}$/.test(text) && Number(text) >= LEAST_BUDGET);
}

/** As the API takes it. */
export function documentOf({ title, description, budget, rules }: Draft): ViewDto {
  return {
    title: title.trim() === '' ? null : title.trim(),
    description: description.trim() === '' ? null : description.trim(),
    budget_tokens: budget === '' || !isBudget(budget) ? null : Number(budget),
    rules: rules.map(cleanRule),
  };
}

export function isSameDraft(one: Draft, other: Draft): boolean {
  return JSON.stringify(documentOf(one)) === JSON.stringify(documentOf(other));
}

/** Of what a person wrote; undefined if it has no rules. The service checks the rest. */
export function draftFrom(document: unknown): Draft | undefined {
  if (!isRecord(document)) return undefined;
  const { title, description, budget_tokens: budget, rules } = document;
  if (!Array.isArray(rules) || !rules.every(isRecord)) return undefined;
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    title: textOf(title),
    description: textOf(description),
    budget: typeof budget === 'number' ? String(budget) : '',
    rules: rules.map(readRule),
  };
}

const kinds = ['tool', 'prompt', 'resource', 'any'] as const;
const annotations = ['read_only', 'destructive', 'idempotent', 'open_world'] as const;

function readRule(rule: Readonly<Record<string, unknown>>): ViewRuleDto {
  const { server, name, skill } = rule;
  const kind = kinds.find((one) => one === rule['kind']);
  const annotation = annotations.find((one) => one === rule['annotation']);
  return cleanRule({
    effect: rule['effect'] === 'exclude' ? 'exclude' : 'include',
    ...(kind && { kind }),
    ...(typeof server === 'string' && { server }),
    ...(typeof name === 'string' && { name }),
    ...(typeof skill === 'string' && { skill }),
    ...(annotation && { annotation }),
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
