import type { CatalogueTool } from '@app/discovery';
import { isJsonObject, type JsonObject } from '@app/platform';
import { z } from 'zod';
import { propertiesOf } from './tool-definition.js';

/** Longer ones are not shown to a model. */
const MAX_SCHEMA_CHARS = 3_000;
/** References make a small schema an endless one, and patterns of a stranger can take for ever to match. */
const UNCHECKED = /"(?:\$ref|\$dynamicRef|\$recursiveRef|patternProperties)":/;

/** Reads arguments that a model has written; undefined when they do not fit the schema, or name what is not in it. */
export type ArgumentReader = (text: string) => JsonObject | undefined;

/** Undefined for a tool whose schema is too long, or says more than can be checked safely. */
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

/** Patterns are left for the server itself to check. */
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
