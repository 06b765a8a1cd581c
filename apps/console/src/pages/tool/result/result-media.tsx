import { FileQuestion } from 'lucide-react';
import { isJsonObject } from '../../../mcp/json.js';
import { texts } from '../../../texts/index.js';
import { bytes } from '../../../ui/format.js';
import type { Block } from '../try/run-words.js';

interface Medium {
  readonly type: string;
  /** Base64. */
  readonly data: string;
}

/** Raster types only: an SVG is a document that may carry scripts. */
const RASTER = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function mediaOf(blocks: readonly Block[]): Medium[] {
  return blocks.flatMap((block) => {
    const resource = block.type === 'resource' ? block['resource'] : undefined;
    const source = isJsonObject(resource) ? resource : block;
    const { mimeType } = source;
    const data = source['blob'] ?? source['data'];
    return typeof data === 'string'
      ? [{ type: typeof mimeType === 'string' ? mimeType : block.type, data }]
      : [];
  });
}

export function ResultMedia({ media }: { readonly media: readonly Medium[] }) {
  return (
    <ul className="flex flex-wrap gap-4 px-5 py-4">
      {media.map((medium, at) => (
        <li key={at} className="border-line max-w-full rounded-2 border p-2">
          <MediumView medium={medium} />
        </li>
      ))}
    </ul>
  );
}

function MediumView({ medium }: { readonly medium: Medium }) {
  const { type, data } = medium;
  const size = bytes(Math.floor((data.length * 3) / 4));
  if (!RASTER.has(type) || !BASE64.test(data)) {
    return (
      <p className="text-text-2 flex items-center gap-2">
        <FileQuestion size={16} aria-hidden /> {texts.tool.notShown(type, size)}
      </p>
    );
  }
  return (
    <figure>
      <img
        src={`data:${type};base64,${data}`}
        alt={`${type}, ${size}`}
        className="max-h-120 max-w-full"
      />
      <figcaption className="text-text-3 mt-1 text-label">
        {type}, {size}
      </figcaption>
    </figure>
  );
}
