import { readArgs } from '../argv.ts';
import { hasGlob, STAR, shown, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';
import { zoneOf } from '../paths.ts';
import { askPerson, when } from './rules.ts';

const makeTestDatabase = 'Work on a database of your own whose name says test.';

/** Whether SQL destroys data, its texts and comments aside. */
export function destroysData(sql: string): string | null {
  const bare = sql.replace(/'(?:[^']|'')*'/g, "''").replace(/--[^\n]*|\/\*.*?\*\//gs, ' ');
  for (const statement of bare.split(';')) {
    const [, what] =
      /^\s*(?:BEGIN\s+)?(DROP\s+(?:TABLE|DATABASE|SCHEMA|KEYSPACE|COLLECTION|USER|ROLE|VIEW|INDEX|TABLESPACE|OWNED)|TRUNCATE|ALTER\s+TABLE\s+.*\bDROP\s+COLUMN)\b/is.exec(
        statement,
      ) ?? [];
    if (what) return what.replace(/\s+/g, ' ').toUpperCase();
    if (/^\s*DELETE\s+FROM\s+\S+\s*$/i.test(statement)) return 'DELETE without WHERE';
    if (/^\s*DELETE\s+FROM\b.*\bWHERE\s+(1\s*=\s*1|true)\s*$/is.test(statement)) return 'DELETE of every row';
    if (/^\s*UPDATE\s+\S+\s+SET\b(?!.*\bWHERE\b)/is.test(statement)) return 'UPDATE without WHERE';
  }
  const [, mongo] =
    /\b(dropDatabase|dropCollection|deleteMany\(\s*\{\s*\}|\.drop\(\s*\)|\.remove\(\s*\{\s*\})/.exec(bare) ??
    [];
  return mongo ?? null;
}

const isTest = (name: string) => /test|tmp|temp|scratch|:memory:|sandbox/i.test(name);

const sql: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'cdfhUpeEPuqQDs',
    long: [
      'command',
      'dbname',
      'file',
      'host',
      'port',
      'username',
      'execute',
      'eval',
      'query',
      'database',
      'user',
      'password',
      'format',
    ],
  });
  const isLite = call.name.startsWith('sqlite') || call.name === 'duckdb';
  const [first = '', ...more] = args.rest;
  if (isLite && first !== '') call.file('read', first);
  const statements = [
    ...args.all('c', 'command', 'e', 'execute', 'eval', 'E', 'q', 'query', 'Q'),
    ...(isLite ? more : []),
    ...(call.stdin === null ? [] : [call.stdin]),
  ];
  for (const file of args.all('f', 'file')) if (file !== '-') statements.push(call.content(file));
  const database = [first, ...args.all('d', 'dbname', 'D', 'database')].join(' ');
  for (const text of statements) {
    for (const line of text.split('\n')) {
      const [, command] = /^\s*(?:\\!|\.shell|\.system|system)\s+(.+)$/.exec(line) ?? [];
      if (command) call.script(command);
      const [, target] = /^\s*\.(?:output|once|backup|dump)\s+(\S+)/.exec(line) ?? [];
      if (target) call.file('write', target);
    }
    for (const [, name, path = ''] of text.matchAll(/\b(readfile|writefile)\(\s*'([^']+)'/gi))
      call.file(name === 'readfile' ? 'read' : 'write', path);
    const what = destroysData(text);
    const temporary =
      isTest(database) || (isLite && zoneOf(call.path(first), call.shell.world.context) === 'temporary');
    if (what)
      call.act(
        temporary ? 'warn' : 'deny',
        'database',
        `${what} in ${shown(database) || 'the database'}`,
        makeTestDatabase,
      );
  }
  return UNKNOWN;
};

const redis: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'hpanu', long: ['pattern', 'count'] });
  const { rest } = args;
  const [command = ''] = rest;
  if (
    /^(flushall|flushdb|shutdown|debug|swapdb)$/i.test(command) ||
    /^\s*(flushall|flushdb)/im.test(call.stdin ?? '')
  )
    call.act(
      'deny',
      'database',
      `${command.toUpperCase() || 'FLUSHALL'} of the whole store`,
      makeTestDatabase,
    );
  if (/^(del|unlink)$/i.test(command) && rest.some(hasGlob))
    call.act('deny', 'database', 'deletes every key', makeTestDatabase);
  if (args.has('scan') || /^keys$/i.test(command)) return `${STAR}\n`;
  if (/^config$/i.test(command) && /^set$/i.test(rest[1] ?? ''))
    call.act('deny', 'database', 'changes the server', askPerson);
  return UNKNOWN;
};

const dropDatabase: Handler = (call) => {
  const name = readArgs(call.words, { letters: 'hpUW' }).rest.at(-1) ?? '';
  if (!isTest(name)) call.act('deny', 'database', `drops the database ${shown(name)}`, makeTestDatabase);
  return '';
};

/** Tools that manage a schema; what they drop is the database of the project, unless it is the one for tests. */
function migrations(pattern: RegExp): Handler {
  return (call) => {
    const line = call.words.map(shown).join(' ');
    const test = /\b(test|testing)\b/.test(
      `${line} ${call.env.get('RAILS_ENV') ?? ''} ${call.env.get('NODE_ENV') ?? ''} ${call.env.get('APP_ENV') ?? ''} ${call.env.get('MIX_ENV') ?? ''}`,
    );
    if (pattern.test(line))
      call.act(test ? 'warn' : 'deny', 'database', 'drops or resets the database', makeTestDatabase);
    return UNKNOWN;
  };
}

/** Databases, and the tools that set them up. */
export const databases: Handlers = {
  psql: sql,
  pgcli: sql,
  mysql: sql,
  mariadb: sql,
  sqlite3: sql,
  sqlite: sql,
  duckdb: sql,
  mongosh: sql,
  mongo: sql,
  cqlsh: sql,
  'clickhouse-client': sql,
  sqlcmd: sql,
  'redis-cli': redis,
  'valkey-cli': redis,
  etcdctl: when(/^del\b.*--(prefix|from-key)/, 'database', 'deletes many keys', makeTestDatabase),
  influx: when(
    /\bdelete\b|\bdrop (database|measurement|series)\b/i,
    'database',
    'deletes data',
    makeTestDatabase,
  ),
  mongorestore: when(/--drop\b/, 'database', 'drops what is in the database', makeTestDatabase),
  consul: when(/^kv delete\b.*-recurse/, 'database', 'deletes many keys', makeTestDatabase),
  dropdb: dropDatabase,
  dropuser: dropDatabase,
  mysqladmin: when(/\bdrop\b|\bshutdown\b/, 'database', 'drops a database', makeTestDatabase),
  pg_restore: when(/(^|\s)(-\w*c|--clean)\b/, 'database', 'drops what is in the database', makeTestDatabase),
  prisma: migrations(
    /^migrate reset\b|^db push\b.*--(force-reset|accept-data-loss)|^migrate (dev|deploy)\b.*--force-reset/,
  ),
  rails: migrations(/\bdb:(drop|reset|purge|truncate_all|schema:load|migrate:reset)\b/),
  rake: migrations(/\bdb:(drop|reset|purge|truncate_all|migrate:reset)\b/),
  artisan: migrations(/\b(migrate:(fresh|reset|refresh)|db:wipe)\b/),
  'manage.py': migrations(/\b(flush|reset_db|sqlflush|migrate \S+ zero)\b/),
  sequelize: migrations(/\bdb:drop|db:migrate:undo:all/),
  'sequelize-cli': migrations(/\bdb:drop|db:migrate:undo:all/),
  typeorm: migrations(/\bschema:drop/),
  knex: migrations(/\bmigrate:rollback\b.*--all/),
  'drizzle-kit': migrations(/^drop\b|^push\b.*--force/),
  alembic: migrations(/^downgrade base\b/),
  mix: migrations(/\becto\.(drop|reset)\b/),
  supabase: migrations(/^db reset\b.*--(linked|db-url)/),
};
