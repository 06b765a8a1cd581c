export const errors = {
  noAnswer: 'The service does not answer. Is it running?',
  status: (status: number) => `The service answered ${status} without a reason.`,
  page: 'This page stopped working',
  pageHint: 'Reload it. If it happens again, please report it with the text below.',
  reload: 'Reload',
  notFound: 'There is no such page',
  toOverview: 'Go to the overview',
  couldNotBeRead: (what: string) => `${what} could not be read`,
} as const;
