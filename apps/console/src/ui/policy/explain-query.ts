import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

/** Matches every tool, also those that wait for approval. */
const EVERYTHING = [{ effect: 'include' as const }];

/** Tools whose name has a text. */
export const toolNamesQuery = (text: string) =>
  queryOptions({
    queryKey: ['views', 'tools', text],
    queryFn: async () => {
      const { tools } = await ask((api) =>
        api.previewRules({ body: { rules: EVERYTHING }, query: { text, limit: 100 } }),
      );
      return tools.map(({ server, original_name: name }) => `${server}.${name}`);
    },
    placeholderData: (before) => before,
  });

interface Question {
  readonly subject: string;
  readonly view: string;
  /** As `server.tool`. */
  readonly tool: string;
}

export const explainQuery = ({ subject, view, tool }: Question, enabled: boolean) =>
  queryOptions({
    queryKey: ['policy', 'explain', subject, view, tool],
    queryFn: () => ask((api) => api.explainAccess({ body: { subject, view, tool_name: tool } })),
    enabled,
    placeholderData: (before) => before,
  });
