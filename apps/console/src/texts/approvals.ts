export const approvals = {
  title: 'Approvals',
} as const;
