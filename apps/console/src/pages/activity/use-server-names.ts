import { useQuery } from '@tanstack/react-query';
import { serversQuery } from '../../api/queries.js';

export function useServerNames(): readonly string[] {
  const { data: servers = [] } = useQuery(serversQuery);
  return servers.map(({ name }) => name).sort();
}
