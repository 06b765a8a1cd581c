import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import {
  promptArgumentMembers,
  promptMembers,
  type Repaired,
  resourceMembers,
  templateMembers,
  withSoundMembers,
} from './members.js';

/** A prompt as the strictest clients accept it (contract R45); the same object when nothing was changed. */
export function repairPrompt(listed: JsonObject): Repaired {
  const repairs: string[] = [];
  const prompt = withSoundMembers(listed, promptMembers, '', repairs);
  const { arguments: args, ...others } = prompt;
  if (args === undefined) return { item: prompt, repairs };
  if (args === null) {
    repairs.push('its arguments were left out, because clients refuse its value');
    return { item: others, repairs };
  }
  if (!Array.isArray(args)) return { refusal: 'its arguments are no list' };
  const sound: JsonObject[] = [];
  for (const [i, listedArgument] of args.entries()) {
    const argument = repairArgument(listedArgument, i, repairs);
    if (typeof argument === 'string') return { refusal: argument };
    sound.push(argument);
  }
  const isSame = sound.every((argument, i) => argument === args[i]);
  return { item: isSame ? prompt : { ...prompt, arguments: sound }, repairs };
}

function repairArgument(listed: JsonValue, i: number, repairs: string[]): JsonObject | string {
  const path = `arguments[${i}]`;
  if (!isJsonObject(listed) || typeof listed['name'] !== 'string') return `its ${path} has no name`;
  const argument = withSoundMembers(listed, promptArgumentMembers, `${path}.`, repairs);
  const { required, ...others } = argument;
  if (required === undefined || typeof required === 'boolean') return argument;
  if (required !== null) return `its ${path}.required is neither true nor false`;
  repairs.push(`its ${path}.required was left out, because clients refuse its value`);
  return others;
}

/** A resource or resource template as the strictest clients accept it (contract R45). */
export function repairResource(listed: JsonObject, key: 'uri' | 'uriTemplate'): Repaired {
  const repairs: string[] = [];
  const members = key === 'uri' ? resourceMembers : templateMembers;
  const resource = withSoundMembers(listed, members, '', repairs);
  if (typeof resource['name'] === 'string') return { item: resource, repairs };
  // The name is only shown, and what people see of a resource without one is its URI.
  repairs.push(`it has no name that is text, and its ${key} is shown instead`);
  return { item: { ...resource, name: resource[key] ?? '' }, repairs };
}
