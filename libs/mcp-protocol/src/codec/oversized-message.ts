import type { BothEnds } from '@app/platform';
import type { RpcId } from './message-id.js';

const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const SCALAR = String.raw`(${STRING}|-?\d[\d.eE+-]*|true|false|null)`;
const FIRST_MEMBER = new RegExp(String.raw`^\s*(${STRING})\s*:\s*${SCALAR}\s*,`);
const LAST_MEMBER = new RegExp(String.raw`,\s*("[^"\\]*")\s*:\s*${SCALAR}\s*$`);
/** A JSON-RPC message has three members besides its body. */
const MAX_MEMBERS = 8;

export interface OversizedMessage {
  /** False for a request or notification of the server. */
  readonly isAnswer: boolean;
  readonly id: RpcId | undefined;
}

/** Servers write the id of an answer before its result (Python) or after it (Node), with any white space. */
export function messageBetween({ head, tail }: Pick<BothEnds, 'head' | 'tail'>): OversizedMessage {
  const members = new Map([
    ...membersAt(head.toString('utf8').replace(/^\ufeff?\s*\{/, ''), FIRST_MEMBER),
    ...membersAt(tail.toString('utf8').replace(/\}\s*$/, ''), LAST_MEMBER),
  ]);
  const id = members.get('id');
  return {
    isAnswer: !members.has('method'),
    id: typeof id === 'string' || typeof id === 'number' ? id : undefined,
  };
}

/** The scalar members that can be parsed, read from one end of the text. */
function membersAt(text: string, next: RegExp): [key: string, value: unknown][] {
  const members: [string, unknown][] = [];
  let rest = text;
  for (let found = next.exec(rest); found; found = next.exec(rest)) {
    const [whole, key = '', value = ''] = found;
    members.push([String(valueOf(key)), valueOf(value)]);
    rest = found.index === 0 ? rest.slice(whole.length) : rest.slice(0, found.index);
    if (members.length === MAX_MEMBERS) break;
  }
  return members;
}

function valueOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
