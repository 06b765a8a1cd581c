/** How this service introduces itself to clients and servers; a test compares it with package.json. */
export const product = { name: 'switchboard', version: '0.1.0' } as const;
