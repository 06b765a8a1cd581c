export const server = {
  title: 'Server',
} as const;
