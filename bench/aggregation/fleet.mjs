// Six servers that share and partly repeat the paragraphs of a reading-comprehension set.
const names = ['archive', 'docs', 'notes', 'papers', 'portal', 'wiki'];
const RESULTS_PER_SERVER = 10;

/** Paragraphs and questions of a file in SQuAD's format; equal contexts are one paragraph. */
export function readSet(json) {
  const paragraphs = [];
  const questions = [];
  for (const { paragraphs: list } of json.data) {
    for (const { context, qas } of list) {
      const id = paragraphs.length;
      paragraphs.push({ id, text: context });
      for (const { question, answers } of qas) {
        questions.push({ text: question, paragraph: id, answer: answers[0].text });
      }
    }
  }
  return { paragraphs, questions };
}

/** Every paragraph is on one to three servers: unchanged, with other formatting, or slightly edited. */
export function buildFleet({ paragraphs }, random) {
  const fleet = names.map((name, i) => ({
    name,
    format: formats[i % formats.length],
    documents: [],
  }));
  for (const { id, text } of paragraphs) {
    const copies = 1 + Math.floor(random() * 3);
    const owners = shuffled(fleet, random).slice(0, copies);
    owners.forEach((owner, i) => {
      owner.documents.push({ id, text: i === 0 ? text : changed(text, random) });
    });
  }
  return fleet.map((server) => ({
    name: server.name,
    search: (question) => answerOf(server, question),
  }));
}

/** A typical server's search: counts matching words of the query, all with equal weight. */
function answerOf({ name, format, documents }, question) {
  const wanted = new Set(wordsOf(question));
  const hits = documents
    .map((document) => {
      const words = wordsOf(document.text);
      const found = words.filter((word) => wanted.has(word)).length;
      return { document, score: found / Math.sqrt(words.length) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.document.id - b.document.id)
    .slice(0, RESULTS_PER_SERVER)
    .map(({ document }) => ({ ...document, url: `https://${name}.example/${document.id}` }));
  return { ids: hits.map(({ id }) => id), result: format(hits) };
}

const formats = [
  (hits) => ({
    content: [
      {
        type: 'text',
        text: JSON.stringify({ results: hits.map(({ text, url }) => ({ url, content: text })) }),
      },
    ],
  }),
  (hits) => ({
    content: [
      {
        type: 'text',
        text: hits
          .map(({ text, url }, i) => `## Result ${i + 1}\n\nSource: ${url}\n\n${text}`)
          .join('\n\n'),
      },
    ],
  }),
  (hits) => ({
    content: hits.map(({ text, url }) => ({
      type: 'resource',
      resource: { uri: url, mimeType: 'text/plain', text },
    })),
  }),
  (hits) => {
    const structuredContent = {
      items: hits.map(({ text, url }) => ({ link: url, snippet: text })),
    };
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    };
  },
];

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const fillers = ['also', 'indeed', 'notably', 'however', 'moreover'];
function changed(text, random) {
  const kind = random();
  if (kind < 0.34) return text;
  if (kind < 0.67) return `**${text.slice(0, 40)}**${text.slice(40).replaceAll('. ', '.\n')}`;
  return text
    .split(' ')
    .map((word) =>
      random() < 0.03 ? `${fillers[Math.floor(random() * fillers.length)]} ${word}` : word,
    )
    .join(' ');
}

function shuffled(items, random) {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** mulberry32: the same numbers on every machine. */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
