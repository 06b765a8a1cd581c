// node scripts/glossaries/make.mjs [--cache <folder>]
// Writes libs/search/glossaries from strings that npm and GitHub have; needs the network unless they are in the folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { align, wordsOf } from './align.mjs';
import { languages, parallelStrings, sources } from './sources.mjs';

const { values: options } = parseArgs({
  options: { cache: { type: 'string', default: join(tmpdir(), 'switchboard-glossaries') } },
});
const target = new URL('../../libs/search/glossaries/', import.meta.url);
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from had has have
   how i if in into is it its just let like me my need no not of on or our out please she should so some
   than that the their them then there these they this to up us use using want was we were what when
   where which who will with would you your s t e g`.split(/\s+/),
);

/** Strings of all languages together that a word has to be in. */
const MIN_ENGLISH = 21;

mkdirSync(options.cache, { recursive: true });
mkdirSync(target, { recursive: true });
const english = new Map();
for (const language of Object.keys(languages)) {
  const strings = unique(parallelStrings(options.cache, language));
  const entries = align(strings, language, (word) => STOP_WORDS.has(word));
  const lines = [...entries]
    .map(([word, english]) => `${word}\t${english.join(' ')}`)
    .sort((a, b) => (a < b ? -1 : 1));
  writeFileSync(
    new URL(`${language}.tsv.gz`, target),
    gzipSync(`${lines.join('\n')}\n`, { level: 9 }),
  );
  for (const original of new Set(strings.map(([, text]) => text))) {
    for (const word of new Set(wordsOf(original, 'en'))) {
      english.set(word, (english.get(word) ?? 0) + 1);
    }
  }
  console.log(language, strings.length, 'strings,', lines.length, 'entries');
}

const common = [...english.keys()].filter(
  (word) => english.get(word) >= MIN_ENGLISH && /^[a-z]+$/.test(word),
);
common.sort((a, b) => (a < b ? -1 : 1));
writeFileSync(new URL('en.txt', target), `${common.join('\n')}\n`);
console.log('en', common.length, 'words');

const LICENCE = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;
writeFileSync(
  new URL('NOTICE.md', target),
  `# Notices for the glossaries

Which English words a word of another language stands for, learned by \`node scripts/glossaries/make.mjs\` from interface
strings of these projects. A line of \`<language>.tsv.gz\` is a word or phrase, a tab and its English words, the likeliest
first; none for a word without a meaning of its own. \`en.txt\` has the English words of the same strings.

${Object.values(sources)
  .map(({ copyright, from }) => `- ${from}: ${copyright}`)
  .join('\n')}

## MIT License

${LICENCE}`,
);

function unique(pairs) {
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()];
}
