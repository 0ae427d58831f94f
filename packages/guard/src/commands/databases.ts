import { readArgs } from '../argv.ts';
import type { Handler, Handlers } from '../call.ts';
import { askPerson, remedyOf } from '../categories.ts';
import { hasGlob, STAR, show, UNKNOWN } from '../marks.ts';
import { zoneOf } from '../zones.ts';
import { destroysData, isTestRun } from './data.ts';
import { isOwn } from './hosts.ts';
import { asksHelp, byName, denying } from './rules.ts';

const isTest = (name: string) => /test|tmp|temp|scratch|:memory:|sandbox/i.test(name);

const sql: Handler = (call) => {
  // The password of mysql is never a word of its own.
  const words = /^(mysql|mariadb|mycli)/.test(call.name)
    ? call.words.filter((word) => !/^-p/.test(word))
    : call.words;
  const long = 'command dbname file host port username execute eval query database user password format';
  const args = readArgs(words, 'cdfhUpeEPuqQDs', long);
  const isLite = call.name.startsWith('sqlite') || call.name === 'duckdb';
  const [first = '', ...more] = args.rest;
  if (isLite && first !== '') call.file('read', first);
  const statements = [
    ...args.all('c', 'command', 'e', 'execute', 'eval', 'E', 'q', 'query', 'Q'),
    ...(isLite ? more : call.name === 'cypher-shell' ? args.rest : []),
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
    if (text.split(';').some((part) => /^\s*COPY\b/i.test(part) && /\b(TO|FROM)\s+PROGRAM\b/i.test(part)))
      call.deny('database', 'runs a program on the server', askPerson);
    const what = destroysData(text);
    const temporary = isTest(database) || (isLite && zoneOf(call.path(first), call.context) === 'temporary');
    if (what)
      call.act(temporary ? 'warn' : 'deny', 'database', `${what} in ${show(database) || 'the database'}`);
  }
};

/** Tools that manage a schema; what they drop is the database of the project, unless it is the one for tests. */
function migrations(pattern: RegExp): Handler {
  return (call) => {
    const line = call.words.map(show).join(' ');
    const test = /\b(test|testing)\b/.test(line) || isTestRun(call);
    if (pattern.test(line) && !asksHelp(call))
      call.act(test ? 'warn' : 'deny', 'database', 'drops or resets the database');
  };
}

/** A task of the framework, or code that it runs with the models of the project at hand. */
function framework(pattern: RegExp, order: string, interpreter: string): Handler {
  const migrate = migrations(pattern);
  return (call) => {
    const at = call.words.indexOf(order);
    const code = at === -1 ? undefined : call.words.slice(at + 1).find((word) => !word.startsWith('-'));
    return code === undefined || code.endsWith('.rb')
      ? migrate(call)
      : call.run([...interpreter.split(' '), code]);
  };
}

const typeorm = 'typeorm typeorm-ts-node-commonjs typeorm-ts-node-esm mikro-orm mikro-orm-esm';

const migrationTools: Readonly<Record<string, RegExp>> = {
  prisma:
    /^migrate reset\b|^db push\b.*--(force-reset|accept-data-loss)|^migrate (dev|deploy)\b.*--force-reset/,
  console: /\bdoctrine:(database|schema):drop\b/,
  'sequelize sequelize-cli': /\bdb:drop|db:migrate:undo:all/,
  [typeorm]: /\bschema:drop|\bmigration:fresh/,
  knex: /\bmigrate:rollback\b.*--all/,
  'drizzle-kit': /^drop\b|^push\b.*--force/,
  'alembic aerich': /^downgrade (base|-v 0)\b/,
  flask: /^db downgrade base\b/,
  dotnet: /^ef database drop\b/,
  mix: /\becto\.(drop|reset)\b/,
  supabase: /^db reset\b.*--(linked|db-url)/,
  flyway: /\bclean\b/,
  liquibase: /\bdrop-?all\b/i,
  dbmate: /\b(drop|down)\b/,
  goose: /\b(reset|down-to 0)\b/,
  migrate: /\b(drop|down -all)\b/,
  'sqlx diesel sea-orm-cli': /^(database|migrate) (drop|reset|fresh|refresh)\b/,
  atlas: /^schema clean\b/,
  wp: /^db (reset|drop|clean)\b/,
  drush: /^sql[:-](drop|create)\b/,
};

export const databases: Handlers = byName(
  denying(
    'database',
    'deletes data',
    {
      etcdctl: /^del\b.*--(prefix|from-key)/,
      influx: /\bdelete\b|\bdrop (database|measurement|series)\b/i,
      mongorestore: /--drop\b/,
      consul: /^kv delete\b.*-recurse/,
      mysqladmin: /\bdrop\b|\bshutdown\b/,
      pg_restore: /(^|\s)(-\w*c|--clean)\b/,
      pg_dropcluster: /./,
      pg_ctlcluster: /\bstop\b/,
      rabbitmqctl: /\b(reset|force_reset|delete_\w+|purge_queue|stop|stop_app)\b/,
      rabbitmqadmin: /^(delete|purge)\b/,
      'kafka-topics kafka-topics.sh kafka-delete-records kafka-delete-records.sh':
        /--delete\b|^(?!.*--(list|describe|create|alter))/,
      nats: /\b(rm|purge|del|delete)\b/,
    },
    remedyOf('database'),
  ),
  denying('supply-chain', 'publishes a package', { mix: /^hex\.publish\b/ }),
  denying('cloud', 'deletes what runs in the cloud', {
    supabase: /^(projects|branches|functions|secrets) (delete|unset)\b/,
    atlas: /\b(delete|terminate)\b/,
  }),
  Object.fromEntries(Object.entries(migrationTools).map(([names, pattern]) => [names, migrations(pattern)])),
  {
    'psql pgcli mysql mycli mysqlsh mariadb sqlite3 sqlite litecli duckdb usql snowsql': sql,
    'mongosh mongo cqlsh clickhouse-client sqlcmd cypher-shell': sql,
    cockroach: (call) => (call.words[0] === 'sql' ? sql(call.with({ words: call.words.slice(1) })) : UNKNOWN),
    'redis-cli valkey-cli keydb-cli': (call) => {
      const args = readArgs(call.words, 'hpanu', 'pattern count eval');
      const { rest } = args;
      const [command = ''] = rest;
      if (
        /^(flushall|flushdb|shutdown|debug|swapdb)$/i.test(command) ||
        /^\s*(flushall|flushdb)/im.test(call.stdin ?? '')
      )
        call.deny('database', `${command.toUpperCase() || 'FLUSHALL'} of the whole store`);
      const script = args.value('eval');
      if (script !== undefined && /\bflush(all|db)\b/i.test(call.content(script)))
        call.deny('database', 'empties the whole store');
      if (/^(eval|script)$/i.test(command) && rest.some((word) => /\bflush(all|db)\b/i.test(word)))
        call.deny('database', 'empties the whole store');
      if (/^(del|unlink)$/i.test(command) && rest.some(hasGlob)) call.deny('database', 'deletes every key');
      if (args.has('scan') || /^keys$/i.test(command)) return `${STAR}\n`;
      if (/^config$/i.test(command) && /^set$/i.test(rest[1] ?? ''))
        call.deny('database', 'changes the server', askPerson);
    },
    'dropdb dropuser': (call) => {
      const name = readArgs(call.words, 'hpUW').rest.at(-1) ?? '';
      if (!isTest(name)) call.deny('database', `drops the database ${show(name)}`);
      return '';
    },
    pg_ctl: (call) => {
      const args = readArgs(call.words, 'Dmlot');
      if (/^(stop|kill)$/.test(args.rest[0] ?? '') && !isOwn(call, args.value('D') ?? '/'))
        call.deny('database', 'stops the database of the machine');
    },
    prisma: (call) => {
      const args = readArgs(call.words, '', 'file schema url');
      if (args.rest.join(' ') !== 'db execute') return UNKNOWN;
      const file = args.value('file');
      return sql(call.with({ words: [], stdin: file === undefined ? call.stdin : call.content(file) }));
    },
    'rails rake': framework(
      /\bdb:(drop|reset|purge|truncate_all|schema:load|migrate:reset)\b/,
      'runner',
      'ruby -e',
    ),
    artisan: framework(/\b(migrate:(fresh|reset|refresh)|db:wipe)\b/, '--execute', 'php -r'),
    'manage.py django-admin': framework(/\b(flush|reset_db|sqlflush|migrate \S+ zero)\b/, '-c', 'python3 -c'),
    'sail symfony': (call) => (call.words.length === 0 ? UNKNOWN : call.run(call.words)),
  },
);
