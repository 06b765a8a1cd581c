import { ExternalLink } from 'lucide-react';
import { isJsonObject } from '../../../mcp/json.js';
import { VisibleText } from '../../../ui/diff/visible-text.js';
import type { Block } from '../try/run-words.js';

interface ResultLink {
  readonly uri: string;
  readonly name: string;
  readonly note: string;
}

/** Resources that the result links to or embeds, and web addresses in its structured content. */
export function linksOf(blocks: readonly Block[], addresses: readonly string[]): ResultLink[] {
  const linked = blocks.flatMap((block) => {
    const resource = block.type === 'resource' ? block['resource'] : undefined;
    const source = block.type === 'resource_link' ? block : isJsonObject(resource) ? resource : {};
    const { uri, name, description, mimeType } = source;
    if (typeof uri !== 'string') return [];
    const notes = [description, mimeType].filter((note) => typeof note === 'string');
    return [{ uri, name: typeof name === 'string' ? name : '', note: notes.join(', ') }];
  });
  const known = new Set(linked.map(({ uri }) => uri));
  const found = addresses.filter((uri) => !known.has(uri));
  return [...linked, ...found.map((uri) => ({ uri, name: '', note: '' }))];
}

export function ResultLinks({ links }: { readonly links: readonly ResultLink[] }) {
  return (
    <ul>
      {links.map(({ uri, name, note }, at) => (
        <li key={at} className="border-line border-b px-5 py-2 [overflow-wrap:anywhere]">
          {name !== '' && (
            <span className="mr-2 font-medium">
              <VisibleText>{name}</VisibleText>
            </span>
          )}
          <span className="font-mono text-small">
            {/^https?:\/\//.test(uri) ? (
              <a href={uri} target="_blank" rel="noopener noreferrer">
                <VisibleText>{uri}</VisibleText>{' '}
                <ExternalLink size={12} aria-hidden className="inline" />
              </a>
            ) : (
              <VisibleText>{uri}</VisibleText>
            )}
          </span>
          {note !== '' && (
            <p className="text-text-2 text-small">
              <VisibleText>{note}</VisibleText>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
