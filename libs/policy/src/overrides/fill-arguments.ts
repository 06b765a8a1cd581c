import type { CatalogueTool } from '@app/catalogue';
import {
  changed,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Variables,
} from '@app/platform';
import { HiddenArgument, PresetWithoutValue } from '../policy.errors.js';

const PLACEHOLDER = /\$\{([^{}]*)\}/g;
export const USER_NAME = 'user.name';

/** The names between `${` and `}` of all texts in a value. */
export function placeholdersOf(value: JsonValue): string[] {
  if (typeof value === 'string')
    return [...value.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  if (Array.isArray(value)) return value.flatMap(placeholdersOf);
  return isJsonObject(value) ? Object.values(value).flatMap(placeholdersOf) : [];
}

/**
 * The parameters of a call with the preset arguments of its tool. Values of variables are read for each call and kept
 * nowhere. Throws HiddenArgument and PresetWithoutValue.
 */
export function fillArguments(
  { name, offeredAs }: CatalogueTool,
  params: JsonObject,
  user: string,
  variables: Pick<Variables, 'get'>,
): JsonObject {
  if (!offeredAs) return params;
  const { hiddenArguments, presetArguments } = offeredAs;
  const given = isJsonObject(params['arguments']) ? params['arguments'] : {};
  const refused = hiddenArguments.find((argument) => Object.hasOwn(given, argument));
  if (refused !== undefined) throw new HiddenArgument(name, refused);
  const missing = Object.entries(presetArguments).filter(
    ([argument]) => !Object.hasOwn(given, argument),
  );
  if (missing.length === 0) return params;
  const valueOf = (variable: string): string => {
    const value = variable === USER_NAME ? user : variables.get(variable);
    if (value === undefined) throw new PresetWithoutValue(name, variable);
    return value;
  };
  const filled = missing.map(([argument, value]) => [argument, resolved(value, valueOf)] as const);
  return changed(params, { arguments: changed(given, Object.fromEntries(filled)) });
}

function resolved(value: JsonValue, valueOf: (variable: string) => string): JsonValue {
  if (typeof value === 'string')
    return value.replace(PLACEHOLDER, (_, name: string) => valueOf(name));
  if (Array.isArray(value)) return value.map((item) => resolved(item, valueOf));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, resolved(member, valueOf)]),
  );
}
