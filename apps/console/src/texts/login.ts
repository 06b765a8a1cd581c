export const login = {
  title: 'Log in',
  lead: 'Log in to the console of this service.',
  providerTitle: 'At the identity provider',
  provider: (host: string) => `Log in with ${host}`,
  passwordTitle: 'With a password',
  nameLabel: 'Name',
  passwordLabel: 'Password',
  linkTitle: 'With a link',
  linkHint: 'Run this on the machine of the service and open the link that it prints:',
  command: 'switchboard login',
  tokenTitle: 'With a token',
  tokenLabel: 'Token',
  tokenHint:
    'Any token of this service. It is sent once and not kept; what you may do is what the token may do.',
  submit: 'Log in',
  byLink: 'Logging in with the link …',
  linkRefused: 'The link was used before or is too old',
  linkInstead: (name: string) =>
    `You are logged in as ${name}. The link logs you in as the person who made it. Use it only if that is you.`,
  useLink: 'Use the link',
  stay: (name: string) => `Stay ${name}`,
  ended: 'Your login ended. Log in again; the address stays.',
} as const;
