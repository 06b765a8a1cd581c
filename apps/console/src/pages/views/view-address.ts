/** Where clients use a view. */
export function addressOf(slug: string): string {
  const path = slug === 'default' ? '/mcp' : `/mcp/views/${slug}`;
  return `${window.location.origin}${path}`;
}
