import { z } from 'zod';
import {
  hasMoreChars,
  isJsonObject,
  type JsonObject,
  parseConfigFile,
  serverNames,
  UnreadableConfigFile,
} from '@app/platform';
import { UnreadableQuerySettings } from '../aggregation.errors.js';
import { ruleIssues, type QueryRule } from '../choose/query-rule.js';
import {
  DEFAULT_SETTINGS,
  type ServerQuerySettings,
  settingsIssues,
} from './server-query-settings.js';
import { MAX_PATTERN_CHARS, MAX_RULES, MAX_WEIGHT, MIN_WEIGHT } from './settings-limits.js';

/** The `aggregation` section of the configuration file, beside `mcpServers`. */
export interface QuerySettingsSection {
  readonly rules: readonly QueryRule[];
  readonly servers: ReadonlyMap<string, ServerQuerySettings>;
}

const sectionSchema = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        pattern: z
          .string()
          .min(1)
          .refine(
            (pattern) => !hasMoreChars(pattern, MAX_PATTERN_CHARS),
            `Must have at most ${MAX_PATTERN_CHARS} characters`,
          ),
        servers: serverNames.refine(({ length }) => length > 0, 'Must name at least one server'),
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
        arguments: z.custom<JsonObject>(isJsonObject, 'Must be an object').default({}),
        weight: z.number().min(MIN_WEIGHT).max(MAX_WEIGHT).default(DEFAULT_SETTINGS.weight),
      }),
    )
    .default({}),
});
const fileSchema = z.looseObject({ aggregation: sectionSchema.optional() });

/** Undefined when the file has no such section. `file` is used in messages only. */
export function readQuerySettings(text: string, file: string): QuerySettingsSection | undefined {
  const parsed = fileSchema.safeParse(contentOf(text, file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UnreadableQuerySettings(file, `${issue?.path.join('.')}: ${issue?.message}`);
  }
  const section = parsed.data.aggregation;
  if (!section) return undefined;
  const servers = new Map<string, ServerQuerySettings>(Object.entries(section.servers));
  const [issue] = [
    ...ruleIssues(section.rules),
    ...[...servers.values()].flatMap((settings) => settingsIssues(settings, [])),
  ];
  if (issue) {
    throw new UnreadableQuerySettings(file, `${issue.loc.slice(1).join('.')}: ${issue.msg}`);
  }
  return { rules: section.rules, servers };
}

function contentOf(text: string, file: string): unknown {
  try {
    return parseConfigFile(text);
  } catch (error) {
    if (!(error instanceof UnreadableConfigFile)) throw error;
    throw new UnreadableQuerySettings(file, error.message);
  }
}
