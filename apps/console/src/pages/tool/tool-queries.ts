import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

/** By name (`server.tool`) or id. */
export const toolQuery = (name: string) =>
  queryOptions({
    queryKey: ['tools', 'one', name],
    queryFn: () => ask((api) => api.getTool({ path: { id: name } })),
  });

const MAX_VIEWS = 50;

/** Which views offer the tool to any caller. */
export const viewsOfToolQuery = (toolId: string) =>
  queryOptions({
    queryKey: ['views', 'of-tool', toolId],
    queryFn: async () => {
      const { views } = await ask((api) => api.listViews({ query: { limit: MAX_VIEWS } }));
      return Promise.all(
        views.map(async ({ slug, title }) => {
          const { rule } = await ask((api) =>
            api.explainAccess({ body: { subject: 'anyone', view: slug, tool: Number(toolId) } }),
          );
          return { slug, title, isOffered: rule?.effect === 'include' };
        }),
      );
    },
  });

/** The override for every view, and those of views. */
export const overridesQuery = (toolId: string) =>
  queryOptions({
    queryKey: ['policy', 'overrides', toolId],
    queryFn: async () =>
      (await ask((api) => api.listOverrides({ path: { id: toolId } }))).overrides,
  });

export const toolSkillsQuery = (toolId: string) =>
  queryOptions({
    queryKey: ['skills', 'of-tool', toolId],
    queryFn: () => ask((api) => api.getToolSkills({ path: { id: Number(toolId) } })),
  });
