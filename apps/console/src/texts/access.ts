export const access = {
  title: 'Access',
} as const;
