import type { OverrideDto, OverrideView, ToolDetailView } from '@app/api-client';
import { isJsonObject, type JsonObject, parsed, textOf } from '../../../mcp/json.js';

/** An override as its fields are written; empty texts leave what the server says. */
export interface OverrideDraft {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hidden: readonly string[];
  /** JSON by argument; empty is no preset. */
  readonly presets: Readonly<Record<string, string>>;
  readonly budget: string;
}

export function draftOf(override: OverrideView | undefined): OverrideDraft {
  const presets = Object.entries(override?.preset_arguments ?? {});
  return {
    name: override?.name ?? '',
    title: override?.title ?? '',
    description: override?.description ?? '',
    hidden: override?.hidden_arguments ?? [],
    presets: Object.fromEntries(presets.map(([name, value]) => [name, JSON.stringify(value)])),
    budget: override?.budget_tokens?.toString() ?? '',
  };
}

/** Arguments whose preset is no JSON. */
export function badPresets({ presets }: OverrideDraft): string[] {
  return Object.entries(presets)
    .filter(([, text]) => text.trim() !== '' && parsed(text) === undefined)
    .map(([name]) => name);
}

export function toDto(draft: OverrideDraft, before: OverrideView | undefined): OverrideDto {
  const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const given = Object.entries(draft.presets).filter(([, text]) => text.trim() !== '');
  return {
    name: textOrNull(draft.name),
    title: textOrNull(draft.title),
    description: textOrNull(draft.description),
    // The page does not edit them; what was set elsewhere stays.
    annotations: before?.annotations ?? null,
    hidden_arguments: [...draft.hidden],
    preset_arguments: Object.fromEntries(given.map(([name, text]) => [name, parsed(text)])),
    budget_tokens: draft.budget.trim() === '' ? null : Number(draft.budget),
  };
}

/** What can be compared: the definition of the server, and the same as the draft offers it. */
export interface Shape {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export function listedShape(tool: ToolDetailView): Shape {
  const listed = tool.listed_definition ?? {};
  const schema = listed['inputSchema'];
  return {
    name: `${tool.source_server?.name ?? ''}.${tool.original_name}`,
    title: textOf(listed['title']) ?? '',
    description: textOf(listed['description']) ?? '',
    inputSchema: isJsonObject(schema) ? schema : {},
  };
}

export function offeredShape(listed: Shape, draft: OverrideDraft): Shape {
  const preset = Object.keys(draft.presets).filter((name) => draft.presets[name]?.trim() !== '');
  return {
    name: draft.name.trim() || listed.name,
    title: draft.title.trim() || listed.title,
    description: draft.description.trim() || listed.description,
    inputSchema: schemaWithout(listed.inputSchema, new Set(draft.hidden), new Set(preset)),
  };
}

/** Hidden arguments are taken out; those with a preset are not required. */
function schemaWithout(
  schema: JsonObject,
  hidden: ReadonlySet<string>,
  preset: ReadonlySet<string>,
): JsonObject {
  const { properties, required } = schema;
  if (hidden.size === 0 && preset.size === 0) return schema;
  const kept = isJsonObject(properties)
    ? Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name)))
    : properties;
  const needed = Array.isArray(required)
    ? (required as unknown[]).filter(
        (name) => typeof name === 'string' && !hidden.has(name) && !preset.has(name),
      )
    : [];
  const { required: _required, ...rest } = schema;
  return { ...rest, properties: kept, ...(needed.length > 0 && { required: needed }) };
}

export function argumentNames(schema: JsonObject): string[] {
  return isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : [];
}
