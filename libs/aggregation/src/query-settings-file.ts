import stripJsonComments from 'strip-json-comments';
import { z } from 'zod';
import type { JsonObject } from '@app/platform';
import { UnreadableQuerySettings } from './aggregation.errors.js';
import { ruleIssues, type QueryRule } from './query-rule.js';
import { DEFAULT_SETTINGS, type ServerSettings, settingsIssues } from './server-settings.js';
import { MAX_PATTERN_CHARS, MAX_RULES, MAX_WEIGHT, MIN_WEIGHT } from './settings-limits.js';

/** The `aggregation` section of the configuration file, beside `mcpServers`. */
export interface QuerySettingsSection {
  readonly rules: readonly QueryRule[];
  readonly servers: ReadonlyMap<string, ServerSettings>;
}

const sectionSchema = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        pattern: z.string().min(1).max(MAX_PATTERN_CHARS),
        servers: z.array(z.string()).min(1),
      }),
    )
    .max(MAX_RULES)
    .default([]),
  servers: z
    .record(
      z.string(),
      z.strictObject({
        enabled: z.boolean().default(DEFAULT_SETTINGS.enabled),
        tool: z.string().nullable().default(null),
        argument: z.string().nullable().default(null),
        arguments: z.record(z.string(), z.json()).default({}),
        weight: z.number().min(MIN_WEIGHT).max(MAX_WEIGHT).default(DEFAULT_SETTINGS.weight),
      }),
    )
    .default({}),
});
const fileSchema = z.looseObject({ aggregation: sectionSchema.optional() });

/** Undefined when the file has no such section. `file` is only for messages. */
export function readQuerySettings(text: string, file: string): QuerySettingsSection | undefined {
  const parsed = fileSchema.safeParse(
    JSON.parse(stripJsonComments(text, { trailingCommas: true })) as unknown,
  );
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UnreadableQuerySettings(file, `${issue?.path.join('.')}: ${issue?.message}`);
  }
  const section = parsed.data.aggregation;
  if (!section) return undefined;
  const servers = new Map<string, ServerSettings>(
    Object.entries(section.servers).map(([name, settings]) => [
      name,
      { ...settings, arguments: settings.arguments as JsonObject },
    ]),
  );
  const [issue] = [
    ...ruleIssues(section.rules),
    ...[...servers.values()].flatMap((settings) => settingsIssues(settings, [])),
  ];
  if (issue) {
    throw new UnreadableQuerySettings(file, `${issue.loc.slice(1).join('.')}: ${issue.msg}`);
  }
  return { rules: section.rules, servers };
}
