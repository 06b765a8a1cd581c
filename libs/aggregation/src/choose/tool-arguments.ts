import type { CatalogueTool } from '@app/catalogue';
import { isJsonObject, type JsonObject } from '@app/platform';
import { z } from 'zod';
import { propertiesOf } from './tool-schema.js';

/** Tools with a longer schema are not offered to the model. */
const MAX_SCHEMA_CHARS = 3_000;
/** References can make a small schema unbounded, and a hostile pattern can take exponential time. */
const UNCHECKED = /"(?:\$ref|\$dynamicRef|\$recursiveRef|patternProperties)":/;

/** Parses arguments that a model wrote; undefined if they do not match the schema or have unknown names. */
export type ArgumentReader = (text: string) => JsonObject | undefined;

/** Undefined for a tool whose schema is too long or cannot be checked safely. */
export function argumentReader(tool: CatalogueTool): ArgumentReader | undefined {
  const schema = JSON.stringify(tool.inputSchema);
  if (schema.length > MAX_SCHEMA_CHARS || UNCHECKED.test(schema)) return undefined;
  const checker = checkerOf(schema);
  if (!checker) return undefined;
  const properties = propertiesOf(tool);
  return (text) => {
    const args = parsed(text);
    const fits =
      isJsonObject(args) &&
      Object.keys(args).every((name) => Object.hasOwn(properties, name)) &&
      checker.safeParse(args, { jitless: true }).success;
    return fits ? args : undefined;
  };
}

/** Without patterns: the server checks those. */
function checkerOf(schema: string): z.ZodType | undefined {
  try {
    const withoutPatterns = JSON.parse(schema, (key, value: unknown) =>
      key === 'pattern' && typeof value === 'string' ? undefined : value,
    ) as z.core.JSONSchema.JSONSchema;
    return z.fromJSONSchema(withoutPatterns);
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
