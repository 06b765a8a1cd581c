export const tool = {
  title: 'Tool',
} as const;
