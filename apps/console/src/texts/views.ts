export const views = {
  title: 'Views',
} as const;
