import { isJsonObject, parsed } from '../../../mcp/json.js';
import { texts } from '../../../texts/index.js';
import { bytes } from '../../../ui/format.js';
import { tableOf } from './result-table.js';
import type { Run } from './runs.js';

const MAX_CHARS = 80;

export interface Block {
  readonly type: string;
  readonly [key: string]: unknown;
}

export function blocksOf(run: Run): Block[] {
  const content = run.result?.['content'];
  if (!Array.isArray(content)) return [];
  return (content as unknown[]).filter(
    (block): block is Block => isJsonObject(block) && typeof block['type'] === 'string',
  );
}

export function textsOf(run: Run): string[] {
  return blocksOf(run).flatMap((block) => {
    if (block.type === 'text' && typeof block['text'] === 'string') return [block['text']];
    const resource = block.type === 'resource' ? block['resource'] : undefined;
    return isJsonObject(resource) && typeof resource['text'] === 'string' ? [resource['text']] : [];
  });
}

/** The structured content, or the JSON in the only text of a server that knows no structured content. */
export function structuredOf(run: Run): { readonly value: unknown; readonly isFromText: boolean } {
  const value = run.result?.['structuredContent'];
  if (value !== undefined) return { value, isFromText: false };
  const all = textsOf(run);
  const inText =
    all.length === 1 && /^\s*[[{]/.test(all[0] ?? '') ? parsed(all[0] ?? '') : undefined;
  return { value: inText, isFromText: inText !== undefined };
}

/** What came of a run, in a few words. */
export function runWords(run: Run): string {
  switch (run.outcome) {
    case 'running':
      return texts.tool.running;
    case 'waiting':
      return texts.tool.waiting;
    case 'cancelled':
      return texts.tool.cancelled;
    case 'refused':
      return run.reason ?? texts.tool.refused;
    case 'error':
      return textsOf(run)[0]?.split('\n')[0]?.slice(0, MAX_CHARS) ?? texts.tool.failed;
    case 'answered':
      return answerWords(run);
    default:
      return run.outcome satisfies never;
  }
}

function answerWords(run: Run): string {
  const table = tableOf(structuredOf(run).value);
  if (table) {
    return table.name === ''
      ? texts.tool.rows(table.rows.length)
      : texts.tool.items(table.rows.length, table.name);
  }
  const [first = ''] = textsOf(run);
  if (first !== '' && first.length <= MAX_CHARS && !/[\n{[]/.test(first)) return first;
  return first === '' ? texts.tool.answered : texts.tool.summaryText(bytes(run.bytes));
}

/** The estimate of the service: four Latin characters, or one other, are a token. */
export function tokensOf(text: string): number {
  let quarters = 0;
  for (let at = 0; at < text.length; at++) quarters += text.charCodeAt(at) < 0x2e80 ? 1 : 4;
  return Math.ceil(quarters / 4);
}
