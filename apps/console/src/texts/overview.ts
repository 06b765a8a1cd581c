export const overview = {
  title: 'Overview',
} as const;
