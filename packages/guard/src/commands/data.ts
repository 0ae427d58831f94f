import type { Call } from '../call.ts';

/** True if SQL destroys data; ignores strings and comments. */
export function destroysData(sql: string): string | null {
  const bare = sql
    .replace(/\bEXECUTE\s+'((?:[^']|'')*)'/gi, ';$1;')
    .replace(/^\uE000+/, '')
    .replace(/'(?:[^']|'')*'/g, "''")
    .replace(/--[^\n]*|\/\*.*?\*\//gs, ' ');
  for (const statement of bare.split(';')) {
    const [, what] =
      /^\s*(?:BEGIN\s+)?(DROP\s+(?:TABLE|DATABASE|SCHEMA|KEYSPACE|COLLECTION|USER|ROLE|(?:MATERIALIZED\s+)?VIEW|INDEX|TABLESPACE|OWNED|EXTENSION|SEQUENCE|TYPE)|TRUNCATE|ALTER\s+TABLE\s+.*\bDROP\s+COLUMN)\b/is.exec(
        statement,
      ) ?? [];
    if (what) return what.replace(/\s+/g, ' ').toUpperCase();
    if (/^\s*DELETE\s+FROM\s+\S+\s*$/i.test(statement)) return 'DELETE without WHERE';
    if (/^\s*DELETE\s+FROM\b.*\bWHERE\s+(1\s*=\s*1|true)\s*$/is.test(statement)) return 'DELETE of every row';
    if (/^\s*UPDATE\s+\S+\s+SET\b(?!.*\bWHERE\b)/is.test(statement)) return 'UPDATE without WHERE';
  }
  if (/\bDETACH\s+DELETE\b/i.test(bare)) return 'DELETE of nodes';
  const [, mongo] =
    /(\bdropDatabase|\bdropCollection|\bdeleteMany\(\s*\{\s*\}|\.drop\(\s*\)|\.remove\(\s*\{\s*\})/.exec(
      bare.replace(/"(?:[^"\\]|\\.)*"/g, '""'),
    ) ?? [];
  return mongo ?? null;
}

export const empties =
  /(?:\.|->|::)(delete_all|destroy_all|truncate_tables|drop_all|drop_table|drop_database|dropDatabase|dropSchema|dropTable|flush_?(all|db)|drop\(\s*\))|\bobjects\.(all\(\)\.)?delete\(|\.deleteMany\(\s*(\{\s*\})?\s*\)|\.destroy\(\s*\{\s*(truncate:\s*true|where:\s*\{\s*\})|\)\.(del|truncate)\(\s*\)|\bsync\(\s*\{\s*force:\s*true/i;

export function isTestRun({ env, shell }: Call): boolean {
  return ['NODE_ENV', 'RAILS_ENV', 'RACK_ENV', 'APP_ENV', 'MIX_ENV', 'DATABASE_URL'].some((name) =>
    /\btest|_test\b/.test(env.get(name) ?? shell.variables.get(name)?.items[0] ?? ''),
  );
}
