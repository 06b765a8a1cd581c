/** Markdown without fenced code, with the same number of lines. */
function prose(text) {
  let fence;
  return text.split('\n').map((line) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark && fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    else if (fence === undefined) return line;
    return '';
  });
}

/** `[text](target)` with its line number; code spans are ignored. */
export function linksIn(markdown) {
  return prose(markdown).flatMap((line, index) =>
    [...withoutCodeSpans(line).matchAll(/\[((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(([^()\s]+)\)/g)].map(
      ([, text, target]) => ({ line: index + 1, text: text.replaceAll(/\\(.)/g, '$1'), target }),
    ),
  );
}

/** Headings with the anchors that GitHub generates. */
export function headingsIn(markdown) {
  const given = new Map();
  return prose(markdown).flatMap((line, index) => {
    const [, marks, text] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (marks === undefined) return [];
    const plain = slugOf(text);
    const before = given.get(plain) ?? 0;
    given.set(plain, before + 1);
    const slug = before === 0 ? plain : `${plain}-${before}`;
    return [{ line: index + 1, level: marks.length, text, slug }];
  });
}

function slugOf(heading) {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Blanks of the same length, so that positions stay the same. */
function withoutCodeSpans(line) {
  return line.replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, (span) => ' '.repeat(span.length));
}
