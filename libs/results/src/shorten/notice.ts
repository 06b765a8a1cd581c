import type { JsonObject } from '@app/platform';
import type { Keeping } from '../keep/kept-results.js';
import { resultUri } from '../result-uri.js';

export interface NoticeTerms {
  readonly bytes: number;
  readonly budgetTokens: number;
  readonly keeping: Keeping;
  /** How the caller reads a kept result. */
  readonly reader: 'mcp' | 'rest';
  /** Whether the revision of the client has resource links. */
  readonly takesLinks: boolean;
}

/** The blocks at the end of a shortened result: what was left out and how to get it, and a link to the whole. */
export function noticeBlocks(terms: NoticeTerms, leftOut: readonly string[]): JsonObject[] {
  const { keeping, takesLinks } = terms;
  const text = { type: 'text', text: noticeText(terms, leftOut) };
  return keeping.isKept && takesLinks ? [text, linkTo(keeping, terms.bytes)] : [text];
}

function noticeText(terms: NoticeTerms, leftOut: readonly string[]): string {
  const { bytes, budgetTokens, keeping } = terms;
  const missing = leftOut.length === 0 ? '' : ` Not included: ${leftOut.join('; ')}.`;
  const rest = keeping.isKept
    ? howToRead(terms.reader, keeping)
    : `The rest cannot be read, because ${keeping.reason}.`;
  return `[The tool was executed. Its result of ${bytes} bytes was shortened to ${budgetTokens} tokens.${missing} ${rest} Narrower arguments give a shorter result.]`;
}

function howToRead(
  reader: NoticeTerms['reader'],
  { id, pages, until }: Extract<Keeping, { isKept: true }>,
): string {
  const address =
    reader === 'mcp'
      ? (page: number) => resultUri(id, page)
      : (page: number) => `/api/v1/aggregator/results/${id}?page=${page}`;
  const where =
    pages === 1
      ? `in one page: ${address(1)}`
      : `in ${pages} pages, one at a time: ${address(1)} to ${address(pages)}`;
  const how = reader === 'mcp' ? 'with resources/read' : 'with GET';
  return `The whole result can be read ${how} until ${until.toISOString()} ${where}.`;
}

function linkTo({ id, pages }: Extract<Keeping, { isKept: true }>, bytes: number): JsonObject {
  return {
    type: 'resource_link',
    uri: resultUri(id),
    name: 'whole-result',
    description: `The whole result as JSON, in ${pages} ${pages === 1 ? 'page' : 'pages'}`,
    mimeType: mimeTypeOf(pages),
    size: bytes,
  };
}

/** A page of several is a fragment. */
export function mimeTypeOf(pages: number): string {
  return pages === 1 ? 'application/json' : 'text/plain';
}
