import type { ViewRuleDto } from '@app/api-client';
import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

export type ToolState = 'offered' | 'held' | 'left_out';

export interface PreviewRequest {
  readonly view: string;
  readonly rules: readonly ViewRuleDto[];
  readonly level?: 'read' | 'call_read_only' | 'call';
  readonly state?: ToolState;
  readonly text?: string;
  readonly limit: number;
}

/** What rules do to the tools. The one before stays while the next is read, so that the page does not jump. */
export const previewQuery = (request: PreviewRequest) => {
  const { view, rules, level, state, text, limit } = request;
  return queryOptions({
    queryKey: ['views', 'preview', request],
    queryFn: () =>
      ask((api) =>
        api.previewRules({
          body: { view, rules: [...rules], ...(level && { level }) },
          query: { limit, ...(state && { state }), ...(text && { text }) },
        }),
      ),
    placeholderData: (before) => before,
  });
};

/** How far a subject reaches on a view; null without a grant. */
export const levelQuery = (view: string, subject: string) =>
  queryOptions({
    queryKey: ['views', 'level', view, subject],
    queryFn: async () => {
      const path = { slug: view };
      const { level } = await ask((api) =>
        api.previewView({ path, query: { as: subject, limit: 1 } }),
      );
      return level === 'read' || level === 'call_read_only' || level === 'call' ? level : null;
    },
    enabled: subject !== '',
  });

/** Ids of skills, to choose from. */
export const skillIdsQuery = queryOptions({
  queryKey: ['skills', 'ids'],
  queryFn: async () => {
    const { skills } = await ask((api) => api.listSkills({ query: { limit: 500 } }));
    return skills.map(({ id }) => id);
  },
});
