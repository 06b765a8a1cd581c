import type { DataSource } from 'typeorm';

const SCHEMA = `
  SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || coalesce(column_default, '') AS item
  FROM information_schema.columns WHERE table_schema = 'mcp' AND table_name <> 'migrations'
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'mcp' AND tablename <> 'migrations'
  UNION ALL SELECT sequence_name FROM information_schema.sequences
    WHERE sequence_schema = 'mcp' AND sequence_name NOT LIKE 'migrations%'
  ORDER BY 1`;

/** All tables, columns, indexes and sequences as comparable text. */
export async function schemaOf(dataSource: DataSource): Promise<string[]> {
  return (await dataSource.query<{ item: string }[]>(SCHEMA)).map((row) => row.item);
}
