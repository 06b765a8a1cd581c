import { exitCodes, usageError } from '../exit-codes.js';
import { objectIn, readInput } from '../input.js';
import { isJson, pairOf } from '../option-values.js';
import type { RestClient } from '../rest-client.js';
import { shown } from '../screen.js';
import type { CommandResult } from '../session.js';

export interface GivenArguments {
  /** `name=value`, one JSON object, or `-`. */
  readonly given: readonly string[];
  readonly arg?: readonly string[] | undefined;
  readonly jsonArgs?: string | undefined;
}

export async function callTool(
  rest: RestClient,
  name: string,
  given: GivenArguments,
): Promise<CommandResult> {
  const body = `{"name":${JSON.stringify(name)},"arguments":${await argumentsText(given)}}`;
  let jsonText = '';
  const json = await rest.ask((api) =>
    api.callTool({
      // Only the text keeps the arguments exact: parsed, large numbers lose digits.
      body: { name },
      bodySerializer: () => body,
      fetch: async (request) => {
        const response = await fetch(request);
        jsonText = await response.clone().text();
        return response;
      },
    }),
  );
  const { content, isError } = json;
  const text = content.map((block) => block.text ?? JSON.stringify(block)).join('\n');
  return {
    json,
    jsonText,
    text: (screen) => shown(text, screen),
    exitCode: isError ? exitCodes.failed : exitCodes.ok,
  };
}

async function argumentsText({ given, arg = [], jsonArgs }: GivenArguments): Promise<string> {
  const [first, ...others] = given;
  const isObject = first === '-' || first?.startsWith('{') === true;
  const objects = [jsonArgs, isObject ? first : undefined].filter((one) => one !== undefined);
  const named = [...(isObject ? others : given), ...arg];
  const [object] = objects;
  if (object === undefined) return membersText(named);
  if (objects.length > 1 || named.length > 0) {
    throw usageError(
      'Give the arguments once: as name=value, as one JSON object, or as - for standard input.',
    );
  }
  const text = object === '-' ? await readInput('-') : object;
  objectIn(text, 'The arguments');
  return text;
}

/** Values are JSON where they are JSON, as typed, so that numbers keep their digits; else text. */
export function membersText(named: readonly string[]): string {
  const members = new Map(
    named.map((text) => {
      const [name, value] = pairOf(text, '=');
      return [name, isJson(value) ? value : JSON.stringify(value)];
    }),
  );
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}
