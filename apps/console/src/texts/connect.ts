export const connect = {
  title: 'Connect',
} as const;
