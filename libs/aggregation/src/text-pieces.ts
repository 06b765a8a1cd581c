import type { Piece } from './passage.js';

/** Big enough to be understood alone, small enough that thirty fit into a model's context. */
const TARGET_CHARS = 1_000;
export const MAX_PIECE_CHARS = 1_500;
/** A heading or a line too short to stand alone goes with what follows. */
const MIN_CHARS = 60;

const HEADING = /^#{1,6}\s+\S/;
const RULE = /^\s*([-*_=])(?:\s*\1){2,}\s*$/;
const FENCE = /^\s*(?:```|~~~)/;
const SOURCE_LINE =
  /^\s*(?:\*\*)?(?:source|url|link|uri)(?:\*\*)?:\s*<?([a-z][a-z0-9+.-]*:\/\/\S+?)>?\s*$/im;

/** Markdown or plain text, cut at headings and rules, then at paragraphs, then at sentences. */
export function piecesOfText(text: string): Piece[] {
  const pieces: Piece[] = [];
  let carried = '';
  for (const section of sectionsOf(text)) {
    const whole = carried ? `${carried}\n\n${section}` : section;
    carried = '';
    if (whole.length < MIN_CHARS) carried = whole;
    else pieces.push(...piecesOfSection(whole));
  }
  return carried ? [...pieces, ...piecesOfSection(carried)] : pieces;
}

function piecesOfSection(section: string): Piece[] {
  const url = SOURCE_LINE.exec(section)?.[1];
  return packed(section).map((text) => ({ text, ...(url !== undefined && { url }) }));
}

/** From one heading or rule to the next; those inside code are code. */
function sectionsOf(text: string): string[] {
  const sections: string[][] = [[]];
  let inCode = false;
  let previous = '';
  for (const line of text.split(/\r?\n/)) {
    if (FENCE.test(line)) inCode = !inCode;
    const isRule = !inCode && previous.trim() === '' && RULE.test(line);
    if (isRule || (!inCode && HEADING.test(line))) sections.push([]);
    if (!isRule) sections.at(-1)?.push(line);
    previous = line;
  }
  return sections.map((lines) => lines.join('\n').trim()).filter(Boolean);
}

/** Paragraphs together up to the target; each piece after the first repeats the heading of the section. */
function packed(section: string): string[] {
  if (section.length <= MAX_PIECE_CHARS) return [section];
  const firstLine = section.split('\n', 1)[0] ?? '';
  const heading = HEADING.test(firstLine) ? `${firstLine.slice(0, 200)}\n\n` : '';
  const pieces: string[] = [];
  let current = '';
  for (const block of blocksOf(section)) {
    if (current && current.length + block.length > TARGET_CHARS) {
      pieces.push(current);
      current = '';
    }
    current = current ? `${current}\n\n${block}` : block;
  }
  if (current) pieces.push(current);
  return pieces.map((piece, i) => (i === 0 || !heading ? piece : heading + piece));
}

/** Paragraphs, with code kept whole where it fits; what is too long for a piece is cut further. */
function blocksOf(section: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let inCode = false;
  const close = (): void => {
    if (lines.length > 0) blocks.push(...fitting(lines.join('\n')));
    lines = [];
  };
  for (const line of section.split('\n')) {
    if (FENCE.test(line)) inCode = !inCode;
    if (line.trim() === '' && !inCode) close();
    else lines.push(line);
  }
  close();
  return blocks;
}

function fitting(block: string): string[] {
  if (block.length <= TARGET_CHARS) return [block];
  const lines = block.split('\n');
  const [units, glue] =
    lines.length > 1
      ? [lines.flatMap((line) => (line.length > TARGET_CHARS ? sentencesOf(line) : [line])), '\n']
      : [sentencesOf(block), ''];
  const parts: string[] = [];
  let current = '';
  for (const unit of units.flatMap(chopped)) {
    if (current && current.length + unit.length > TARGET_CHARS) {
      parts.push(current);
      current = '';
    }
    current = current ? current + glue + unit : unit;
  }
  if (current) parts.push(current);
  return parts;
}

/** Text without sentences, such as data in base64. */
function chopped(unit: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < unit.length; start += TARGET_CHARS) {
    parts.push(unit.slice(start, start + TARGET_CHARS).toWellFormed());
  }
  return parts;
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Joined together they are the text again. */
export function sentencesOf(text: string): string[] {
  return Array.from(sentences.segment(text), ({ segment }) => segment);
}
