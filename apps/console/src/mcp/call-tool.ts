import { OWN_REQUEST } from '../api/service.js';
import { texts } from '../texts/index.js';
import { argumentHeaders, headerText } from './header-text.js';
import { isJsonObject, type JsonObject, numberOf, textOf } from './json.js';
import {
  type Answers,
  type LogLine,
  type Progress,
  type Question,
  RpcFailure,
} from './messages.js';
import { readAnswer } from './read-answer.js';

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const SEARCH_ID = 'switchboard/search_id';
const ENDPOINT = '/mcp';
/** Questions of one call; more than a person answers. */
const MAX_ROUNDS = 50;

export interface Call {
  readonly tool: string;
  readonly args: JsonObject;
  readonly inputSchema: JsonObject;
  /** The search that found the tool, which learns from the call. */
  readonly searchId: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly onLog: (line: LogLine) => void;
  /** Asks the person; rejects when the run is stopped. */
  readonly answer: (questions: readonly Question[]) => Promise<Answers>;
}

let lastId = 0;

/**
 * Calls a tool by the stateless revision of MCP (see docs/decisions/0452): a call that asks something is answered with
 * `input_required`, and continues with the next request. Closing the request cancels the call.
 */
export async function callTool(call: Call): Promise<JsonObject> {
  let input: JsonObject = {};
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await exchange(call, input);
    if (result['resultType'] !== 'input_required') return result;
    const { requestState } = result;
    const questions = questionsIn(result['inputRequests']);
    const inputResponses = questions.length > 0 ? await call.answer(questions) : {};
    input = { inputResponses, ...(requestState !== undefined && { requestState }) };
  }
  throw new RpcFailure(texts.tool.tooManyQuestions(MAX_ROUNDS), undefined, undefined);
}

async function exchange(call: Call, input: JsonObject): Promise<JsonObject> {
  const id = ++lastId;
  const { tool, args } = call;
  const params = { name: tool, arguments: args, ...input, _meta: envelope(id, call) };
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    signal: call.signal,
    headers: {
      ...OWN_REQUEST,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': VERSION,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': headerText(tool),
      ...argumentHeaders(call.inputSchema, args),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
  });
  for await (const message of readAnswer(response)) {
    if (typeof message['method'] === 'string') notice(message['method'], message['params'], call);
    else return resultOf(message, response.status);
  }
  throw new RpcFailure(texts.tool.noAnswer(response.status), undefined, undefined);
}

function envelope(id: number, { searchId }: Call): JsonObject {
  return {
    progressToken: id,
    [`${META}protocolVersion`]: VERSION,
    [`${META}clientInfo`]: { name: 'switchboard-console', version: VERSION },
    [`${META}clientCapabilities`]: { elicitation: { form: {}, url: {} }, sampling: {} },
    [`${META}logLevel`]: 'info',
    ...(searchId !== undefined && { [SEARCH_ID]: searchId }),
  };
}

function notice(method: string, params: unknown, call: Call): void {
  if (!isJsonObject(params)) return;
  const { progress, total, message, level, logger, data } = params;
  if (method === 'notifications/progress' && typeof progress === 'number') {
    call.onProgress({ progress, total: numberOf(total), message: textOf(message) });
  } else if (method === 'notifications/message') {
    call.onLog({ level: textOf(level) ?? '', logger: textOf(logger), data });
  }
}

function resultOf({ result, error, detail }: JsonObject, status: number): JsonObject {
  if (isJsonObject(result)) return result;
  if (isJsonObject(error)) {
    const message = textOf(error['message']) ?? texts.tool.noAnswer(status);
    throw new RpcFailure(message, numberOf(error['code']), error['data']);
  }
  throw new RpcFailure(textOf(detail) ?? texts.tool.noAnswer(status), undefined, undefined);
}

function questionsIn(requests: unknown): Question[] {
  if (!isJsonObject(requests)) return [];
  return Object.entries(requests).flatMap(([key, request]) => {
    if (!isJsonObject(request)) return [];
    const { method, params } = request;
    if (typeof method !== 'string') return [];
    return [{ key, method, params: isJsonObject(params) ? params : {} }];
  });
}
