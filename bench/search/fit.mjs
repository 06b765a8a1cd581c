const THRESHOLDS = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5];

/** Lines of a table: at which threshold of the best fit how many queries without and with a tool would be told. */
export async function fitCurve(set, search) {
  const bestFit = async ({ text }) => {
    const { tools } = await search({ query: text.slice(0, 2_000), include_schemas: false });
    return Math.max(0, ...tools.map(({ fit }) => fit));
  };
  const [served, unserved] = [[], []];
  for (const query of set.queries) served.push(await bestFit(query));
  for (const query of set.unserved) unserved.push(await bestFit(query));
  const below = (fits, threshold) =>
    ((100 * fits.filter((fit) => fit < threshold).length) / fits.length).toFixed(1);
  return [
    '',
    '| threshold | told, of those without a tool % | false alarms % |',
    '|---|---|---|',
    ...THRESHOLDS.map((at) => `| ${at} | ${below(unserved, at)} | ${below(served, at)} |`),
    '',
  ];
}
