// `npm run tables`: checks which lib may read or write which table. The import graph does not show coupling through
// SQL. Migrations are not checked; tests may read any row.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Every table has one owner; no other lib names it in a statement or an entity. */
export const owners = {
  api_tokens: 'access',
  approvals: 'approvals',
  audit_log: 'access',
  browser_sessions: 'access',
  call_days: 'activity',
  compatible_migrations: 'platform',
  external_servers: 'registry',
  grants: 'policy',
  issued_tokens: 'access',
  kept_result_pages: 'results',
  kept_results: 'results',
  leader_lease: 'platform',
  migrations: 'platform',
  login_codes: 'access',
  oauth_grants: 'oauth',
  oauth_keys: 'oauth',
  oauth_records: 'oauth',
  passwords: 'access',
  people: 'access',
  person_credentials: 'authorization',
  policy_history: 'policy',
  policy_versions: 'policy',
  query_rules: 'aggregation',
  query_servers: 'aggregation',
  replicas: 'platform',
  server_authorizations: 'registry',
  server_connection_history: 'registry',
  server_offerings: 'gateway',
  settings: 'platform',
  skill_categories: 'classification',
  skill_suggestions: 'classification',
  tool_classifications: 'classification',
  tool_overrides: 'policy',
  tool_skill_assignments: 'classification',
  tool_uses: 'learning',
  tool_vectors: 'vectors',
  tools: 'catalogue',
  view_rules: 'policy',
  views: 'policy',
  webhook_deliveries: 'webhooks',
  webhooks: 'webhooks',
};

const STATEMENT =
  /\b(insert\s+into|update|delete\s+from|truncate(?:\s+table)?|lock\s+table|merge\s+into|copy|from|join|using)\s+(?:only\s+)?"?mcp"?\."?(\w+)"?/gi;
/** Anywhere else: in a list of tables, as a constant, as a regclass. */
const MENTION = /(?<![\w/.-])"?mcp"?\."?(\w+)"?(?!\.?\w*\.js)/g;
const ENTITY = /@Entity\(\s*\{[^}]*\bname:\s*['"`](\w+)['"`]/g;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g;

/** The problems in one file of a lib, one line each. */
export function violationsIn(lib, path, source) {
  const text = source.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, ' '));
  const uses = [
    ...[...text.matchAll(STATEMENT)].map((match) => [match.index, match[2], verbOf(match[1])]),
    ...[...text.matchAll(ENTITY)].map((match) => [match.index, match[1], 'maps']),
  ];
  const seen = new Set(uses.map(([index, table]) => `${lineOf(text, index)} ${table}`));
  for (const { index, 1: table } of text.matchAll(MENTION)) {
    if (table in owners && !seen.has(`${lineOf(text, index)} ${table}`)) {
      uses.push([index, table, 'names']);
    }
  }
  return uses.flatMap(([index, table, verb]) => {
    const owner = owners[table];
    if (owner === lib) return [];
    const told = owner ? `belongs to libs/${owner}` : 'has no owner in scripts/table-owners.mjs';
    return [`${path}:${lineOf(text, index)}: libs/${lib} ${verb} mcp.${table}, which ${told}`];
  });
}

function lineOf(text, index) {
  return text.slice(0, index).split('\n').length;
}

function verbOf(keyword) {
  return /^(from|join|using)$/i.test(keyword) ? 'reads' : 'writes';
}

async function* sourcesOf(folder) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const isSource =
      entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.spec.ts');
    if (isSource) yield join(entry.parentPath ?? entry.path, entry.name);
  }
}

export async function violations(root) {
  const found = [];
  for (const lib of await readdir(join(root, 'libs'))) {
    for await (const file of sourcesOf(join(root, 'libs', lib))) {
      found.push(...violationsIn(lib, relative(root, file), await readFile(file, 'utf8')));
    }
  }
  return found;
}

if (process.argv[1] === import.meta.filename) {
  const found = await violations(process.argv[2] ?? process.cwd());
  for (const line of found) console.error(line);
  if (found.length > 0) process.exitCode = 1;
  else console.log(`tables: ${Object.keys(owners).length}, each used by its owner alone`);
}
