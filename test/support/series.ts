const SERIES = /\b((?:mcp_aggregator|process|nodejs)_\w+)(?:\{(.*?)\})?/g;

/**
 * The series that an expression of PromQL names and `/metrics` does not have. A counter with labels has none before its
 * first event: then its declaration is enough. `instance` is the scrape's own label.
 */
export function missingSeries(metrics: string, expr: string): string[] {
  return [...expr.matchAll(SERIES)].flatMap(([whole, name = '', matchers = '']) => {
    const wanted = matchers
      .split(',')
      .map((matcher) => matcher.trim())
      .filter((matcher) => matcher !== '' && !matcher.startsWith('instance'));
    const found = metrics
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .some((line) => wanted.every((matcher) => line.includes(matcher)));
    const family = name.replace(/_(?:bucket|count|sum)$/, '');
    return found || metrics.includes(`# TYPE ${family} counter`) ? [] : [whole];
  });
}
