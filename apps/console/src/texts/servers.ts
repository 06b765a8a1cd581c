export const servers = {
  title: 'Servers',
} as const;
