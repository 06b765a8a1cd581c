// Interface strings in English and in other languages, all of them under the MIT licence.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const PACK = '25.1.2';
const vscode = (code) => ({ npm: `@codingame/monaco-vscode-language-pack-${code}@${PACK}` });

export const sources = {
  vscode: {
    copyright: 'Copyright (c) Microsoft Corporation',
    from: `npm: @codingame/monaco-vscode-language-pack-* ${PACK}`,
  },
  rocketchat: {
    copyright: 'Copyright (c) 2015-2022 Rocket.Chat Technologies Corp.',
    from: 'github: RocketChat/Rocket.Chat a834e1707691413778cb74f379328929979541f1, packages/i18n/src/locales',
    github: 'RocketChat/Rocket.Chat/a834e1707691413778cb74f379328929979541f1',
  },
  chatwoot: {
    copyright: 'Copyright (c) 2017-2024 Chatwoot Inc.',
    from: 'github: chatwoot/chatwoot 4339e0ee0add0616d56bc0bb74e1f38ecc8dd8f2, app/javascript/dashboard/i18n/locale',
    github: 'chatwoot/chatwoot/4339e0ee0add0616d56bc0bb74e1f38ecc8dd8f2',
  },
  uptimeKuma: {
    copyright: 'Copyright (c) 2021 Louis Lam',
    from: 'github: louislam/uptime-kuma 6398a9581d1c3c427a7536559f47ccf45dac08b4, src/lang',
    github: 'louislam/uptime-kuma/6398a9581d1c3c427a7536559f47ccf45dac08b4',
  },
  bagisto: {
    copyright: 'Copyright (c) Webkul',
    from: 'github: bagisto/bagisto 889a7c6bd7200867d528f6ddc2668798e7db05d8, packages/Webkul/{Admin,Shop}/src/Resources/lang',
    github: 'bagisto/bagisto/889a7c6bd7200867d528f6ddc2668798e7db05d8',
  },
  agGrid: {
    copyright: 'Copyright (c) 2015-2025 AG GRID LTD',
    from: 'npm: @ag-grid-community/locale 36.2.0',
    npm: '@ag-grid-community/locale@36.2.0',
  },
  emojibase: {
    copyright: 'Copyright (c) 2017-2019 Miles Johnson',
    from: 'npm: emojibase-data 17.0.0',
    npm: 'emojibase-data@17.0.0',
  },
};

/** What each source calls a language. */
export const languages = {
  de: {
    vscode: 'de',
    rocketchat: 'de',
    chatwoot: 'de',
    bagisto: 'de',
    uptimeKuma: 'de-DE',
    agGrid: 'DE',
  },
  es: {
    vscode: 'es',
    rocketchat: 'es',
    chatwoot: 'es',
    bagisto: 'es',
    uptimeKuma: 'es-ES',
    agGrid: 'ES',
  },
  fr: {
    vscode: 'fr',
    rocketchat: 'fr',
    chatwoot: 'fr',
    bagisto: 'fr',
    uptimeKuma: 'fr-FR',
    agGrid: 'FR',
  },
  it: {
    vscode: 'it',
    rocketchat: 'it',
    chatwoot: 'it',
    bagisto: 'it',
    uptimeKuma: 'it-IT',
    agGrid: 'IT',
  },
  ja: {
    vscode: 'ja',
    rocketchat: 'ja',
    chatwoot: 'ja',
    bagisto: 'ja',
    uptimeKuma: 'ja',
    agGrid: 'JP',
  },
  pt: {
    vscode: 'pt-br',
    rocketchat: 'pt-BR',
    chatwoot: 'pt_BR',
    bagisto: 'pt_BR',
    uptimeKuma: 'pt-BR',
    agGrid: 'BR',
  },
  zh: {
    vscode: 'zh-hans',
    rocketchat: 'zh',
    chatwoot: 'zh_CN',
    bagisto: 'zh_CN',
    uptimeKuma: 'zh-CN',
    agGrid: 'CN',
  },
};

/** Pairs of a string and its English original. Packages are unpacked into the folder unless they are there. */
export function parallelStrings(folder, language) {
  const names = languages[language];
  const english = pseudoEnglish(folder);
  const read = {
    vscode: [english, vscodeStrings(folder, names.vscode)],
    rocketchat: ['en', names.rocketchat].map((name) => rocketchatStrings(folder, name)),
    chatwoot: ['en', names.chatwoot].map((name) => chatwootStrings(folder, name)),
    uptimeKuma: ['en', names.uptimeKuma].map((name) => uptimeKumaStrings(folder, name)),
    agGrid: ['EN', names.agGrid].map((name) => agGridStrings(folder, name)),
    bagisto: ['en', names.bagisto].map((name) => bagistoStrings(folder, name)),
    emojibase: ['en', language].map((name) => emojiStrings(folder, name)),
  };
  return Object.values(read).flatMap(([originals, translations]) =>
    [...translations].flatMap(([key, text]) => {
      const original = originals.get(key) ?? key.split('bundle/')[1]?.split('/')[0];
      return original && text && original !== text ? [[text, original]] : [];
    }),
  );
}

function vscodeStrings(folder, code) {
  const root = npmPackage(folder, vscode(code).npm);
  const strings = new Map();
  const main = readFileSync(join(root, 'translations/main.i18n.json.js'), 'utf8');
  // An array of string literals, one a line, after `var content = `.
  for (const [i, line] of main.split('\n').entries()) {
    const literal = /^\t(".*"),?$/.exec(line)?.[1];
    if (literal) strings.set(`main/${i}`, JSON.parse(literal));
  }
  const extensions = join(root, 'translations/extensions');
  for (const file of readdirSync(extensions)) {
    const { contents } = JSON.parse(readFileSync(join(extensions, file), 'utf8'));
    flatten(contents, `${file}/`, strings);
  }
  return strings;
}

/** Letters of the pseudo locale, by which the packs carry the English originals. */
const PSEUDO = new Map(
  Object.entries({
    ...{ æ: 'a', ç: 'c', ð: 'd', ë: 'e', ï: 'i', ñ: 'n', ø: 'o', þ: 'b', µ: 'u', ÿ: 'y' },
    ...{ Æ: 'A', ß: 'B', Ç: 'C', Ð: 'D', Ë: 'E', Ï: 'I', '£': 'L', Ñ: 'N', Ø: 'O', '§': 'S' },
    ...{ Ü: 'U', Ý: 'Y' },
  }),
);

function pseudoEnglish(folder) {
  return new Map(
    [...vscodeStrings(folder, 'qps-ploc')].map(([key, text]) => [
      key,
      text.replace(/[^ -~]/g, (letter) => PSEUDO.get(letter) ?? letter),
    ]),
  );
}

function rocketchatStrings(folder, name) {
  const root = githubFolder(folder, sources.rocketchat.github);
  return jsonStrings(join(root, `packages/i18n/src/locales/${name}.i18n.json`));
}

function chatwootStrings(folder, name) {
  const root = githubFolder(folder, sources.chatwoot.github);
  const locale = join(root, 'app/javascript/dashboard/i18n/locale', name);
  const strings = new Map();
  for (const file of readdirSync(locale).filter((one) => one.endsWith('.json'))) {
    flatten(JSON.parse(readFileSync(join(locale, file), 'utf8')), `${file}/`, strings);
  }
  return strings;
}

function uptimeKumaStrings(folder, name) {
  const root = githubFolder(folder, sources.uptimeKuma.github);
  return jsonStrings(join(root, `src/lang/${name}.json`));
}

function agGridStrings(folder, name) {
  const root = npmPackage(folder, sources.agGrid.npm);
  const locales = createRequire(import.meta.url)(join(root, 'dist/package/main.cjs.js'));
  return new Map(Object.entries(locales[`AG_GRID_LOCALE_${name}`]));
}

/** PHP arrays of single-quoted strings. */
function bagistoStrings(folder, name) {
  const root = githubFolder(folder, sources.bagisto.github);
  const strings = new Map();
  for (const part of ['Admin', 'Shop']) {
    const file = join(root, `packages/Webkul/${part}/src/Resources/lang/${name}/app.php`);
    const path = [part];
    const token = /'((?:[^'\\]|\\.)*)'\s*=>\s*(?:'((?:[^'\\]|\\.)*)'|\[)|\]/g;
    for (const [whole, key, value] of readFileSync(file, 'utf8').matchAll(token)) {
      if (whole === ']') path.pop();
      else if (value === undefined) path.push(key);
      else strings.set([...path, key].join('/'), value.replace(/\\'/g, "'"));
    }
  }
  return strings;
}

/** Names of things of everyday life, and words for each. */
function emojiStrings(folder, name) {
  const root = npmPackage(folder, sources.emojibase.npm);
  const strings = new Map();
  for (const emoji of JSON.parse(readFileSync(join(root, `${name}/compact.json`), 'utf8'))) {
    strings.set(`${emoji.hexcode}/label`, emoji.label);
    if (emoji.tags) strings.set(`${emoji.hexcode}/tags`, emoji.tags.join(' '));
  }
  return strings;
}

function jsonStrings(file) {
  const strings = new Map();
  flatten(JSON.parse(readFileSync(file, 'utf8')), '', strings);
  return strings;
}

function flatten(value, prefix, strings) {
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'string') strings.set(prefix + key, item);
    else if (item && typeof item === 'object') flatten(item, `${prefix}${key}/`, strings);
  }
}

function npmPackage(folder, spec) {
  const root = join(folder, spec.replaceAll('/', '+'));
  if (!existsSync(root)) {
    mkdirSync(root, { recursive: true });
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, spec]);
    execFileSync('tar', ['xzf', join(folder, packed.toString().trim()), '-C', root]);
  }
  return join(root, 'package');
}

function githubFolder(folder, path) {
  const root = join(folder, path.replaceAll('/', '+'));
  if (!existsSync(root)) {
    mkdirSync(root, { recursive: true });
    const [owner, name, commit] = path.split('/');
    const url = `https://codeload.github.com/${owner}/${name}/tar.gz/${commit}`;
    const archive = join(folder, `${name}-${commit}.tar.gz`);
    execFileSync('curl', ['-fsSL', '-o', archive, url]);
    execFileSync('tar', ['xzf', archive, '-C', root, '--strip-components', '1']);
  }
  return root;
}
