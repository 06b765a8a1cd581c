export const tools = {
  title: 'Tools',
} as const;
