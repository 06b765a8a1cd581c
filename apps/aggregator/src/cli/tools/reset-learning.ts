import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { toolId } from './find-tool.js';

export async function resetLearning(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await toolId(rest, name);
  await rest.ask((api) => api.resetToolLearning({ path: { id } }));
  return {
    json: { id, reset: true },
    text: `Searches have forgotten the uses of ${name}.`,
  };
}
