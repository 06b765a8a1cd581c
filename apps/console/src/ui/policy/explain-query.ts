import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

/** Every tool is matched by a rule without conditions, also those that wait for approval. */
const EVERYTHING = [{ effect: 'include' as const }];

async function findTools(text: string, limit: number) {
  const { tools } = await ask((api) =>
    api.previewRules({ body: { rules: EVERYTHING }, query: { text, limit } }),
  );
  return tools.map(({ id, server, original_name: original }) => ({
    id,
    name: `${server}.${original}`,
  }));
}

/** Tools whose name has a text. */
export const toolNamesOfViewsQuery = (text: string) =>
  queryOptions({
    queryKey: ['views', 'tools', text],
    queryFn: () => findTools(text, 20),
    placeholderData: (before) => before,
  });

interface Question {
  readonly subject: string;
  readonly view: string;
  /** As `server.tool`. */
  readonly tool: string;
}

/** Null for a tool that is not known. */
export const explainQuery = ({ subject, view, tool }: Question, enabled: boolean) =>
  queryOptions({
    queryKey: ['policy', 'explain', subject, view, tool],
    queryFn: async () => {
      const found = (await findTools(tool, 100)).find(({ name }) => name === tool);
      if (!found) return null;
      return ask((api) => api.explainAccess({ body: { subject, view, tool: found.id } }));
    },
    enabled,
    placeholderData: (before) => before,
  });
