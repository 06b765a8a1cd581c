import { posix } from 'node:path';
import { headingsIn, linksIn } from './markdown.mjs';

/** Every relative link in Markdown resolves to a file, and its anchor to a heading of that file. */
export function linkProblems(files) {
  return markdownOf(files).flatMap(([path, text]) =>
    linksIn(text).flatMap(({ line, target }) => {
      if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
      const problem = problemOf(target, path, files);
      return problem === undefined ? [] : [`${path}:${line} links to ${target}: ${problem}`];
    }),
  );
}

export function markdownOf(files) {
  return [...files].filter(([path, text]) => path.endsWith('.md') && text !== undefined);
}

/** The file that a link in `path` refers to. */
export function targetOf(link, path) {
  const [file = ''] = link.split('#');
  if (file === '') return path;
  return posix.join(posix.dirname(path), decodeURI(file)).replace(/\/$/, '');
}

/** Candidates for a moved file: those of the same name. */
function movedTo(target, files) {
  const found = [...files.keys()].filter((path) => posix.basename(path) === posix.basename(target));
  return found.length === 0 ? '' : `; ${found.join(' and ')} has that name`;
}

function problemOf(link, path, files) {
  const target = targetOf(link, path);
  if (!files.has(target)) return `there is no such file${movedTo(target, files)}`;
  const [, anchor = ''] = link.split('#');
  if (anchor === '' || !target.endsWith('.md')) return undefined;
  const slugs = headingsIn(files.get(target) ?? '').map(({ slug }) => slug);
  return slugs.includes(decodeURI(anchor)) ? undefined : 'that file has no such heading';
}
